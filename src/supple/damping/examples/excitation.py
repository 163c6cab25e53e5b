"""How much of each example is in a deformation, and how fast that changes (example damping, §4.2).

Examples of the whole body are seen from the frame that goes with the body, local ones from the
frame of what carries their part, each with the mass of its part alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.core.errors import InputError
from supple.core.sparse import interleaved
from supple.core.types import Bools, Floats
from supple.damping.examples.bends import Bends
from supple.damping.examples.deformation import Example, label_of
from supple.damping.examples.frames import (
    Frame,
    Pose,
    frame_of_body,
    frame_of_part,
    rigid_fields,
)

_ALIKE = 1e-10  # examples this close to a combination of the others cannot be told apart
_RIGID = 1e-10  # share of an example, squared in mass, beside rigid motion that counts as none


class Displaced(Protocol):
    """A body at displacements u (n, 3), such as a ``Shape``."""

    @property
    def u(self) -> Floats: ...

    @property
    def known(self) -> dict[Any, Any]: ...


@dataclass(frozen=True, eq=False)
class At:
    """Displacements (n, 3) alone."""

    u: Floats
    known: dict[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Group:
    """Examples that are seen from one frame."""

    members: tuple[int, ...]
    frame: Frame | None
    duals: Floats
    """D with χ = D u' (g, 3n), the mass-weighted least-squares excitations."""
    about: Floats
    """The shape (n, 3) that excitations are counted from, as the frame sees it."""

    def amounts(self, field: Floats) -> Floats:
        """D times a field (n, 3) that the frame sees, (g,)."""
        found: Floats = self.duals @ field.ravel()
        return found


class Excitations:
    """The examples (k, n, 3) on the free components of a body, and what is in a motion of them."""

    def __init__(
        self, body: ElasticBody, examples: Sequence[Example], about: Floats | None
    ) -> None:
        self.body, self._examples = body, tuple(examples)
        self.shapes, parts = shapes_on(body, examples)
        self._about = np.zeros_like(body.mesh.vertices) if about is None else about
        self.frame = frame_of_body(body)
        """That of the whole body, if it goes anywhere."""
        self._about_body = self._seen(self.frame, self._about)
        check_apart(self.shapes, _times_mass(body, self.shapes))
        self.groups = [self._group(parts, members) for members in _alike(parts)]
        self._bends = Bends.of(
            self._examples, lambda y: np.where(body.free, y, 0.0), body.mesh.vertices.shape
        )
        turns = any(group.frame is not None for group in self.groups)
        self.follows = turns or self._bends is not None
        """Whether the examples are others at other shapes."""

    def _group(self, parts: Sequence[Bools | None], members: Sequence[int]) -> Group:
        body, part = self.body, parts[members[0]]
        frame = self.frame if part is None else frame_of_part(body, part)
        X = self.shapes[list(members)]
        inside = np.ones(body.n_vertices, dtype=bool) if part is None else part
        if frame is not None and frame.is_of_mass:  # rigid motion is what this frame does not see
            X = self._without_rigid(X, members, inside)
            momenta = np.where(inside[:, None], _times_mass(body, X), 0.0)
        else:
            momenta = np.where(inside[:, None] & body.free, _times_mass(body, X), 0.0)
        seen = [i for i, x in enumerate(X) if x.any()]
        duals = np.zeros((len(members), X[0].size))
        numbers = [members[i] for i in seen]
        found = excitation_duals(X[seen], momenta[seen], numbers)
        duals[seen] = found.reshape(len(seen), X[0].size)
        return Group(tuple(members), frame, duals, self._seen(frame, self._about))

    def _without_rigid(self, X: Floats, members: Sequence[int], inside: Bools) -> Floats:
        """Examples without their share in rigid motions, in the product of the mass."""
        Z = rigid_fields(self.body, inside)
        MZ = np.where(inside[:, None], _times_mass(self.body, Z), 0.0)
        rows = len(Z), -1
        gram = Z.reshape(rows) @ MZ.reshape(rows).T
        found = []
        for i, x in zip(members, X, strict=True):
            amounts = np.linalg.lstsq(gram, MZ.reshape(rows) @ x.ravel(), rcond=1e-12)[0]
            rest = x - np.tensordot(amounts, Z, 1)
            size, left = (float(np.vdot(y, self.body.mass_times(y))) for y in (x, rest))
            if left <= _RIGID * size:
                if not self._examples[i].curve.is_constant:
                    raise InputError(
                        f"example {label_of(self._examples, i)} moves the body as one, which its "
                        "own frame does not see: there is no excitation for a curve to follow; "
                        "give it a constant"
                    )
                rest = np.zeros_like(x)
            found.append(rest)
        return np.reshape(found, X.shape)

    def _seen(self, frame: Frame | None, u: Floats) -> Floats:
        return u if frame is None else frame.displacements(u, frame.pose(u))

    # -- at a shape --------------------------------------------------------------------------

    def pose(self, frame: Frame, shape: Displaced) -> Pose:
        """Where a frame is at a shape; worked out once."""
        if frame not in shape.known:
            shape.known[frame] = frame.pose(shape.u)
        found: Pose = shape.known[frame]
        return found

    def is_as_given(self, shape: Displaced) -> bool:
        """Whether the examples are there as they are given, neither bent nor turned."""
        frames = (group.frame for group in self.groups)
        return self._bends is None and not any(
            frame is not None and self.pose(frame, shape).is_turned for frame in frames
        )

    def at(self, shape: Displaced) -> Floats:
        """The examples (k, n, 3), interleaved, bent with the body and turned with their frames."""
        if self.is_as_given(shape):
            return self.interleaved
        X = self.shapes.copy()
        if self._bends is not None:
            X = self._bends.tangents(X, self.excitations(shape))
        for group in self.groups:
            if group.frame is not None:
                rows = list(group.members)
                X[rows] = group.frame.turned(X[rows], self.pose(group.frame, shape))
        if self._is_partly_held:
            X = np.where(self.body.free, X, 0.0)
        return interleaved(X)

    @cached_property
    def interleaved(self) -> Floats:
        """The examples as they are given."""
        return interleaved(self.shapes)

    @cached_property
    def _is_partly_held(self) -> bool:
        free = self.body.free
        return bool((free.any(axis=1) & ~free.all(axis=1)).any())

    def excitations(self, shape: Displaced) -> Floats:
        """χ (k,)."""
        chi = np.zeros(len(self.shapes))
        for group in self.groups:
            if group.frame is None:
                seen = shape.u - group.about
            else:
                pose = self.pose(group.frame, shape)
                seen = group.frame.displacements(shape.u, pose) - group.about
            chi[list(group.members)] = group.amounts(seen)
        return chi

    def rates(self, shape: Displaced, v: Floats) -> Floats:
        """χ̇ (k,) [1/s] at velocities v (n, 3)."""
        rate = np.zeros(len(self.shapes))
        for group in self.groups:
            seen = v
            if group.frame is not None:
                pose = self.pose(group.frame, shape)
                seen = group.frame.velocities(shape.u, v, pose)
            rate[list(group.members)] = group.amounts(seen)
        return rate

    def displacement(self, shape: Displaced) -> float:
        """‖u‖ (Eq. 17) [m]: the root of the mean square over the mass, seen from the body."""
        u = shape.u
        if self.frame is not None:
            u = self.frame.displacements(u, self.pose(self.frame, shape))
        u = u - self._about_body
        square = float(np.vdot(u, self.body.mass_times(u))) / self.body.total_mass
        return float(np.sqrt(max(square, 0.0)))


