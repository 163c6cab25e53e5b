"""Whether bodies with damping land: every kind of damping on real meshes, at large steps.

Bodies of 20 cm that come at the speed of a fall by 10 cm, on a floor or on hills, for 0.3 s. Drawn
at random are the damping, its strength, the body, its stiffness, the step, the rule and the
ground. No step may fail, and kinetic, elastic and potential energy together may not grow.

``python -m benchmarks damped_drops FOLDER [--runs N] [--first N] [--keep CACHE]``, where the folder
has ``tets``. Run k of a seed is the same however many there are.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import supple as sp
from benchmarks.drops import GROWN, body_named
from benchmarks.keeping import Kept
from benchmarks.timing import table

SECONDS = 0.3
GAP = 0.005  # m, that the body starts above the ground
FALL = 0.1  # m
BODIES = ("bunny_1124", "sphere", "torus")
STIFFNESSES = (5e3, 2e4, 1e5, 1e6, 1e7)  # Pa
RATES = (24, 60, 100)
RULES = (sp.TRBDF2, sp.BackwardEuler, sp.BDF2, sp.Bathe)
TIMES = (0.002, 0.02)  # s: of a force like μ times the rate of strain
_RATE = 10.0  # 1/s: where power laws of all exponents are as strong
_G = 9.81

Make = Callable[[sp.Body, float, float], sp.Damping]
"""A damping for a body with the shear modulus μ [Pa] and a time [s]."""


def _power(p: float) -> Make:
    return lambda body, mu, t: sp.PowerLaw(exponent=p, strength=mu * t * _RATE ** (1 - p))


def _power_of(p: float) -> Make:
    def make(body: sp.Body, mu: float, t: float) -> sp.Damping:
        of = sp.StrainRate(shear=mu * t, bulk=mu * t)
        return sp.PowerLaw(exponent=p, of=of, scale=mu * t * _RATE**2)

    return make


def _spline(over: sp.SplineOver) -> Make:
    curve = sp.Curve.monotone([(0.7, 20.0), (1.0, 0.2), (1.3, 20.0)])
    if over is sp.SplineOver.RATE:
        curve = sp.Curve.bezier([(0.0, 0.2), (5.0, 1.0), (20.0, 5.0)])
    return lambda body, mu, t: sp.SplineDamping(sp.StrainRate(shear=mu * t), curve, over=over)


def _spline_of_axes(body: sp.Body, mu: float, t: float) -> sp.Damping:
    curve = sp.Curve.monotone([(0.7, 5.0), (1.0, 0.2), (1.3, 5.0)])
    return sp.SplineDamping(sp.PrincipalStrain(stiffness=t), curve)


def _example(body: sp.Body, mu: float, t: float) -> sp.Damping:
    X = body.mesh.vertices
    flat = 0.1 * (X - X.mean(axis=0)) * (0.5, 0.5, -1.0)
    return sp.ExampleDamping(sp.Rayleigh(mass=1.0, stiffness=t), [sp.Example(flat, 10.0)])


def _shear(body: sp.Body, mu: float, t: float) -> sp.Damping:
    return sp.StrainRate(shear=mu * t, bulk=0.5 * mu * t)


def _conserving(body: sp.Body, mu: float, t: float) -> sp.Damping:
    at_rest = sp.Rayleigh(mass=2.0, stiffness=t, at=sp.StiffnessAt.REST)
    return sp.MomentumConserving(at_rest, by=sp.Conserving.BODY)


def _by_gradient(body: sp.Body, mu: float, t: float) -> sp.Damping:
    return sp.MomentumConserving(sp.Rayleigh(stiffness=t, at=sp.StiffnessAt.REST))


DAMPINGS: dict[str, Make] = {
    "PowerLaw, p = 0": _power(0),
    "PowerLaw, p = 0.5": _power(0.5),
    "PowerLaw, p = 1": _power(1),
    "PowerLaw, p = 2": _power(2),
    "PowerLaw, p = 0 of StrainRate": _power_of(0),
    "PowerLaw, p = 3 of StrainRate": _power_of(3),
    "SplineDamping over stretch": _spline(sp.SplineOver.STRETCH),
    "SplineDamping over rate": _spline(sp.SplineOver.RATE),
    "SplineDamping of PrincipalStrain": _spline_of_axes,
    "PrincipalStrain": lambda body, mu, t: sp.PrincipalStrain(stiffness=t),
    "StrainRate": _shear,
    "MatchedStrainRate": lambda body, mu, t: sp.MatchedStrainRate(stiffness=t),
    "Rayleigh": lambda body, mu, t: sp.Rayleigh(mass=1.0, stiffness=t),
    "Rayleigh at rest": lambda body, mu, t: sp.Rayleigh(
        mass=1.0, stiffness=t, at=sp.StiffnessAt.REST
    ),
    "MomentumConserving by body": _conserving,
    "MomentumConserving": _by_gradient,
    "Drag": lambda body, mu, t: sp.Drag(strength=1e3 * t, exponent=2),
    "ExampleDamping": _example,
}
CASES = list(product(DAMPINGS, TIMES, BODIES, STIFFNESSES, RATES, RULES, ("plane", "hills")))


def ground(kind: str, body: sp.Body) -> sp.Obstacle:
    """A floor, or hills as wide as a third of the body, below the lowest point of a body."""
    if kind == "plane":
        return sp.Plane(normal=(0, 0, 1), offset=-GAP, friction=0.3)
    x, y = np.meshgrid(np.linspace(-1, 1, 81), np.linspace(-1, 1, 81), indexing="ij")
    hills = 0.02 * (np.sin(60 * x) * np.cos(45 * y + 1) - 1) - 0.1 * x
    field = sp.HeightField(heights=hills, origin=(-1, -1, 0), spacing=1 / 40)
    lowest = float(field.signed_distance(body.mesh.vertices)[0].min())
    below = hills + lowest - 2 * GAP  # distances are less than heights
    return sp.HeightField(heights=below, origin=(-1, -1, 0), spacing=1 / 40, friction=0.3)


def landed(folder: Path, case: tuple[Any, ...]) -> dict[str, Any]:
    """One run: whether it failed, and what it gained of the energy of its fall."""
    damping, span, name, young, rate, rule, kind = case
    body = body_named(folder, name, young)
    mu = young / (2 * (1 + 0.45))
    sim = sp.Simulation(
        body,
        damping=DAMPINGS[damping](body, mu, span),
        obstacles=[ground(kind, body)],
        integrator=rule(),
        dt=1 / rate,
        gravity=(0, 0, -_G),
    )
    sim.state.v = np.tile((0.0, 0.0, -np.sqrt(2 * _G * FALL)), (body.n_vertices, 1))
    energies, found = [], dict[str, Any]()
    began = time.process_time()
    for _ in range(int(np.ceil(SECONDS * rate))):
        frame = sim.frame()
        energies.append(frame.kinetic + frame.elastic + frame.gravitational)
        try:
            sim.step()
        except Exception as failed:  # whatever it is, it counts
            found["failed"] = f"{type(failed).__name__}: {failed}"
            break
    E = np.array(energies)
    fall = body.total_mass * _G * FALL
    found["grown"] = float((E - np.minimum.accumulate(E)).max()) / fall
    total = sim.stats.total
    found["iterations"] = total.iterations / len(E) if total else 0.0
    found["substeps"] = total.substeps / len(E) if total else 0.0
    found["seconds"] = time.process_time() - began
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print what failed and what gained energy, by damping."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks damped_drops")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args(arguments)
    kept = Kept(options.keep)
    order = np.random.default_rng(0).permutation(len(CASES))
    rows = []
    for number in range(options.first, options.first + options.runs):
        case = CASES[order[number]]
        damping, span, name, young, rate, rule, kind = case
        label = f"{damping} · {span} · {name} · {young:g} · {rate} · {rule.__name__} · {kind}"
        found = kept.row("damped_drops", label, lambda case=case: landed(options.folder, case))
        rows.append((case, found))
        if "failed" in found or found["grown"] > GROWN:
            print(f"{number}: {label}: {found}", flush=True)
        print(f"\r{number + 1 - options.first} of {options.runs}", end="", file=sys.stderr)
    print(file=sys.stderr)
    told = []
    for damping in DAMPINGS:
        mine = [found for case, found in rows if case[0] == damping]
        if mine:
            failed = sum("failed" in found for found in mine)
            gained = sum(found["grown"] > GROWN for found in mine)
            most = max(found["grown"] for found in mine)
            mean = float(np.mean([found["iterations"] for found in mine]))
            told.append([damping, len(mine), failed, gained, f"{most:.2g}", f"{mean:.0f}"])
    head = ["damping", "runs", "failed", "gained energy", "most gained", "iterations a step"]
    print(table(head, told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
