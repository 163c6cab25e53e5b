"""Runs the tests marked ``processors`` as other processors would: ``python tests/processors.py``.

Their outcome depends on choices: cells, modes, contacts, fits. Libraries round the last bits in
other ways on other processors, and each environment here makes them do so on this one. Names of
environments as arguments run only those. One line is printed for each; the exit status tells
whether any failed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "SUPPLE_THREADS": "1"}


class Environment(NamedTuple):
    """Variables that change the last bits, and what the processor must have for them."""

    variables: dict[str, str]
    needs: str = ""


ENVIRONMENTS = {
    "haswell": Environment({"OPENBLAS_CORETYPE": "HASWELL"}, "avx2"),
    "skylakex": Environment({"OPENBLAS_CORETYPE": "SKYLAKEX"}, "avx512f"),
    "zen": Environment({"OPENBLAS_CORETYPE": "ZEN"}, "avx2"),
    "sandybridge": Environment({"OPENBLAS_CORETYPE": "SANDYBRIDGE"}, "avx"),
    # MKL obeys the first of these on processors by Intel only; the second on all.
    "mkl-sse4": Environment({"MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "MKL_CBWR": "COMPATIBLE"}),
    "mkl-avx2": Environment({"MKL_ENABLE_INSTRUCTIONS": "AVX2", "MKL_CBWR": "AVX2"}, "avx2"),
    "threads": Environment({"OPENBLAS_NUM_THREADS": "2", "SUPPLE_THREADS": "2"}),
    # Kernels without wide or fused instructions. Numba keeps them beside those of this processor;
    # the first run compiles them, which takes minutes.
    "generic": Environment({"NUMBA_CPU_NAME": "generic"}),
}


def has(feature: str) -> bool:
    """Whether this processor has a feature, as far as it can be told."""
    try:
        return f" {feature} " in Path("/proc/cpuinfo").read_text().replace("\n", " ")
    except OSError:
        return True


def run(name: str, environment: Environment) -> bool:
    """Prints how the marked tests fare; whether all passed."""
    if environment.needs and not has(environment.needs):
        print(f"{name:12} left out: this processor has no {environment.needs}", flush=True)
        return True
    start = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-m", "processors", "-n", "auto", "-rfE"]
    done = subprocess.run(
        [*command, "--dist", "worksteal", "--tb=short", "tests"],
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD, **environment.variables},
        capture_output=True,
        text=True,
        check=False,
    )
    counts = re.findall(r"\d+ (?:passed|failed|errors?|skipped)", done.stdout)
    found = ", ".join(counts) if counts else f"no tests ran, status {done.returncode}"
    print(f"{name:12} {found}, {time.perf_counter() - start:.0f} s", flush=True)
    if done.returncode:
        told = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        print("\n".join(told) if counts else done.stdout + done.stderr, flush=True)
    return done.returncode == 0


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in ENVIRONMENTS]
    if unknown:
        print(f"there is no {', '.join(unknown)}; there are {', '.join(ENVIRONMENTS)}")
        return 2
    passed = [run(name, ENVIRONMENTS[name]) for name in names or ENVIRONMENTS]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
