"""Whether characters that others made take every damping, with any rule and step.

Each plays two seconds of a clip and then stands still for one, with its flesh struck so that it
swings by a tenth of the body. Every damping of flesh, once so strong that the slowest vibration has
a damping ratio of 5 % and once thirty times as strong, five rules and three steps: no step may
fail, nothing may be infinite, damping may give no power, no energy may come from nowhere while the
pose stands still, and a second run, at one of the steps, with the model read from its file again,
must be the same to the last bit.

``python -m benchmarks pose_dampings FOLDER [CHARACTER …] [--keep CACHE] [--every N]``, where the
folder has ``characters``; ``--every N`` takes each N-th of all runs, mixed. Models and what was
found are kept in the folder CACHE, so that it can be interrupted, and measured again where the code
of characters has changed.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import supple as sp
from benchmarks.keeping import Kept, fingerprint
from benchmarks.tet_characters import tet_character
from benchmarks.timing import table
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.skeleton.whole_skeleton import held_by_skeleton
from supple.character.tissue.volume import character_volume
from supple.core.types import Floats

CHARACTERS = {
    "khronos_Fox": "Run",
    "quaternius_Cow": "AnimalArmature|Gallop",
    "elephant_tetrig": "motion",
}
"""And the clip that each plays; others play their first."""
RULES = (sp.BackwardEuler(), sp.BDF2(), sp.TRBDF2(), sp.Bathe(), sp.Newmark())
RATES = (30, 60, 240)
TWICE = 60
"""The rate at which runs are repeated."""
STRENGTHS = (1.0, 30.0)
PLAYED, STANDING = 2.0, 1.0  # [s]
KICK = 0.1  # of the body's diagonal
STILL = 5  # frames after which all rules know that the pose stands still
VERTICES, POSES, MODES, SIZE = 1200, 3, 8, 16  # of ``supple enrich --quality draft``
_RATIO = 0.05  # damping ratio of the slowest vibration
_GROWN = {"BackwardEuler": 1e-9, "Newmark": 0.2}
"""Share of the energy with which it comes to stand still that is told, by rule: backward Euler
gains none, and the energy of Newmark's method wanders, by up to a fifth of what ``held`` says."""
_GROWN_ELSE = 1e-3
_NEGATIVE = 1e-9  # share of the largest power so far below zero that is told


# -- characters ------------------------------------------------------------------------------


def trained(folder: Path, name: str) -> PoseSpaceModel:
    """A model of draft quality."""
    if (folder / name).is_dir():
        rig, volume = tet_character(folder / name)
    else:
        rig = sp.SkeletonRig(sp.read_character(folder / f"{name}.glb"))
        volume = held_by_skeleton(character_volume(rig, vertices=VERTICES), rig.character)
    return sp.pose_space_model(rig, volume=volume, poses=POSES, modes=MODES, size=SIZE)


