"""Run the benchmarks named on the command line, or all: ``python -m benchmarks assembly step``.

``python -m benchmarks enrich FOLDER`` needs a folder of characters, ``model_error FOLDER``,
``locking FOLDER``, ``reduced_releases FOLDER`` and ``design_bodies FOLDER`` one of bodies, and
``yarn_shirts FOLDER`` one with a man and a shirt; these, and ``cantilever_targets``, are not among
all. ``paper_scenes`` may have one of bodies, and is among all without.
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
    "bent_examples",
    "reduced_examples",
    "reduced_cubature",
    "reduced_contact",
    "reduced_laws",
    "characters",
    "full_characters",
    "asked",
    "creature",
    "demo",
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
WITH_FOLDERS = [
    "paper_scenes",
    "enrich",
    "model_error",
    "locking",
    "reduced_releases",
    "design_bodies",
    "pose_dampings",
    "hard_cuts",
    "cantilever_targets",
    "drops",
    "damped_drops",
    "self_contact",
    "contact_scenes",
    "yarn_shirts",
]


def main() -> int:
    if sys.argv[1:2] and sys.argv[1] in WITH_FOLDERS:
        found: int = import_module(f"benchmarks.{sys.argv[1]}").main(sys.argv[2:])
        return found
    wanted = sys.argv[1:] or NAMES
    unknown = [name for name in wanted if name not in NAMES]
    if unknown:
        print(
            f"no benchmark {unknown[0]!r}; there are {', '.join([*NAMES, *WITH_FOLDERS])}",
            file=sys.stderr,
        )
        return 2
    for name in wanted:
        print(f"\n## {name}\n", flush=True)
        import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
