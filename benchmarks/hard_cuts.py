"""Whether flesh can be thrown: characters that are cut, blended, moved off, stopped, slowed down.

Each run is two dozen to a hundred frames of random events: a clip plays, is cut to any moment of
another, blended to it in one to six frames, the character is put up to five times its size away,
said or unsaid, or turned about, stands still for some frames or for one long one, drops a fifth of
a second, goes on at a tenth to four times the speed, or takes a pose with every joint turned at
random. It ends standing still. Five rules in turn, with one iteration and converged, three dampings
and three frame rates. No run may fail, be infinite or gain energy while the pose stands still, and
flesh may go no further than half as far again as that of the full body, every vertex of which is
moved through the same frames, all of them felt as they are.

``python -m benchmarks hard_cuts FOLDER [CHARACTER …] [--keep CACHE] [--runs N] [--full N]``, where
the folder has ``characters``; the full body is moved in the first N runs of each. Models and what
was found are kept in the folder CACHE, so that it can be interrupted, and measured again where the
code of characters has changed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import supple as sp
from benchmarks.keeping import Kept, fingerprint
from benchmarks.pose_dampings import trained
from benchmarks.timing import table
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.runtime.neutral import NeutralModel
from supple.character.skeleton.clip_frames import RootMotion
from supple.character.skeleton.rig import RigPose
from supple.character.tissue.fitting import sound_cells
from supple.character.tissue.full_pose import FullPoseSimulation
from supple.core.types import Floats

CHARACTERS = ("khronos_Fox", "quaternius_Cow", "quaternius_Triceratops")
RULES = (sp.BackwardEuler(), sp.BDF2(), sp.TRBDF2(), sp.Bathe(), sp.Newmark())
RATES = (60, 60, 30, 120)
EVENTS = ("play", "cut", "blend", "off", "told", "turn", "stand", "wait", "drop", "pace", "any")
STANDING = 20  # frames at the end
STILL = 5  # of them after which all rules know that the pose stands still
WITHIN = 1.5  # times as far as the flesh of the full body
_GROWN = {"BackwardEuler": 0.011, "Newmark": 1.5}
"""Share of the least energy that may be gained while the pose stands still, by rule: what is gained
may be a hundredth, a tenth or six tenths of what there is at the time."""
_GROWN_ELSE = 0.11
_UNSEEN = 1e-3  # of the body's size: energy with which the slowest vibration goes as far


class Frame(NamedTuple):
    """What is asked of a character next."""

    pose: Floats
    dt: float
    told: bool = False
    """Whether it is a teleport, and said to be one."""


class Script:
    """Random events for a character with clips."""

    def __init__(self, rig: sp.SkeletonRig, size: float, seed: int) -> None:
        self._rig, self._size = rig, size
        self._chance = np.random.default_rng(seed)
        self._dt = 1 / RATES[seed % len(RATES)]
        self._speed, self._root = 1.0, RootMotion()
        self._choose()
        self._now = self._posed()

    def frames(self) -> Iterator[Frame]:
        """The first is the pose to begin in."""
        yield Frame(self._now, self._dt)
        yield from self._play(6)
        for _ in range(4):
            yield from getattr(self, f"_{self._chance.choice(EVENTS)}")(
                int(self._chance.integers(4, 13))
            )
        yield from self._stand(STANDING)

    def _choose(self) -> None:
        clips = list(self._rig.character.clips)
        self._clip = self._rig.character.clip(clips[self._chance.integers(len(clips))])
        self._time = float(self._chance.uniform(0, 5))

    def _posed(self) -> Floats:
        poses = self._clip.looped(self._rig.character.rig, np.array([self._time]))
        return self._root.posed(self._rig, self._rig.pose_of(poses))[0]

    def _on(self, dt: float) -> Frame:
        self._time += self._speed * dt
        self._now = self._posed()
        return Frame(self._now, dt)

    def _play(self, count: int) -> Iterator[Frame]:
        for _ in range(count):
            yield self._on(self._dt)

    def _cut(self, count: int) -> Iterator[Frame]:
        self._choose()
        yield from self._play(count)

    def _blend(self, count: int) -> Iterator[Frame]:
        start, rig = self._rig.rig_pose(self._now), self._rig
        self._choose()
        over = 1 + count // 2
        for k in range(1, over + 1):
            aim = self._on(self._dt).pose
            self._now = rig.pose_of(start.blended(rig.rig_pose(aim), k / over))
            yield Frame(self._now, self._dt)
        yield from self._play(count)

    def _off(self, count: int, told: bool = False) -> Iterator[Frame]:
        way = self._chance.normal(size=3)
        far = self._size * 5 * self._chance.uniform() ** 3
        shift = self._root.shift + far * way / np.linalg.norm(way)
        self._root = RootMotion(self._root.turn, shift)
        yield self._on(self._dt)._replace(told=told)
        yield from self._play(count)

    def _told(self, count: int) -> Iterator[Frame]:
        yield from self._off(count, told=True)

    def _turn(self, count: int) -> Iterator[Frame]:
        turn = Rotation.from_rotvec([0, 0, self._chance.uniform(-3, 3)]).as_matrix()
        self._root = RootMotion(turn @ self._root.turn, self._root.shift)
        yield from self._play(count)

    def _stand(self, count: int) -> Iterator[Frame]:
        for _ in range(count):
            yield Frame(self._now, self._dt)

    def _wait(self, count: int) -> Iterator[Frame]:
        yield Frame(self._now, float(self._chance.uniform(0.1, 1.0)))
        yield from self._play(count)

    def _drop(self, count: int) -> Iterator[Frame]:
        yield self._on(0.2)
        yield from self._play(count)

    def _pace(self, count: int) -> Iterator[Frame]:
        self._speed = float(10 ** self._chance.uniform(-1.0, 0.6))
        yield from self._play(count)

    def _any(self, count: int) -> Iterator[Frame]:
        given = self._rig.rig_pose(self._now)
        angles = self._chance.normal(size=(len(given.rotations), 3))
        angles *= self._chance.uniform(0.1, 0.8)
        turned = Rotation.from_rotvec(angles) * Rotation.from_quat(given.rotations)
        self._now = self._rig.pose_of(
            RigPose(given.translations, turned.as_quat(), given.scales, given.weights)
        )
        yield from self._stand(1 + count // 3)
        yield from self._play(count)


# -- runs ------------------------------------------------------------------------------------


@dataclass(eq=False)
class Thrown:
    """A character, and what becomes of it."""

    file: Path

    @cached_property
    def model(self) -> PoseSpaceModel:
        return sp.load_pose_space_model(self.file)

    @cached_property
    def size(self) -> float:
        """Of the body [m]."""
        return float(np.linalg.norm(np.ptp(self.model.tet_rig.mesh.vertices, axis=0)))

    def frames(self, seed: int) -> list[Frame]:
        rig = self.model.tet_rig.rig
        assert isinstance(rig, sp.SkeletonRig)
        return list(Script(rig, self.size, seed).frames())

    def damping(self, seed: int) -> sp.Rayleigh:
        """None, of the mass, or of both; the slowest vibration then has a ratio of 5 % or 10 %."""
        omega = float(np.sqrt(self.model.squares[0, 0]))
        which = seed % 3
        return sp.Rayleigh(
            mass=0.1 * omega if which else 0.0, stiffness=0.1 / omega if which > 1 else 0.0
        )

    def run(self, seed: int) -> dict[str, Any]:
        """How one run ended and what it did."""
        frames = self.frames(seed)
        rule = RULES[seed % len(RULES)]
        once = seed // len(RULES) % 2 == 0
        live = sp.PoseSimulation(
            self.model, pose=frames[0].pose, damping=self.damping(seed), integrator=rule,
            dt=frames[0].dt, solver=sp.DenseNewton(iterations=1) if once else None,
        )  # fmt: skip
        found: dict[str, Any] = {"rule": type(rule).__name__, "once": once, "frames": len(frames)}
        farthest, most = 0.0, 0
        energy: list[float] = []
        for k, (pose, dt, told) in enumerate(frames[1:]):
            before = live.stats.iterations
            try:
                live.teleport(pose) if told else live.step(pose, dt)
            except sp.StepFailed as failed:
                found["failed"] = str(failed)
                break
            most = max(most, live.stats.iterations - before)
            farthest = max(farthest, _reach(live.surface_displacements()))
            if k >= len(frames) - 1 - STANDING + STILL:
                energy.append(live.kinetic + live.elastic)
        return {
            **found,
            "finite": bool(np.isfinite(farthest) and np.isfinite(live.q).all()),
            "farthest": farthest / self.size,
            "grown": self._grown(np.array(energy)),
            "most": most,
            "stats": vars(live.stats),
        }

    def _grown(self, energy: Floats) -> float:
        """What is gained after any moment of standing still, as a share of what was there."""
        if not len(energy):
            return 0.0
        model = self.model
        unseen = 0.5 * model.squares[0, 0] * (_UNSEEN * self.size) ** 2 * model.masses.sum()
        least = np.minimum.accumulate(energy)
        return float(np.max((energy - least - unseen) / (least + unseen)).clip(0.0))

    def whole(self, seed: int) -> dict[str, Any]:
        """How far the flesh of the full body goes, as a share of its size, and steps that failed.

        By backward Euler where the run is, else by Newmark's rule: what has one stage and damps no
        more than the rule of the run.
        """
        frames, model = self.frames(seed), self.model
        body = NeutralModel.of(model).body
        held = np.repeat(~model.members.any(axis=0)[:, None], 3, axis=1)
        damping = self.damping(seed)
        poses = np.array([model.tet_rig.rig.neutral, *(frame.pose for frame in frames)])
        full = FullPoseSimulation(
            body, model.tet_rig, damping=damping, held=held, pose=frames[0].pose, dt=frames[0].dt,
            without=~sound_cells(model.tet_rig, poses),
            integrator=sp.BackwardEuler() if seed % len(RULES) == 0 else sp.Newmark(),
        )  # fmt: skip
        farthest, failed = 0.0, 0
        last = frames[0].pose
        carriers = model.tet_rig.mesh.cells[model.skin_cells]
        for pose, dt, told in frames[1:]:
            if told:
                full.reset(pose)
            elif not self._follow(full, last, pose, dt):
                failed += 1
                full.reset(pose)
            last = pose
            u = full.displacements[carriers]
            farthest = max(farthest, _reach(np.einsum("vk,vki->vi", model.skin_weights, u)))
        return {"whole": farthest / self.size, "failed": failed}

    def _follow(
        self, full: FullPoseSimulation, last: Floats, pose: Floats, dt: float, left: int = 4
    ) -> bool:
        """On from pose to pose, or where that fails in two steps half as long; whether it went."""
        try:
            full.step(pose, dt)
        except (sp.StepFailed, sp.InputError):  # so too where a pose presses a cell flat
            if not left:
                return False
            rig = self.model.tet_rig.rig
            assert isinstance(rig, sp.SkeletonRig)
            middle = rig.pose_of(rig.rig_pose(last).blended(rig.rig_pose(pose), 0.5))
            first = self._follow(full, last, middle, dt / 2, left - 1)
            return first and self._follow(full, middle, pose, dt / 2, left - 1)
        return True


def _reach(u: Floats) -> float:
    return float(np.sqrt((u**2).sum(axis=1).max()))


def rows_of(
    folder: Path, name: str, keep: Path, kept: Kept, runs: int, full: int
) -> Iterator[dict[str, Any]]:
    package = Path(sp.__file__).parent
    files = [
        *(package / "character" / "runtime").glob("*.py"),
        *(package / "_kernels" / "character").glob("*.py"),
    ]
    mark = fingerprint("hard_cuts", files=[*files, Path(__file__)])
    flesh = Thrown(keep / f"{name}.supple")
    if not flesh.file.exists():
        trained(folder / "characters", name).save(flesh.file)
    for seed in range(runs):
        key = f"{name} · {seed} · {mark}"
        row = kept.row("hard_cuts", key, lambda seed=seed: flesh.run(seed))
        if seed < full:
            whole = kept.row(
                "hard_cuts_full", f"{name} · {seed} · {fingerprint(Path(__file__).read_text())}",
                lambda seed=seed: flesh.whole(seed),
            )  # fmt: skip
            if not whole["failed"]:
                row = {**row, "whole": whole["whole"]}
        yield {**row, "character": name, "seed": seed}


def troubles(row: dict[str, Any], most: float) -> list[str]:
    """What is wrong with a run, where the full body goes as far as ``most``."""
    found = [f"failed: {row['failed']}"] if "failed" in row else []
    if not row["finite"]:
        found.append("not finite")
    if not row["farthest"] <= WITHIN * row.get("whole", most):
        found.append(f"thrown {row['farthest']:.3g} sizes away")
    if row["grown"] > _GROWN.get(row["rule"], _GROWN_ELSE):
        found.append(f"energy grows by {100 * row['grown']:.3g} %")
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks hard_cuts", description=__doc__)
    parser.add_argument("folder", type=Path, help="with characters")
    parser.add_argument("characters", nargs="*", help=f"some, as {', '.join(CHARACTERS)}")
    parser.add_argument("--keep", type=Path, help="a folder for models and what was found")
    parser.add_argument("--runs", type=int, default=1000, help="of each character")
    parser.add_argument("--full", type=int, default=10, help="of them with the full body too")
    given = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    wrong = 0
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        keep, kept = given.keep or Path(place), Kept(given.keep)
        for name in given.characters or CHARACTERS:
            some = list(rows_of(given.folder, name, keep, kept, given.runs, given.full))
            most = max((row["whole"] for row in some if "whole" in row), default=np.inf)
            for row in some:
                found = troubles(row, most)
                wrong += bool(found)
                for each in found:
                    print(f"{name} {row['seed']} {row['rule']}: {each}", file=sys.stderr)
            rows += some
    head = ["runs", "frames", "farthest, half of runs", "all", "of the full body's", "energy grew",
            "most iterations", "cuts", "gained", "in parts", "settled", "stopped"]  # fmt: skip
    for row in rows:
        row["how"] = f"{row['rule']}, {'one iteration' if row['once'] else 'converged'}"
    for by in ("how", "character"):
        kinds = sorted({row[by] for row in rows})
        print(table([by, *head], [[each, *_summary(rows, by, each)] for each in kinds]), "\n")
    print(f"{wrong} of {len(rows)} runs went wrong")
    return 0


def _summary(rows: list[dict[str, Any]], by: str, name: str) -> list[str]:
    some = [row for row in rows if row[by] == name]
    far = [row["farthest"] for row in some]
    ratios = [row["farthest"] / row["whole"] for row in some if row.get("whole")]

    def total(what: str) -> str:
        return str(sum(row["stats"][what] for row in some))

    return [
        str(len(some)), str(sum(row["frames"] for row in some)), f"{np.median(far):.3f}",
        f"{max(far):.3f}", f"{max(ratios):.2f}" if ratios else "",
        f"{100 * max(row['grown'] for row in some):.2g} %",
        str(max(row["most"] for row in some)),
        *(total(what) for what in ("cuts", "gained", "in_parts", "settled", "stopped")),
    ]  # fmt: skip
