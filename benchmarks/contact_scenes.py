"""The contact scenes of the Incremental Potential Contact authors' solver, with their own numbers.

``python -m benchmarks contact_scenes FOLDER [--seconds S] [--steps N] [--keep CACHE] [--told] [NAME
…]``, where the folder has ``examples/3D`` and ``meshes``. Each scene whose path contains one of the
names runs in a process of its own, for at most so many seconds of processor time and steps. After
each step the IPC Toolkit looks whether any two triangles cross. What was found is kept in the
folder CACHE: a scene that was cut short, by its time or by a person, goes on where it was.
``--told`` runs nothing and tells what is kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import supple as sp
from benchmarks import contact_scene_files
from benchmarks.contact_scene_files import NotRead, Scene, files_of, read
from benchmarks.keeping import Kept, fingerprint
from benchmarks.timing import table

_TOLD = "CONTACT_SCENE "
_FRAMES = 250
"""Of a scene, at least: so much of a run is lost at most where it is stopped."""
_TOLD_EVERY = 20.0  # s
_PATIENCE = 6.0
"""Times the processor time that is given, on the clock, and a minute more."""


class Stopped(Exception):
    """The run of a scene is over before its end, for a reason that is told."""


@dataclass
class Progress:
    """What a scene has found so far, with a row for each of its steps in a file."""

    file: Path
    told: dict[str, Any]
    rows: dict[int, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, file: Path) -> Progress:
        """As the file has it; where a step is there twice, the later one counts."""
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        rows = [json.loads(line) for line in lines if line.endswith("}")]  # the last may be torn
        about = file.with_suffix(".about.json")
        told = json.loads(about.read_text(encoding="utf-8")) if about.exists() else {}
        return cls(file, told, {row["step"]: row for row in rows})

    def keep(self, **told: Any) -> None:
        """What holds for all steps, and how the last run ended."""
        self.told |= told
        about = self.file.with_suffix(".about.json")
        about.write_text(json.dumps(self.told), encoding="utf-8")

    def add(self, row: dict[str, Any]) -> None:
        """A step is done; what was found of those after it, in a run that was cut back, is void."""
        cut_back = max(self.rows, default=0) >= row["step"]
        self.rows = {step: old for step, old in self.rows.items() if step < row["step"]}
        self.rows[row["step"]] = row
        with self.file.open("w" if cut_back else "a", encoding="utf-8") as out:
            for each in self.rows.values() if cut_back else [row]:
                out.write(json.dumps(each) + "\n")

    def summary(self) -> dict[str, Any]:
        """The numbers of a row of the table."""
        rows = self.rows.values()
        sums = ("iterations", "substeps", "seconds")
        found = {key: sum(row[key] for row in rows) for key in sums}
        most = {key: max((row[key] for row in rows), default=0) for key in ("contacts", "fastest")}
        return self.told | found | most | {"steps": len(rows)}


class Run:
    """A scene on its way, step by step, for so many seconds of processor time and steps."""

    def __init__(self, scene: Scene, progress: Progress, seconds: float, most: int) -> None:
        self._progress, self._steps_left = progress, most
        self._sim = scene.simulation()
        self._steps, self._dt = scene.steps, scene.dt
        self._look = Crossings(self._sim, scene)
        progress.told.pop("failed", None)
        progress.keep(
            wanted=scene.steps,
            notes=list(dict.fromkeys(scene.notes)),
            vertices=self._sim.body.n_vertices,
        )
        self._until = time.process_time() + seconds

    def go(self, record: Path) -> None:
        """To the end of the scene, or Stopped on the way."""
        self._began = time.process_time()
        self._sim.run(
            self._steps * self._dt,
            every=-(-self._steps // _FRAMES),
            record=record,
            resume=True,
            progress=self._after,
        )

    def _after(self, step: int, of: int, what: str) -> None:
        stats, v = self._sim.stats, self._sim.state.v
        row = {"step": step, "seconds": round(time.process_time() - self._began, 4)}
        row |= {name: getattr(stats, name) for name in ("iterations", "substeps", "contacts")}
        if self._look.crossed():
            raise Stopped("triangles cross")
        self._progress.add(row | {"fastest": float(np.abs(v).max())})
        _tell(self._progress.summary())
        self._steps_left -= 1
        if step < self._steps and time.process_time() > self._until:
            raise Stopped("out of time")
        if step < self._steps and not self._steps_left:
            raise Stopped("as many steps as were asked for")
        self._began = time.process_time()


class Crossings:
    """Whether triangles cross where a simulation is, as the IPC Toolkit finds it."""

    def __init__(self, sim: sp.Simulation, scene: Scene) -> None:
        import ipctk

        self._sim, self._outside, self._ipc = sim, sim.body.mesh.surface(), ipctk
        free = sum(len(np.unique(body.mesh.boundary().vertex_ids)) for body in scene.bodies)
        corners = self._outside.triangles.astype(np.int32)
        edges = np.unique(np.sort(corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0)
        self._mesh = ipctk.CollisionMesh(self._outside.vertices, edges, corners)
        self._mesh.can_collide = ipctk.make_static_obstacle_filter(free)

    def crossed(self) -> bool:
        """Any two that are not both held."""
        sim = self._sim
        x = (sim.body.mesh.vertices + sim.state.u)[self._outside.vertex_ids]
        return bool(self._ipc.has_intersections(self._mesh, np.asfortranarray(x)))


def run(path: Path, name: str, folder: Path, seconds: float, most: int) -> None:
    """One scene, from where it was left in a folder."""
    progress = Progress.of(folder / f"{name}.jsonl")
    try:
        Run(read(path), progress, seconds, most).go(folder / f"{name}.motion")
    except NotRead as missing:
        progress.keep(failed=f"not read: {missing}")
    except Stopped as stopped:
        progress.keep(failed=str(stopped))
    except Exception as failed:  # whatever it is, it counts
        progress.keep(failed=f"{type(failed).__name__}: {' '.join(str(failed).split())}")
    _tell(progress.summary())


def _tell(found: dict[str, Any]) -> None:
    print(_TOLD + json.dumps(found), flush=True)


def _in_a_process(path: Path, kept_as: list[str], seconds: float, most: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.contact_scenes", str(path), "--alone", *kept_as]
    command += ["--seconds", str(seconds), "--steps", str(most)]
    found: dict[str, Any] = {"steps": 0}
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        late = threading.Timer(_PATIENCE * seconds + 60, process.kill)
        late.start()
        try:
            assert process.stdout is not None
            for told in _shown(process.stdout, kept_as[-1]):
                found = told
            process.wait()
        finally:
            late.cancel()
            process.kill()
        errors.seek(0)
        if process.returncode and "failed" not in found:
            killed = process.returncode < 0
            found["failed"] = "took too long in one step" if killed else errors.read()[-200:]
    return found


def _shown(lines: Iterable[str], name: str) -> Iterable[dict[str, Any]]:
    """What a process tells, told on from time to time."""
    last, first = time.monotonic(), None
    for line in lines:
        if not line.startswith(_TOLD):
            continue
        found = json.loads(line[len(_TOLD) :])
        yield found
        first = first or found
        steps = found["steps"] - first["steps"]
        if time.monotonic() < last + _TOLD_EVERY or not steps:
            continue
        last, each = time.monotonic(), (found["seconds"] - first["seconds"]) / steps
        left = each * (found["wanted"] - found["steps"]) / 60
        print(
            f"{name}: step {found['steps']} of {found['wanted']}, {found['iterations']} iterations,"
            f" {each:.2f} s a step, {left:.0f} min to go",
            file=sys.stderr,
            flush=True,
        )


def _row(name: str, found: dict[str, Any]) -> list[object]:
    steps, wanted = found["steps"], found.get("wanted", 0)
    reached = "to the end" if steps == wanted else "out of time"
    outcome = found.get("failed", reached if wanted else "not run")
    notes = "; ".join([outcome[:160], *found.get("notes", [])])
    numbers = [found.get(key, 0) for key in ("vertices", "contacts", "iterations", "substeps")]
    return [name, f"{steps} of {wanted}", *numbers, round(found.get("seconds", 0.0), 1), notes]


class _Cut(Exception):
    """A scene is not at its end, so its row is not one to keep."""


def found_of(
    path: Path, name: str, folder: Path, seconds: float, most: int, *, only_told: bool
) -> dict[str, Any]:
    """What a scene has found; one that is at its end is only told."""
    files = [*files_of(path), Path(contact_scene_files.__file__)]
    mark = fingerprint(name, files=files)
    stem, cut = f"{name.replace('/', '_')}-{mark}", {}

    def go_on() -> dict[str, Any]:
        if only_told:
            found = Progress.of(folder / f"{stem}.jsonl").summary()
        else:
            found = _in_a_process(path, [str(folder), stem], seconds, most)
        if "failed" in found or found["steps"] < found.get("wanted", 1):
            cut.update(found)
            raise _Cut
        return found

    try:
        return Kept(folder).row("contact_scenes", stem, go_on)
    except _Cut:
        return cut


def main(given: list[str]) -> int:
    asked = argparse.ArgumentParser(prog="python -m benchmarks contact_scenes")
    asked.add_argument("folder", type=Path)
    asked.add_argument("names", nargs="*")
    asked.add_argument("--seconds", type=float, default=60.0)
    asked.add_argument("--steps", type=int, default=1_000_000)
    asked.add_argument("--keep", type=Path, help="a folder for what was found")
    asked.add_argument("--told", action="store_true", help="run nothing")
    asked.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    options = asked.parse_intermixed_args(given)
    if options.alone:
        kept, name = options.alone
        run(options.folder, name, Path(kept), options.seconds, options.steps)
        return 0
    root = options.folder / "examples" / "3D"
    rows = []
    with tempfile.TemporaryDirectory() as nowhere:
        folder = options.keep or Path(nowhere)
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(root.rglob("*.json")):
            name = str(path.relative_to(root).with_suffix(""))
            if name.endswith("-common") or (
                options.names and not any(part in name for part in options.names)
            ):
                continue
            limits = options.seconds, options.steps
            found = found_of(path, name, folder, *limits, only_told=options.told)
            rows.append(_row(name, found))
            print(rows[-1], file=sys.stderr, flush=True)
    headers = ["scene", "steps", "vertices", "pairs", "iterations", "substeps", "CPU s", "outcome"]
    print(table(headers, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
