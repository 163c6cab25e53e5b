"""Run the benchmarks named on the command line, or all: ``python -m benchmarks assembly step``.

``python -m benchmarks enrich FOLDER`` needs a folder of characters, ``model_error FOLDER`` one of
bodies; these are not among all.
"""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = [
    "startup",
    "assembly",
    "step",
    "amplitude",
    "scaling",
    "reduced",
    "live",
    "examples",
    "reduced_examples",
    "reduced_cubature",
    "characters",
    "full_characters",
    "asked",
    "creature",
    "held_rate",
    "cloth",
    "constrained_modes",
    "cubature",
    "convergence",
    "paper_scenes",
    "peers",
    "yarns",
    "pose_models",
]


def main() -> int:
    if sys.argv[1:2] == ["enrich"]:
        from benchmarks.enrich import main as enrich

        return enrich(sys.argv[2:])
    if sys.argv[1:2] == ["model_error"]:
        from benchmarks.model_error import main as model_error

        return model_error(sys.argv[2:])
    wanted = sys.argv[1:] or NAMES
    unknown = [name for name in wanted if name not in NAMES]
    if unknown:
        print(
            f"no benchmark {unknown[0]!r}; there are "
            f"{', '.join([*NAMES, 'enrich', 'model_error'])}",
            file=sys.stderr,
        )
        return 2
    for name in wanted:
        print(f"\n## {name}\n", flush=True)
        import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
