"""Bases that repair themselves: what a motion misses is added until its error is small."""

from __future__ import annotations

import warnings

import numpy as np

from supple.bodies.solid import Body
from supple.core.checks import number, whole_number
from supple.core.types import Floats, Progress
from supple.reduction.basis import Basis
from supple.reduction.errors.frequencies import ModelWarning
from supple.reduction.errors.motion import MotionError, motion_error
from supple.reduction.errors.playing import Force, Live, Scenario, body_of
from supple.reduction.reducing import reduce

_ADDED = 5  # vectors at a time: few, since each is found anew for what the others leave


def repaired_basis(
    sim: Live,
    duration: float,
    *,
    force: Force = None,
    tolerance: float = 0.02,
    size: int = 60,
    body: Body | None = None,
    progress: Progress | None = None,
) -> Basis:
    """The basis of a simulation's model with what a motion of it misses, the basis first.

    The motion is that of ``motion_error``, which has the other options too. Vectors are added until
    its error is at most ``tolerance``, or there are ``size`` of them: then a ModelWarning tells the
    error that is left.
    """
    number("tolerance", tolerance, above=0.0)
    whole_number("size", size, at_least=sim.model.size)
    found, before = body_of(sim.model, body), sim
    vectors, importance = sim.model.vectors, np.ones(sim.model.size)
    while True:
        told = motion_error(sim, duration, force=force, body=found)
        if progress is not None:
            progress(len(vectors), size, f"vectors, error {100 * told.error:.2g} %")
        count = min(_ADDED, size - len(vectors), len(told.missed))
        if told.error <= tolerance or count == 0:
            break
        vectors, importance = _with(vectors, importance, told, count)
        model = reduce(found, Basis(vectors, importance), compare=False)
        scenario = Scenario(before, found, 1, None)
        sim = scenario.simulation(model)
    if told.error > tolerance:
        warnings.warn(
            ModelWarning(
                f"with {len(vectors)} vectors the error of this motion is still "
                f"{100 * told.error:.2g} %, more than the {100 * tolerance:.2g} % asked for; give "
                f"a larger size= than {size}, or a shorter motion"
            ),
            stacklevel=2,
        )
    return Basis(vectors, importance)


def _with(
    vectors: Floats, importance: Floats, told: MotionError, count: int
) -> tuple[Floats, Floats]:
    more = np.concatenate([vectors, told.missed[:count]])
    return more, np.concatenate([importance, np.minimum(told.amounts[:count], 1.0)])
