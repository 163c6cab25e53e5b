"""Dampings of flesh on a rig, in full space: bound to a body whose rest shape is the pose."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.bodies.solid import Body
from supple.character.tissue.posed_body import PosedBody, PosedCells
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.damping import (
    BoundDamping,
    Caughey,
    ClothDrag,
    Conserving,
    Damping,
    Drag,
    Example,
    ExampleDamping,
    MomentumConserving,
    PowerLaw,
    Rayleigh,
    SplineDamping,
    StiffnessAt,
    StrainRate,
    StrengthWarning,
    Viscous,
)
from supple.damping.sums import bound_sum


def check_for_flesh(damping: Damping) -> None:
    """Stop where a damping makes no sense for flesh that moves relative to a rig."""
    if isinstance(damping, Drag | ClothDrag):
        raise InputError(
            f"damping={damping!r}: drag is of the motion through the air, in which the rig takes "
            "part, and damping of a character is of its flesh relative to the rig; give steps of a "
            "PoseSimulation the air instead: step(pose, wind=Wind(velocity=(0, 0, 0)))"
        )
    if isinstance(damping, MomentumConserving) and damping.by is Conserving.BODY:
        raise InputError(
            "by=Conserving.BODY: the flesh of a character hangs on its bones, which take up its "
            "momentum, so that there is none of the whole to conserve; give the damping itself, or "
            "by=Conserving.CELLS"
        )
    for inner in _inside(damping):
        check_for_flesh(inner)


def listed(damping: Damping | Sequence[Damping] | None) -> list[Damping]:
    """One damping, several or none, as a list."""
    if damping is None:
        return []
    given = [damping] if isinstance(damping, Damping) else damping
    if (
        not isinstance(given, Sequence)
        or isinstance(given, str)
        or not all(isinstance(each, Damping) for each in given)
    ):
        raise InputError(
            f"damping={damping!r}: give a damping such as Rayleigh(stiffness=...), a list of "
            "dampings, or none"
        )
    return list(given)


@dataclass(frozen=True, eq=False)
class _Pose:
    """What the rig does to the body."""

    vertices: Ints
    """(k,), which of the whole mesh there are."""
    frames: Floats
    """(k, 3, 3), or none."""
    stretches: Callable[[Floats], Floats]
    """J a of directions a (cells, 3) in the neutral pose."""

    def turned(self, field: Floats) -> Floats:
        """A field (n, 3) of the whole mesh, in the frames of its vertices."""
        here = field[self.vertices]
        return np.einsum("nij,nj->ni", self.frames, here) if len(self.frames) else here


class PosedDamping:
    """Dampings at work on flesh, and the body that they see."""

    def __init__(self, dampings: Sequence[Damping], neutral: Body, cells: PosedCells) -> None:
        for each in dampings:
            check_for_flesh(each)
            if isinstance(each, ExampleDamping):
                check_examples(each)
        masses = neutral.mass_times(np.ones((neutral.n_vertices, 3)))[cells.vertices, 0]
        self.body = PosedBody(neutral, cells, masses)
        self._dampings, self._neutral, self._cells = tuple(dampings), neutral, cells
        self._follows = any(map(_follows_pose, dampings))
        self._turns = any(map(_turns, dampings))
        edges = neutral.mesh.vertices[cells.nodes]
        self._back = np.linalg.inv((edges[:, 1:] - edges[:, :1]).swapaxes(1, 2))
        self.bound: BoundDamping | None = None
        """All of them, in the pose that was taken."""

    def take_pose(self, x: Floats, frames: Floats) -> None:
        """After ``PosedCells.take_pose``: the vertices are at x (k, 3), in these frames."""
        self.body.mesh.vertices[:] = x
        again = self._follows or (self._turns and len(frames))
        if not self._dampings or (self.bound is not None and not again):
            return
        pose = _Pose(self._cells.vertices, frames, self._stretches(x))
        with warnings.catch_warnings():
            if self.bound is not None:  # which was said when it was first bound
                warnings.simplefilter("ignore", StrengthWarning)
            bound = [_posed(each, pose).bind(self.body) for each in self._dampings]
        self.bound = bound_sum(self.body, bound)

    def _stretches(self, x: Floats) -> Callable[[Floats], Floats]:
        def carried(directions: Floats) -> Floats:
            found = np.array(np.broadcast_to(directions, (self._neutral.n_cells, 3)))
            live = self._cells.live
            edges = x[self._cells.nodes]
            J = (edges[:, 1:] - edges[:, :1]).swapaxes(1, 2) @ self._back
            found[live] = np.einsum("eij,ej->ei", J, found[live])
            return found

        return carried


def _inside(damping: Damping) -> tuple[Damping, ...]:
    """The dampings that one is made of."""
    if isinstance(damping, ExampleDamping):
        return damping.bases
    if isinstance(damping, MomentumConserving):
        return damping.models
    if isinstance(damping, SplineDamping):
        return (damping.base,)
    return (damping.of,) if isinstance(damping, PowerLaw) and damping.of is not None else ()


def _follows_pose(damping: Damping) -> bool:
    """Whether it has something of the rest shape that is another in every pose."""
    if isinstance(damping, Caughey):
        return True
    if isinstance(damping, Rayleigh):
        return damping.at is StiffnessAt.REST
    if isinstance(damping, StrainRate):
        return damping.direction is not None
    return any(map(_follows_pose, _inside(damping)))


def _turns(damping: Damping) -> bool:
    """Whether it has something that turns with the frames of vertices."""
    own = isinstance(damping, ExampleDamping | Viscous)
    return own or any(map(_turns, _inside(damping)))


def _posed(damping: Damping, pose: _Pose) -> Damping:
    """A damping of the whole neutral body as one of the cells in a pose."""
    if isinstance(damping, Viscous):
        return Viscous(_posed_matrix(damping.matrix, pose))
    if isinstance(damping, StrainRate) and damping.direction is not None:
        return replace(damping, direction=pose.stretches(np.asarray(damping.direction)))
    if isinstance(damping, ExampleDamping):
        examples = [_posed_example(example, pose) for example in damping.examples]
        bases = [_posed(base, pose) for base in damping.bases]
        about = None if damping.about is None else pose.turned(damping.about)
        return replace(damping, base=bases, examples=examples, about=about)
    if isinstance(damping, MomentumConserving):
        return replace(damping, damping=[_posed(each, pose) for each in damping.models])
    if isinstance(damping, SplineDamping):
        return replace(damping, base=_posed(damping.base, pose))
    if isinstance(damping, PowerLaw) and damping.of is not None:
        return replace(damping, of=_posed(damping.of, pose))
    return damping


def check_examples(damping: ExampleDamping) -> None:
    """Stop at local examples."""
    if any(example.is_local for example in damping.examples):
        raise InputError(
            "examples of a character go with its rig, whatever part they move; give them without "
            "region="
        )


def _posed_example(example: Example, pose: _Pose) -> Example:
    return example.with_shape(pose.turned(example.shape))


def _posed_matrix(matrix: Any, pose: _Pose) -> Any:
    """A matrix (3n, 3n) on the vertices of a pose, its axes turned with their frames."""
    import scipy.sparse as sparse  # slow to import, and not there where models only run

    rows = (3 * pose.vertices[:, None] + np.arange(3)).ravel()
    here = sparse.csr_array(matrix[rows][:, rows])
    if len(pose.frames):
        k = len(pose.frames)
        turn = sparse.bsr_array(
            (np.ascontiguousarray(pose.frames), np.arange(k), np.arange(k + 1)),
            shape=(3 * k, 3 * k),
        )
        here = turn @ here @ turn.T
    return here