@dataclass(eq=False)
class Flesh:
    """A model, read from its file twice, and strengths that suit it."""

    file: Path

    @cached_property
    def models(self) -> tuple[PoseSpaceModel, PoseSpaceModel]:
        return sp.load_pose_space_model(self.file), sp.load_pose_space_model(self.file)

    def dampings(self, strength: float) -> dict[str, Callable[[], Any]]:
        """Every damping, by name."""
        model = self.models[0]
        omega = float(np.sqrt(model.squares[0, 0]))
        alpha, beta = 2 * strength * _RATIO * omega, 2 * strength * _RATIO / omega
        lam, mu = model.lame.mean(axis=(0, 1))
        # stretched by a tenth at the slowest vibration
        rate = 0.1 * omega
        mass, stiffness = sp.Rayleigh(mass=alpha), sp.Rayleigh(stiffness=beta)
        strain = sp.StrainRate(shear=beta * mu, bulk=beta * lam)
        fibre = sp.StrainRate(shear=beta * mu, fibre=beta * mu, direction=(1, 2, 0))
        stretch = sp.Curve.bezier([(0.5, 0.3), (1.0, 1.0), (1.6, 4.0)])
        rates = sp.Curve.bezier([(0.0, 0.2), (2 * rate, 3.0)])
        shapes = np.moveaxis(model.bases[0], 2, 0)[:2]
        size = float(np.linalg.norm(np.ptp(model.tet_rig.mesh.vertices, axis=0)))
        shapes = [0.05 * size * shape / np.abs(shape).max() for shape in shapes]

        def power(p: float) -> sp.PowerLaw:
            return sp.PowerLaw(exponent=p, strength=float(beta * mu * rate ** (1 - p)))

        def by_example(base: Any) -> sp.ExampleDamping:
            more = sp.Example(shapes[0], sp.Curve.bezier([(0, 1.0), (1, 4.0)]))
            return sp.ExampleDamping(base, [more, sp.Example(shapes[1], 0.2)])

        spline = sp.SplineDamping
        return {
            "Rayleigh, mass": lambda: mass,
            "Rayleigh, current": lambda: stiffness,
            "Rayleigh, rest": lambda: sp.Rayleigh(stiffness=beta, at=sp.StiffnessAt.REST),
            "Rayleigh, both": lambda: sp.Rayleigh(mass=alpha, stiffness=beta),
            "MatchedStrainRate": lambda: sp.MatchedStrainRate(stiffness=beta),
            "StrainRate": lambda: strain,
            "StrainRate, fibre": lambda: fibre,
            "PrincipalStrain": lambda: sp.PrincipalStrain(stiffness=beta),
            "PowerLaw, 0": lambda: power(0.0),
            "PowerLaw, ½": lambda: power(0.5),
            "PowerLaw, 2": lambda: power(2.0),
            "SplineDamping, stretch": lambda: spline(strain, stretch),
            "SplineDamping, rate": lambda: spline(strain, rates, over=sp.SplineOver.RATE),
            "SplineDamping, PrincipalStrain": lambda: spline(
                sp.PrincipalStrain(stiffness=beta), stretch
            ),
            "MomentumConserving": lambda: sp.MomentumConserving(stiffness),
            "MomentumConserving, cells": lambda: sp.MomentumConserving(strain, sp.Conserving.CELLS),
            "Caughey": lambda: sp.Caughey((alpha / 2, beta / 4, beta / (40 * omega) ** 2)),
            "Viscous": lambda: sp.Viscous(_dashpots(model, alpha)),
            "Drag": lambda: sp.Drag(strength=1.0),
            "list: Rayleigh, PowerLaw": lambda: [mass, power(0.5)],
            "list: StrainRate, Caughey, Spline": lambda: [
                strain, sp.Caughey((alpha, beta)), spline(strain, stretch)
            ],
            "ExampleDamping, mass": lambda: by_example(mass),
            "ExampleDamping, current": lambda: by_example(stiffness),
            "ExampleDamping, rest": lambda: by_example(
                sp.Rayleigh(stiffness=beta, at=sp.StiffnessAt.REST)
            ),
            "ExampleDamping, StrainRate": lambda: by_example([strain, mass]),
            "ExampleDamping, Viscous": lambda: by_example(sp.Viscous(_dashpots(model, alpha))),
            "list: ExampleDamping, PowerLaw": lambda: [by_example(mass), power(0.5)],
        }  # fmt: skip

    def poses(self, rate: int) -> Floats:
        """Of its clip, over and over where it is short, frame by frame."""
        rig = self.models[0].tet_rig.rig
        assert isinstance(rig, sp.SkeletonRig)
        clip = rig.character.clip(CHARACTERS.get(self.file.stem, next(iter(rig.character.clips))))
        times = np.arange(round(PLAYED * rate) + 1) / rate
        return rig.pose_of(clip.looped(rig.character.rig, times))

    def _kick(self, model: PoseSpaceModel) -> Floats:
        """Rates (r,) from which the first coordinate would swing by a tenth of the body."""
        shape = model.bases[0][:, :, 0]
        size = float(np.linalg.norm(np.ptp(model.tet_rig.mesh.vertices, axis=0)))
        kick: Floats = np.zeros(model.n_coordinates)
        kick[0] = KICK * size / np.abs(shape).max() * np.sqrt(model.squares[0, 0])
        return kick

    def run(self, which: str, strength: float, rule: sp.Integrator, rate: int) -> dict[str, Any]:
        """One run, or two: how it ended, and what it did."""
        first = self._run(self.models[0], which, strength, rule, rate)
        if "refused" in first or rate != TWICE:
            return first
        again = self._run(self.models[1], which, strength, rule, rate)
        return {**first, "alike": first == again}

    def _run(
        self, model: PoseSpaceModel, which: str, strength: float, rule: sp.Integrator, rate: int
    ) -> dict[str, Any]:
        poses = self.poses(rate)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                damping = self.dampings(strength)[which]()
                live = sp.PoseSimulation(
                    model, pose=poses[0], damping=damping, integrator=rule, dt=1 / rate
                )
            except sp.InputError as refused:
                return {"refused": str(refused)}
            kick = self._kick(model)
            found: dict[str, Any] = {}
            trace, power, farthest = [], [], 0.0
            energy: list[float] = []
            most = 0.0
            try:
                for k in range(1, round((PLAYED + STANDING) * rate)):
                    standing = k - len(poses)
                    if standing == 0:
                        live.v = live.v + kick
                    live.step(poses[min(k, len(poses) - 1)])
                    trace.append(np.concatenate([live.q, live.v]))
                    power.append(live.damping_power)
                    farthest = max(farthest, float(np.abs(live.surface_displacements()).max()))
                    if standing >= STILL:
                        energy.append(live.kinetic + live.elastic)
                        most = most or held(live)
            except sp.StepFailed as failed:
                found["failed"] = str(failed)
        every, size = np.array(trace), np.ptp(model.tet_rig.mesh.vertices, axis=0)
        # energy that is gained after any moment of standing still, of that at its beginning
        gained = 0.0
        if energy:
            most_gained = float(np.max(energy - np.minimum.accumulate(energy)))
            gained = max(most_gained - _rounding(model), 0.0) / energy[0]
        return {
            **found,
            "finite": bool(np.isfinite(every).all()),
            "grown": float(gained),
            "of_held": float(gained * energy[0] / most) if energy else 0.0,
            "power": float(np.min(power, initial=0.0) / np.max(np.abs(power), initial=1e-300)),
            "farthest": farthest / float(np.linalg.norm(size)),
            "warned": sorted({type(each.message).__name__ for each in told}),
            "sum": hashlib.sha256(every.tobytes()).hexdigest()[:12],
        }


