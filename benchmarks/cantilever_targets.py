"""Two wishes for a cantilever, from small swings to huge ones, over every kind of base damping.

A beam of 1 × 0.2 × 0.2 m (E = 1 MPa, ν = 0.4, ρ = 1000 kg/m³) is bent by 2, 10, 20 and 40 cm times
1 and 2, along its equilibrium path, and let go, with Bathe at 120 Hz. Wished are

- 1 → 0.35 and 2 → 1.5 of a curve of the rate;
- the same of a curve of the excitation, which leaves 1.35 of small swings at most;
- 1 → 0.35 and 2 → 1.2 of a curve of the excitation;
- 80 % in each of three cycles from 10 and from 20 cm.

``python -m benchmarks cantilever_targets [reduced] [full]``: in these spaces, or in both; with
``weakest``, what γ = 0.001 at every rate leaves of 1 and 2 over the stiffness at rest. What is
found is kept in ``cantilever_targets.jsonl`` of the current directory; a second run goes on from
there.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import supple as sp
from benchmarks.keeping import Kept
from benchmarks.timing import table
from supple.design.testbeds import make_testbed

DT, TOLERANCE = 1 / 120, 0.01
SIZES = (0.02, 0.1, 0.2, 0.4)
PAIRS = {
    "rate: 0.35, 1.5": (sp.Measure.RATE, 1.5),
    "excitation: 0.35, 1.5": (sp.Measure.EXCITATION, 1.5),
    "excitation: 0.35, 1.2": (sp.Measure.EXCITATION, 1.2),
}


def bases(omega: float) -> dict[str, Any]:
    """Kinds and strengths of base damping.

    That of the stiffness at rest has two strengths: it resists the turning of the beam, which no
    example along bending takes away, so that few curves do far from rest where it is strong.
    """
    rest = sp.StiffnessAt.REST
    mass, shear = 2e-3 * omega**2, 2e-3 * 1e6 / 2.8
    return {
        "current stiffness": sp.Rayleigh(stiffness=2e-3),
        "stiffness at rest, 0.002 s": sp.Rayleigh(stiffness=2e-3, at=rest),
        "stiffness at rest, 0.00007 s": sp.Rayleigh(stiffness=7e-5, at=rest),
        "mass": sp.Rayleigh(mass=mass),
        "MatchedStrainRate": sp.MatchedStrainRate(stiffness=2e-3),
        "StrainRate": sp.StrainRate(shear=shear),
        "mass and current stiffness": sp.Rayleigh(mass=mass / 2, stiffness=1e-3),
        "mass and StrainRate": [sp.Rayleigh(mass=mass / 2), sp.StrainRate(shear=shear / 2)],
    }


@dataclass(eq=False)
class Beam:
    """The cantilever in both spaces."""

    body: sp.Body
    model: sp.ReducedModel
    bend: sp.Example
    omega: float

    @classmethod
    def make(cls) -> Beam:
        mesh = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(10, 2, 2))
        material = sp.StVK(young=1e6, poisson=0.4, density=1000)
        body = sp.Body(mesh, material, fixed=mesh.where(x=0))
        modes = sp.vibration_modes(body, 8)
        basis = sp.joined_basis(
            body,
            sp.picked_basis(body, modes.shapes[:2]),
            sp.modal_derivative_basis(body, modes=modes, size=24),
        )
        bend = sp.Example(modes.shapes[0], name="bend")
        return cls(body, sp.reduce(body, basis), bend, float(2 * np.pi * modes.frequencies[0]))

    def designed(
        self,
        space: str,
        base: Any,
        size: float,
        measure: sp.Measure,
        targets: list[sp.Unloading],
        tolerance: float,
    ) -> dict[str, Any]:
        """What comes of wishes, in numbers that can be kept.

        In full space a design begins with what one in reduced space found.
        """
        straight = sp.Example(self.bend.shape, name="bend", measure=measure).scaled(size)
        damping = sp.ExampleDamping(base, [sp.bent_example(self.model, straight, reach=2.0)])
        options: dict[str, Any] = {"dt": DT, "tolerance": tolerance}
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            fit = sp.design_damping(self.model, damping, targets, **options)
            if space == "full":
                again = damping.with_curves(fit.damping.curves)
                fit = sp.design_damping(self.body, again, targets, **options)
        results = fit.report.results
        return {
            "left": [[m.reached for m in r.moments] for r in results],
            "shares": [
                (r.after.turns[:3, 1] / [r.target.start, *r.after.turns[:2, 1]]).tolist()
                for r in results
                if len(r.after.turns) >= 3
            ],
            "errors": [r.error for r in results],
            "met": [r.met for r in results],
            "reasons": [r.reason for r in results],
            "before": [r.before_text for r in results],
            "notes": list(fit.report.notes),
            "told": [str(w.message) for w in told],
            "seconds": fit.report.seconds,
            "simulations": fit.report.simulations,
        }


def weakest(beam: Beam) -> None:
    """Tell what an example that takes next to nothing leaves: no curve leaves more."""
    rows = []
    for space, body in (("reduced", beam.model), ("full", beam.body)):
        for name in list(bases(1.0))[1:3]:
            row = [space, name]
            for size in SIZES:
                straight = sp.Example(beam.bend.shape, name="bend").scaled(size)
                bent = sp.bent_example(beam.model, straight, reach=2.0)
                damping = sp.ExampleDamping(bases(beam.omega)[name], [bent]).with_curves([1e-3])
                bed = make_testbed(body, damping, dt=DT)
                left = [bed.try_unloading(damping, 0, start).residual for start in (1.0, 2.0)]
                row.append(" ".join(f"{x:.3f}" for x in left))
            rows.append(row)
    print(table(["space", "base", *(f"{100 * size:g} cm" for size in SIZES)], rows), flush=True)


def _pair(found: dict[str, Any]) -> str:
    cells = [f"{left[0]:.3f}" for left in found["left"]]
    steps = any("alone: in steps of" in note for note in found["notes"])
    return " ".join(cells) + ((" (✓)" if steps else " ✓") if all(found["met"]) else "")


def _cycles(found: dict[str, Any]) -> str:
    return ", ".join(" ".join(f"{100 * s:.1f}" for s in shares) for shares in found["shares"])


def main(arguments: list[str]) -> int:
    if arguments == ["weakest"]:
        weakest(Beam.make())
        return 0
    kept = Kept(Path("."))
    made: list[Beam] = []

    def beam() -> Beam:
        if not made:
            made.append(Beam.make())
        return made[0]

    def find(
        name: str, *given: Any, space: str, base: str, size: float, tolerance: float = TOLERANCE
    ) -> dict[str, Any]:
        def make() -> dict[str, Any]:
            chosen = bases(beam().omega)[base]
            return beam().designed(space, chosen, size, *given, tolerance)

        found = kept.row("cantilever_targets", f"{space}, {base}, {size}, {name}", make)
        print(f"{space}, {base}, {size}, {name}: {found['left']}", file=sys.stderr, flush=True)
        return found

    def pairs(space: str, name: str) -> None:
        measure, second = PAIRS[name]
        pair = [sp.Unloading("bend", 1.0, 0.35), sp.Unloading("bend", 2.0, second)]
        rows = []
        for base in bases(1.0):
            given = {"space": space, "base": base}
            rows.append([base, *(_pair(find(name, measure, pair, size=s, **given)) for s in SIZES)])
        print(f"\n{space} space, a curve of the {name} left:\n")
        print(table(["base", *(f"{100 * size:g} cm" for size in SIZES)], rows), flush=True)

    def each_cycle(space: str) -> None:
        each = [sp.Unloading("bend", a, sp.EachCycle(0.8, cycles=3)) for a in (0.5, 1.0)]
        given = {"space": space, "size": 0.2, "tolerance": 0.005}
        rows = [
            [base, _cycles(find("80 % each", sp.Measure.EXCITATION, each, base=base, **given))]
            for base in bases(1.0)
        ]
        print(f"\n{space} space, asked 80 % of each of three cycles from 10 and 20 cm:\n")
        print(table(["base", "got, %"], rows), flush=True)

    rate, beyond, within = PAIRS
    for space in arguments or ["reduced", "full"]:
        pairs(space, rate)
        each_cycle(space)
        pairs(space, within)
        if space == "reduced":  # what cannot be had takes longest to seek
            pairs(space, beyond)
    return 0
