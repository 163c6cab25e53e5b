"""Where a simulation in full space is, kept to go back to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.group import BodyGroup
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.integrators import State


class Settings(NamedTuple):
    """What can be changed between two steps."""

    body: ElasticBody
    damping: Any
    obstacles: Any
    self_contact: Any
    attachments: Any
    solver: Any
    integrator: Any
    dt: float
    gravity: Floats
    force: Any


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """A moment of a simulation: all that the steps after it depend on, and its settings.

    ``sim.snapshot()`` makes one and ``sim.restore(snapshot)`` goes back to it, any number of times,
    in this simulation or in another one of the same mesh. Its size is that of the state and, where
    the solver keeps a factorization, of the matrix that was factorized, which snapshots share.
    """

    settings: Settings
    time: float
    """[s]"""
    u: Floats
    v: Floats
    now: State | None
    before: State | None
    values: dict[str, Any]
    """What else the simulation keeps from step to step."""
    terms: Any
    """Contacts, and shapes that were looked at."""
    solver: Any
    """What the solver keeps of earlier stages; None if it has solved none."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(at {self.time:.6g} s of {self.settings.body!r})"

    def check(self, body: ElasticBody) -> None:
        """Stop where it is of another body than this or one with its mesh."""
        check_same_mesh("this snapshot is of", self.settings.body, body)


def check_same_mesh(what: str, body: ElasticBody, here: ElasticBody) -> None:
    """Stop where a body has other vertices or cells than that of a simulation."""
    if body is here:
        return
    ours, its = ((each.parts if isinstance(each, BodyGroup) else [each]) for each in (here, body))
    if type(body) is not type(here) or len(its) != len(ours) or not all(map(_alike, its, ours)):
        raise InputError(
            f"{what} {body!r}, this simulation of {here!r}: vertices and cells have to be the "
            "same; start a new simulation"
        )


def _alike(one: ElasticBody, other: ElasticBody) -> bool:
    """Whether two bodies have the same vertices and cells."""
    same = type(one) is type(other) and one.mesh.vertices.shape == other.mesh.vertices.shape
    return same and np.array_equal(one.mesh.cells, other.mesh.cells)