def _rounding(model: PoseSpaceModel) -> float:
    """Of the elastic energy [J]: densities as large as the moduli cancel out at rest."""
    volumes = model.tet_rig.mesh.volumes[model.cells] * model.cell_weights[0]
    return float(np.finfo(float).eps * volumes @ model.lame[0].sum(axis=1))


def held(live: sp.PoseSimulation) -> float:
    """What the trapezoidal rule keeps from growing [J], while the pose stands still.

    With y' = f(y), where energy ‖y‖² only falls, it is not ‖y‖ but ‖y − h/2 f(y)‖ that falls in
    every step. Where damping is stiff, most of it is acceleration that changes sign from step to
    step, and energy that is small beside it comes and goes.
    """
    h, v, M = live.dt, live.v, live.mass
    force = live.elastic_force + live.damping_force
    swings = max(float(v @ live.stiffness @ v), 0.0) + float(force @ np.linalg.solve(M, force))
    return live.kinetic + live.elastic + 0.5 * h * live.damping_power + h * h / 8 * swings


def _dashpots(model: PoseSpaceModel, alpha: float) -> Any:
    """Dashpots along all edges, as strong together as α times the mass [N s/m]."""
    cells, n = model.tet_rig.mesh.cells, model.tet_rig.mesh.n_vertices
    pairs = np.array([(i, j) for i in range(4) for j in range(4) if i != j])
    rows, columns = cells[:, pairs[:, 0]].ravel(), cells[:, pairs[:, 1]].ravel()
    beside = scipy.sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)).tocsr()
    laplacian = scipy.sparse.diags_array(beside.sum(axis=1)) - beside
    strength = alpha * model.masses.sum() / laplacian.diagonal().sum()
    return scipy.sparse.kron(strength * laplacian, np.eye(3)).tocsr()


# -- runs ------------------------------------------------------------------------------------


