"""Local examples in few coordinates: each seen from what carries its part, as in full space.

The frame of a part is the best rigid fit to its surroundings, x ≈ R (X − X_c) + x_c. With
u = Σ q_i φ_i the moments that R is found from and the centre x_c are linear in q, and so is what
the duals D of the examples see of x − x_c before it is turned back by R:

    A(q) = A₀ + Σ q_i A_i = R S        T_ab(q) = Σ_n D_na (x − x_c)_nb        χ = R : T(q)ᵀ − χ₀

An example turned by R is Σ R_ab Z_ab, Z_ab the coordinates of its component b along axis a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.core.types import Floats, Ints
from supple.damping.examples.deformation import Example
from supple.damping.examples.excitation import Excitations, Group
from supple.reduction.model import ReducedModel

_PERMUTED = np.zeros((3, 3, 3))  # ε_abc
for _a, _b, _c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _PERMUTED[_a, _b, _c], _PERMUTED[_a, _c, _b] = 1.0, -1.0


@dataclass(frozen=True, eq=False)
class LocalExamples:
    """g examples of one part, in r coordinates."""

    members: Ints
    """Their places among all examples, (g,)."""
    moments: Floats
    """A₀, then A_i, (1 + r, 3, 3)."""
    seen: Floats
    """T of the rest shape, then of each φ_i, (1 + r, g, 3, 3)."""
    offset: Floats
    """χ₀, (g,)."""
    shapes: Floats
    """Z, (g, 3, 3, r)."""
    moves: bool
    """Whether something carries the part that can move; else R = I."""
    turns: bool

    @classmethod
    def of(cls, group: Group, body: ElasticBody, shapes: Floats, model: ReducedModel) -> Self:
        """The examples (g, n, 3) of a group of ``Excitations``."""
        frame, D = group.frame, group.duals.reshape(len(group.members), -1, 3)
        X, vectors = body.mesh.vertices, model.vectors
        away, fields = X.copy(), vectors
        moments = np.zeros((1 + len(vectors), 3, 3))
        if frame is None:
            away = np.zeros_like(X)
        else:
            away = X - frame.rest_centre
            fields = vectors - np.array([frame.centre_of(phi) for phi in vectors])[:, None]
            all_shapes = np.concatenate([X[None], vectors])[:, frame.vertices]
            moments = np.einsum("wni,nj->wij", all_shapes, frame.arms)
        seen = np.einsum("gna,wnb->wgab", D, np.concatenate([away[None], fields]))
        offset = np.einsum("gna,na->g", D, away + group.about)
        Z = np.empty((len(D), 3, 3, model.size))
        for g, x in enumerate(shapes):
            for a in range(3):
                for b in range(3):
                    along = np.where(body.free, np.outer(x[:, b], np.eye(3)[a]), 0.0)
                    Z[g, a, b] = model.coordinates(along)
        turns = frame is not None and frame.turns
        return cls(np.array(group.members), moments, seen, offset, Z, frame is not None, turns)

    def rotation(self, q: Floats) -> tuple[Floats, Floats]:
        """R and S at q."""
        if not self.turns:
            return np.eye(3), np.eye(3)
        A = self.moments[0] + np.tensordot(q, self.moments[1:], 1)
        left, _, right = np.linalg.svd(A)
        flip = np.array([1.0, 1.0, np.sign(np.linalg.det(left) * np.linalg.det(right))])
        R = (left * flip) @ right
        return R, R.T @ A

    def turned(self, q: Floats) -> Floats:
        """Coordinates of the examples, turned with their frame, (g, r)."""
        R, _ = self.rotation(q)
        return np.asarray(np.einsum("ab,gabr->gr", R, self.shapes))

    def excitations(self, q: Floats) -> Floats:
        """χ (g,)."""
        R, _ = self.rotation(q)
        return np.asarray(np.einsum("ba,gab->g", R, self._seen(q)) - self.offset)

    def rates(self, q: Floats) -> Floats:
        """χ̇ = rows · q̇, (g, r)."""
        R, S = self.rotation(q)
        rows = np.einsum("ba,rgab->gr", R, self.seen[1:])
        if self.turns:
            # A = R S with S symmetric: (tr S I − S) ω = the axis of RᵀȦ − ȦᵀR
            B = R.T @ self.moments[1:]
            axis = np.einsum("acb,rbc->ra", _PERMUTED, B)
            omega = np.linalg.lstsq(np.trace(S) * np.eye(3) - S, axis.T, rcond=1e-12)[0]  # (3, r)
            # − D · (ω × (x − x_c) R)
            rows -= np.einsum("abc,br,gac->gr", _PERMUTED, omega, self._seen(q) @ R)
        return np.asarray(rows)

    def _seen(self, q: Floats) -> Floats:
        return np.asarray(self.seen[0] + np.tensordot(q, self.seen[1:], 1))


def local_examples(
    examples: Sequence[Example], about: Floats | None, model: ReducedModel
) -> tuple[LocalExamples, ...]:
    """Those of the examples that are local, part by part."""
    body = model.body
    assert body is not None  # who asks has seen to that
    motion = Excitations(body, examples, about)
    return tuple(
        LocalExamples.of(group, body, motion.shapes[list(group.members)], model)
        for group in motion.groups
        if examples[group.members[0]].is_local
    )
