"""Five wishes each for bodies made by others, and a search that looks for what designs missed.

Bodies scaled to a size of 1 m are held at one end and let go along the equilibrium paths of their
two slowest vibrations, scaled so that the vertex that moves most goes by 15 cm; r = 12, Bathe at 40
steps a period, over mass damping and that of the current stiffness, 1 % of critical each. Where a
wish is missed, ``benchmarks.curve_search`` looks for a curve that does better, and rates it and the
design alike: for the wish alone, which is out of reach if all curves miss it by more than 2 %, and
for all wishes of the example together, which conflict if no curve meets them or is nearer by 1 %,
with what it does to the wishes of the other example. Wishes that are out of reach count for a
twentieth then, as with designs.

``python -m benchmarks design_bodies FOLDER [BODY …]``; what is found is kept in
``design_bodies.jsonl`` of the current directory, and a second run goes on from there.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import supple as sp
from benchmarks.curve_search import Goal, Releases, curve_of, knots_of, search
from benchmarks.keeping import Kept
from benchmarks.model_error import BODIES, held_body
from benchmarks.timing import table

SWING, STEPS_A_PERIOD, SIZE, TOLERANCE = 0.15, 40, 12, 0.005
SEARCHED = 480  # curves, before the best is polished
BETTER = 0.01  # by which a curve must be nearer to count as better
OUT = 0.02  # by which all curves miss a wish that is out of reach by itself
GIVEN_UP = 0.05  # what such a wish counts for beside others


def wishes_of(period: float) -> dict[str, tuple[sp.Unloading, Goal]]:
    """The five wishes and what the search understands of them; ``period`` of the second example."""
    three = round(3 * period, 4)
    each = tuple((float(k), 0.4) for k in (1, 2, 3))
    drawn = ((1, 0.5), (2, 0.2), (4, 0.03))
    return {
        "half of 0.5 after a cycle": (
            sp.Unloading("first", 0.5, sp.ShareLeft(0.5)),
            Goal(0, 0.5, ((1, 0.5),)),
        ),
        "20 % of 1 after three": (
            sp.Unloading("first", 1.0, sp.ShareLeft(0.2, cycles=3)),
            Goal(0, 1.0, ((3, 0.2),)),
        ),
        "0.4 settles in three periods": (
            sp.Unloading("second", 0.4, sp.SettlingTime(three)),
            Goal(1, 0.4, ((three, 0.05),), in_seconds=True),
        ),
        "40 % of 0.7 in each of three": (
            sp.Unloading("second", 0.7, sp.EachCycle(0.4, cycles=3)),
            Goal(1, 0.7, each, each=True),
        ),
        "envelope from 1": (
            sp.Unloading("second", 1.0, sp.Envelope(drawn, unit="cycles")),
            Goal(1, 1.0, drawn),
        ),
    }


class Case:
    """A body with two examples, its model, and wishes."""

    def __init__(self, folder: Path, name: str) -> None:
        body, _ = held_body(folder, name)
        modes = sp.vibration_modes(body, 8)
        self.omega = 2 * np.pi * modes.frequencies
        shapes = modes.shapes[:2]
        basis = sp.joined_basis(
            body,
            sp.picked_basis(body, shapes),
            sp.modal_derivative_basis(body, modes=modes, size=SIZE),
        )
        self.model = sp.reduce(body, basis.truncated(SIZE), compare=False)
        examples = [
            self._along_its_path(sp.Example(shape, name=label).scaled(SWING))
            for shape, label in zip(shapes, ("first", "second"), strict=True)
        ]
        base = sp.Rayleigh(mass=0.02 * self.omega[0], stiffness=0.02 / self.omega[0])
        self.damping = sp.ExampleDamping(base, examples)
        self.dt = float(2 * np.pi / self.omega[0] / STEPS_A_PERIOD)
        self.wishes = wishes_of(float(2 * np.pi / self.omega[1]))

    def _along_its_path(self, example: sp.Example) -> sp.Example:
        """The example, bent; straight where it has no smooth path, as where a body buckles."""
        try:
            return sp.bent_example(self.model, example, reach=1.0)
        except sp.InputError:
            return example

    def designed(self) -> dict[str, Any]:
        """What a design makes of the wishes, in numbers that can be kept."""
        start = time.process_time()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            fit = sp.design_damping(
                self.model,
                self.damping,
                [wish for wish, _ in self.wishes.values()],
                dt=self.dt,
                tolerance=TOLERANCE,
            )
        results = fit.report.results
        return {
            "met": [r.met for r in results],
            "errors": [r.error for r in results],
            "reasons": [r.reason for r in results],
            "before": [r.before_text for r in results],
            "notes": [str(w.message) for w in told],
            "curves": [curve.table() for curve in fit.damping.curves],
            "simulations": fit.report.simulations,
            "seconds": time.process_time() - start,
        }

    def sought(
        self, found: dict[str, Any], wishes: dict[int, float], others: dict[int, float]
    ) -> dict[str, Any]:
        """What the search finds for some wishes of an example, by number, with their weights.

        It is rated with ``others``, of the other example, which it does not see.
        """
        start = time.process_time()
        curves = [sp.Curve.of(each) for each in found["curves"]]
        releases = Releases(self.model, self.damping, self.dt)
        every = [goal for _, goal in self.wishes.values()]
        goals, weights = [every[n] for n in wishes], list(wishes.values())
        example = goals[0].example
        period = float(2 * np.pi / self.omega[example])

        def rated() -> list[tuple[list[float], list[float]]]:
            both = []
            for n, weight in (wishes | others).items():
                own = float(2 * np.pi / self.omega[every[n].example])
                both.append(releases.rated(every[n], curves, own, weight))
            return [(errors.tolist(), residuals.tolist()) for errors, residuals in both]

        design = rated()
        own = np.log10(np.clip(curves[example](knots_of(goals)), 1e-3, 1e3))
        count = SEARCHED if len(goals) > 1 else SEARCHED // 2
        options: dict[str, Any] = {"also": [own], "evaluations": count, "weights": weights}
        z, _ = search(releases, goals, curves, period, **options)
        curves[example] = curve_of(z, goals)
        after = rated()
        met = [
            weight < 1 or bool((np.abs(errors) <= TOLERANCE).all())
            for weight, (errors, _) in zip(weights, after, strict=False)
        ]
        return {
            "met": all(met),
            "design": design,
            "search": after,
            "knots": z.tolist(),
            "seconds": time.process_time() - start,
        }


def _far(rated: list[tuple[list[float], list[float]]]) -> float:
    """The root of the loss: near a target, about the relative error."""
    return float(np.sqrt(sum(np.sum(np.square(residuals)) for _, residuals in rated)))


def _least(found: dict[str, Any]) -> float:
    """How near the nearest curve is that is known, the design's or the search's."""
    return min(_far(found["design"]), _far(found["search"]))


def _arrow(found: dict[str, Any]) -> str:
    return f"{100 * _far(found['design']):.2f} → {100 * _far(found['search']):.2f}"


def row_of(folder: Path, name: str, kept: Kept) -> tuple[list[str], list[str]]:
    """Of one body: its row, and the state of each wish."""
    made: list[Case] = []

    def case() -> Case:
        if not made:
            made.append(Case(folder, name))
        return made[0]

    def sought(
        label: str, wishes: dict[int, float], others: dict[int, float] | None = None
    ) -> dict[str, Any]:
        return kept.row(
            "design_bodies",
            f"{name}: {label}, rated",
            lambda: case().sought(found, wishes, others or {}),
        )

    found = kept.row("design_bodies", f"{name}: design", lambda: case().designed())
    labels, goals = list(wishes_of(1.0)), [goal for _, goal in wishes_of(1.0).values()]
    unmet = [n for n in range(len(goals)) if not found["met"][n]]
    alone = {n: sought(labels[n], {n: 1.0}) for n in unmet}
    out = [n for n in unmet if not alone[n]["met"] and _least(alone[n]) > OUT]
    weights = {n: GIVEN_UP if n in out else 1.0 for n in range(len(goals))}
    states, boths = ["met"] * len(labels), []
    for example in sorted({goals[n].example for n in unmet}):
        mine = {n: w for n, w in weights.items() if goals[n].example == example}
        others = {n: w for n, w in weights.items() if n not in mine}
        both = sought(f"example {example} with all", mine, others)
        nearer = _far(both["design"]) - _far(both["search"])
        better = nearer > BETTER or (both["met"] and nearer > 0)
        within = "a curve does better" if better else "conflict confirmed"
        for n in set(unmet) & set(mine):
            states[n] = "out of reach confirmed" if n in out else within
        boths.append(_arrow(both))
    missed = [f"{labels[n]} {100 * found['errors'][n]:+.2f} %" for n in unmet]
    alones = [_arrow(alone[n]) for n in unmet]
    told = [state for state in states if state != "met"]
    row = [name, f"{states.count('met')} of {len(states)}"]
    return [*row, *map("; ".join, (missed, alones, boths, told))], states


def main(arguments: list[str]) -> int:
    if not arguments or not Path(arguments[0]).is_dir():
        print("give the folder of bodies: python -m benchmarks design_bodies FOLDER [BODY …]")
        return 2
    warnings.simplefilter("ignore", sp.ModelWarning)
    warnings.simplefilter("ignore", sp.MeshWarning)
    kept = Kept(Path("."))
    rows: list[list[str]] = []
    states: list[str] = []
    for name in arguments[1:] or list(BODIES):
        row, own = row_of(Path(arguments[0]), name, kept)
        print("  ".join(row), file=sys.stderr, flush=True)
        rows.append(row)
        states += own
    head = [
        "body",
        "met",
        "missed, off by",
        "alone, %: design → search",
        "all wishes, %: design → search over its example",
        "verdict of the search",
    ]
    print(table(head, rows))
    print(
        f"\n{states.count('met')} of {len(states)} met, "
        f"{sum('confirmed' in state for state in states)} misses confirmed, "
        f"{states.count('a curve does better')} not"
    )
    return 0
