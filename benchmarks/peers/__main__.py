"""Run every engine on the cantilever and print how long it takes and how much motion it loses.

Engines run one after the other, each in a process of its own and with its own threads. Let nothing
else run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.peers.cantilever import LENGTH, TIP, WIDTH, make_problem
from benchmarks.peers.problem import Problem
from benchmarks.peers.report import Row, summarize, table

RESULTS = Path(__file__).with_name("results.json")
ROOT = Path(__file__).parents[2]

# Package and the arguments of its script. MuJoCo offers two ways to integrate the elasticity of a
# flex: implicitly (discrete; at the frame rate, and near its default step of 2 ms), or explicitly
# (Euler; with as few steps as are stable).
RUNS = [
    ("supple", "--material=StVK"),
    ("supple", "--material=NeoHookean"),
    ("mujoco", "--integrator=discrete --steps=1"),
    ("mujoco", "--integrator=discrete --steps=8"),
    ("mujoco", "--integrator=Euler"),
    ("simkit", "--material=stvk"),
]


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    problem = make_problem(tuple(options.cells))
    print(_describe(problem) + "\n", flush=True)
    if hasattr(os, "getloadavg") and os.getloadavg()[0] > 0.5:
        print("Other work is running here: wall times will be too long.", file=sys.stderr)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        problem.save(Path(folder) / "problem.npz")
        for package, arguments in RUNS:
            if package not in options.engines:
                continue
            python = sys.executable if package == "supple" else options.peer_python
            if not _installed(python, package):
                if all(row.engine != package for row in rows):
                    rows.append(Row(package, note=f"not installed (pip install {package})"))
                continue
            print(f"running {package} {arguments}", file=sys.stderr, flush=True)
            rows.append(_run(python, package, arguments, options.repeats, Path(folder), problem))
    print(table(rows, problem))
    if options.save:
        RESULTS.write_text(json.dumps(_record(problem, rows), indent=2) + "\n")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    packages = list(dict.fromkeys(package for package, _ in RUNS))
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument(
        "--peer-python", default=sys.executable, help="interpreter that has the peers"
    )
    parser.add_argument("--engines", nargs="+", choices=packages, default=packages)
    parser.add_argument("--cells", nargs=3, type=int, default=(28, 8, 8), help="bricks along x y z")
    parser.add_argument("--repeats", type=int, default=3, help="how often to time one second")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    return parser.parse_args(arguments)


def _describe(problem: Problem) -> str:
    return (
        f"Cantilever {LENGTH:g} × {WIDTH:g} × {WIDTH:g} m, E = {problem.young:g} Pa, "
        f"ν = {problem.poisson:g}, ρ = {problem.density:g} kg/m³, {len(problem.vertices)} nodes, "
        f"{len(problem.tets)} tets,\nno damping, first bending mode let go at {TIP:g} m. "
        f"Its frequency: {problem.frequency:.4f} Hz on this mesh, "
        f"{problem.beam_frequency:.4f} Hz by Timoshenko.\n"
        f"Wall seconds for one second of motion at {problem.frame_rate} frames a second "
        f"on {os.cpu_count()} cores; amplitude left after five cycles."
    )


def _installed(python: str, package: str) -> bool:
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    return subprocess.run([python, "-c", look], check=False).returncode == 0


def _run(
    python: str, package: str, arguments: str, repeats: int, folder: Path, problem: Problem
) -> Row:
    """One engine's row. It runs in ``folder``, where its log files vanish with the rest."""
    output = folder / "result.json"
    output.unlink(missing_ok=True)
    command = [python, "-m", f"{__package__}.run_{package}", "problem.npz", output.name]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [*command, *arguments.split(), f"--repeats={repeats}"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        reason = (done.stderr.strip() or "no message").splitlines()[-1]
        return Row(package, arguments, note=f"failed: {reason}")
    return summarize(json.loads(output.read_text()), problem)


def _record(problem: Problem, rows: list[Row]) -> dict[str, object]:
    return {
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "problem": {
            "nodes": len(problem.vertices),
            "tets": len(problem.tets),
            "frequency": problem.frequency,
            "timoshenko_frequency": problem.beam_frequency,
            "tip": TIP,
        },
        "rows": [asdict(row) for row in rows],
    }


if __name__ == "__main__":
    main()