def rows_of(
    folder: Path, names: list[str], keep: Path, kept: Kept, every: int
) -> Iterator[dict[str, Any]]:
    package = Path(sp.__file__).parent
    training = [*(package / "character").rglob("*.py"), *(package / "reduction").rglob("*.py")]
    kernels = [each for part in ("character", "damping", "elasticity", "reduction")
               for each in (package / "_kernels" / part).rglob("*.py")]  # fmt: skip
    dampings = (package / "damping").rglob("*.py")
    mark = fingerprint("pose_dampings", files=[*training, *kernels, *dampings, Path(__file__)])
    bodies = {name: Flesh(keep / f"{name}.supple") for name in names}
    for name, flesh in bodies.items():
        if not flesh.file.exists():
            trained(folder / "characters", name).save(flesh.file)
    which = list(bodies[names[0]].dampings(1.0))
    cases = list(product(names, STRENGTHS, which, RULES, RATES))
    order = np.random.default_rng(0).permutation(len(cases))
    for name, strength, damping, rule, rate in [cases[k] for k in order[::every]]:
        label = f"{damping} · {strength:g} · {type(rule).__name__} · {rate}"
        row = kept.row(
            "pose_dampings",
            f"{name} · {label} · {mark}",
            lambda c=(damping, strength, rule, rate), f=bodies[name]: f.run(*c),
        )
        yield {**row, "damping": damping, "rule": type(rule).__name__, "character": name}


def troubles(row: dict[str, Any]) -> list[str]:
    """What is wrong with a run."""
    if "refused" in row:
        return [] if row["damping"] == "Drag" else [f"refused: {row['refused']}"]
    found = [f"failed: {row['failed']}"] if "failed" in row else []
    if not row["finite"]:
        found.append("not finite")
    if _grew(row):
        found.append(f"energy grows by {100 * row['grown']:.3g} %")
    if row["power"] < -_NEGATIVE:
        found.append(f"damping gives {100 * -row['power']:.3g} % of its largest power")
    if not row.get("alike", True):
        found.append("not the same twice")
    return found


def _grew(row: dict[str, Any]) -> bool:
    share = row["of_held" if row["rule"] == "Newmark" else "grown"]
    return bool(share > _GROWN.get(row["rule"], _GROWN_ELSE))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks pose_dampings", description=__doc__)
    parser.add_argument("folder", type=Path, help="with characters")
    parser.add_argument("characters", nargs="*", help=f"some, as {', '.join(CHARACTERS)}")
    parser.add_argument("--keep", type=Path, help="a folder for models and what was found")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th of all runs")
    given = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        keep = given.keep or Path(place)
        kept = Kept(given.keep)
        names = given.characters or list(CHARACTERS)
        for row in rows_of(given.folder, names, keep, kept, given.every):
            rows.append(row)
            for trouble in troubles(row):
                print(f"{row['key']}: {trouble}", file=sys.stderr, flush=True)
    head = ["runs", "refused", "failed", "not finite", "energy grew", "at most", "power given",
            "not the same twice", "farthest", "warned"]  # fmt: skip
    for by in ("damping", "rule", "character"):
        found = sorted({row[by] for row in rows})
        print(table([by, *head], [[each, *_summary(rows, by, each)] for each in found]), "\n")
    wrong = sum(bool(troubles(row)) for row in rows)
    print(f"{wrong} of {len(rows)} runs went wrong")
    return 0


def _summary(rows: list[dict[str, Any]], by: str, name: str) -> list[str]:
    some = [row for row in rows if row[by] == name]
    ran = [row for row in some if "refused" not in row]
    grew = [row["grown"] for row in ran]
    return [
        f"{len(some)}",
        f"{len(some) - len(ran)}",
        f"{sum('failed' in row for row in ran)}",
        f"{sum(not row['finite'] for row in ran)}",
        f"{sum(map(_grew, ran))}",
        f"{100 * max(grew, default=0.0):.2g} %",
        f"{sum(row['power'] < -_NEGATIVE for row in ran)}",
        f"{sum(not row.get('alike', True) for row in ran)}",
        f"{100 * max((row['farthest'] for row in ran), default=0.0):.2g} %",
        f"{sum(bool(row['warned']) for row in ran)}",
    ]