def _alike(parts: Sequence[Bools | None]) -> list[list[int]]:
    """The examples of each part, by their numbers."""
    groups: dict[bytes, list[int]] = {}
    for i, part in enumerate(parts):
        groups.setdefault(b"" if part is None else part.tobytes(), []).append(i)
    return list(groups.values())


def _times_mass(body: ElasticBody, X: Floats) -> Floats:
    return np.reshape([body.mass_times(x) for x in X], X.shape)


def shapes_on(
    body: ElasticBody, examples: Sequence[Example]
) -> tuple[Floats, tuple[Bools | None, ...]]:
    """The examples (k, n, 3) on the free components of a body, and the vertices (n,) of each."""
    given = [body.checked("an example", example.shape) for example in examples]
    parts = tuple(example.vertices_of(body) for example in examples)
    return np.where(body.free, np.reshape(given, (-1, body.n_vertices, 3)), 0.0), parts


def plain_duals(body: ElasticBody, examples: Sequence[Example]) -> tuple[Floats, Floats]:
    """The examples on the free components of a body, and their duals, (k, n, 3) each.

    These are of a body that stays where it is: what frames see is left out.
    """
    X, parts = shapes_on(body, examples)
    duals = np.zeros_like(X)
    for members in _alike(parts):
        part = parts[members[0]]
        inside = body.free if part is None else body.free & part[:, None]
        momenta = np.where(inside, _times_mass(body, X[members]), 0.0)
        duals[members] = excitation_duals(X[members], momenta, members)
    return X, duals


def excitation_duals(X: Floats, MX: Floats, numbers: Sequence[int] | None = None) -> Floats:
    """D with χ = D u, the mass-weighted least-squares excitations: (XᵀMX)⁻¹ XᵀM (§4.2).

    ``X`` and ``MX`` hold one example a row, in any coordinates; ``numbers`` is what messages call
    them by.
    """
    k = len(X)
    if not k:
        return MX
    gram = check_apart(X, MX, numbers)
    duals: Floats = np.asarray(np.linalg.solve(gram, MX.reshape(k, -1)), dtype=float)
    return duals.reshape(MX.shape)


def check_apart(X: Floats, MX: Floats, numbers: Sequence[int] | None = None) -> Floats:
    """XᵀMX (k, k). Stops where an example moves nothing, or is a combination of others."""
    k = len(X)
    gram: Floats = X.reshape(k, -1) @ MX.reshape(k, -1).T if k else np.zeros((0, 0))
    if not k:
        return gram
    called = range(k) if numbers is None else numbers
    scale = np.sqrt(np.diag(gram))
    if not (scale > 0).all():
        still = called[int(np.argmin(scale))]
        raise InputError(f"example {still} moves nothing that is free to move")
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    if values[0] < _ALIKE:
        worst = np.sort(np.argsort(-np.abs(vectors[:, 0]))[:2])
        listed = " and ".join(str(called[i]) for i in worst)
        raise InputError(
            f"examples {listed} are alike, or one is a combination of others; leave one out"
        )
    return gram
