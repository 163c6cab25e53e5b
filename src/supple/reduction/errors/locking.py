"""Whether a reduced model locks: is too stiff in large swings, though not in small ones.

A body that swings far along a vibration does not stay in its shape: it gives way to the forces of
second order, ½ (H : Ψ) Ψ, along the modal derivatives, K Φ = −(H : Ψ) Ψ (Eq. 14). Bending would
otherwise stretch it (membrane locking). A model gives way as far as its basis holds these. What the
body stores less by doing so, and the model does not, is what it stores too much of: to the fourth
order in the swing, and without moving either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.bodies.solid import Body
from supple.core.errors import Message, Parameter
from supple.core.types import Floats
from supple.reduction.errors.frequencies import SLOW
from supple.reduction.errors.swings import SwingEnergies
from supple.reduction.modes import Modes, SmallVibrations, products

if TYPE_CHECKING:
    from supple.reduction.model import ReducedModel

SWING = 0.25
"""How far the slowest vibration swings, of the body's size."""
TOLERANCE = 0.05
"""The share of energy too much above which one is told."""
_ALIKE = 1.5  # times as fast as the slowest: what swings nearly as far when pushed as hard
_SMALL = 1e-3  # of the swing, in differences of forces; exact for StVK, whose forces are cubic


def swing_energies(
    body: Body, rest: SmallVibrations, modes: Modes, vectors: Floats
) -> SwingEnergies:
    """Those of a body in the span of ``vectors`` (r, n, 3), given modes that are not rigid."""
    slow = modes.frequencies[:SLOW] <= _ALIKE * modes.frequencies[0]
    squares = modes.squares[:SLOW][slow]
    reach = SWING * float(np.ptp(body.mesh.bounds, axis=0).max())
    furthest = float(np.linalg.norm(modes.shapes[0], axis=1).max())
    amounts = reach / furthest * squares[0] / squares  # λ a is the same for all
    swings = amounts[:, None, None] * modes.shapes[:SLOW][slow]
    forces = _second_order(body, swings)
    return SwingEnergies(
        linear=0.5 * squares * amounts**2,
        relief=0.5 * products(forces, rest.solve(forces)),
        forces=products(vectors, forces),
        stiffness=products(vectors, rest.times(vectors)),
    )


def _second_order(body: Body, shapes: Floats) -> Floats:
    """½ (H : Ψ^i) Ψ^j [N] for all pairs i ≤ j of shapes Ψ (k, n, 3), (pairs, n, 3).

    The even part of the force, ½ (∇U(Ψ) + ∇U(−Ψ)), is that of Ψ with itself; a sum of two shapes
    has both and twice that of the pair.
    """

    def even(u: Floats) -> Floats:
        there, back = (body.evaluate(s * u, order=1).gradient for s in (_SMALL, -_SMALL))
        return (there + back) * body.free / (2 * _SMALL**2)

    own = [even(u) for u in shapes]
    pairs = zip(*np.triu_indices(len(shapes)), strict=True)
    return np.array(
        [
            own[i] if i == j else 0.5 * (even(shapes[i] + shapes[j]) - own[i] - own[j])
            for i, j in pairs
        ]
    )


def locking_note(model: ReducedModel) -> Message | None:
    """What to tell a person where a model is too stiff in large swings."""
    excess = model.locking
    if excess is None or excess <= TOLERANCE:
        return None
    return Message(
        f"the basis locks: a swing by a quarter of the body's size takes {energy_text(excess)}, "
        "since it lacks the shapes in which the body gives way as it swings far. For large "
        "motion take modal derivatives, or a larger ",
        Parameter("size", ""),
        "; motion_error tells how wrong a motion is, and repaired_basis adds what it misses",
    )


def energy_text(excess: float) -> str:
    """How much energy a swing takes, in words."""
    if excess > 1.0:
        times = f"{1 + excess:.3g}" if excess < 99.0 else f"{1 + excess:,.0f}"
        return f"{times} times the energy that it should"
    return f"{100 * excess:.2g} % more energy than it should"


def locking_text(excess: float) -> str:
    """The same as a row, also where all is well."""
    if excess < 5e-4:
        return "a swing by a quarter of the size takes the energy that it should"
    return f"a swing by a quarter of the size takes {energy_text(excess)}"
