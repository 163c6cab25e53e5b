"""Damping by the strain rate in few coordinates: B(q) = ∂²/∂q̇² of ∫ β/2 Ė:C:Ė.

Green's strain is linear in z = (q, all q_i q_j), so its rate is linear in ż = J(q) q̇, and

    ∫ β/2 Ė:C:Ė = żᵀGż        B(q) = 2 J(q)ᵀ G J(q)

with the same Gram matrix G of strains that the energy U = zᵀGz of StVK is made of. G is positive
semidefinite, and so is B at every q. The stiffness is K = B + geometric part, in which the stress
is: at rest the two agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple._kernels.reduction.polynomial import RateForm, evaluate_rate, mirror
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh import VolumeMesh
from supple.reduction.polynomial import aligned, padded, pair_count, paired_rows
from supple.reduction.strain_polynomials import strain_grams

LARGEST_SIZE = 60
"""Above this the Gram matrix is of more than twenty megabytes."""


@dataclass(frozen=True, eq=False)
class StrainRateForm:
    """B(q) (r, r) from the upper triangle of a Gram matrix G (r + pairs, r + pairs) [J s]."""

    size: int
    gram: Floats

    def __add__(self, other: StrainRateForm) -> StrainRateForm:
        return StrainRateForm(self.size, self.gram + other.gram)

    @cached_property
    def lower_gram(self) -> Floats:
        """The rows of the pairs of G, (pairs, r + pairs)."""
        gram = np.triu(self.gram) + np.triu(self.gram, 1).T
        return np.ascontiguousarray(gram[self.size :])

    @cached_property
    def coefficients(self) -> tuple[Floats, Floats]:
        """Of B, entry by entry (i ≥ j): the constants (pairs,), and those of q and of q_c q_d.

        The latter are (r + pairs, pairs), with c ≥ d.
        """
        r = self.size
        i, j = np.tril_indices(r)
        gram = np.triu(self.gram) + np.triu(self.gram, 1).T
        # ∂(q_a q_b)/∂q_i: twice q_i on the diagonal
        gram[r:][i == j] *= 2.0
        gram[:, r:][:, i == j] *= 2.0
        place = np.empty((r, r), dtype=np.int64)
        place[i, j] = place[j, i] = np.arange(len(i))
        rows = np.empty((r + len(i), len(i)))
        of_q, of_pairs = gram[:r, r:], gram[r:, r:]
        for b in range(r):
            rows[b] = 2.0 * (of_q[i, place[j, b]] + of_q[j, place[i, b]])
        for row, (c, d) in enumerate(zip(i, j, strict=True)):
            both = of_pairs[place[i, c], place[j, d]] + of_pairs[place[i, d], place[j, c]]
            rows[r + row] = both if c == d else 2.0 * both
        return 2.0 * gram[i, j], rows

    def arrays(self) -> RateForm:
        """B for kernels, with room to evaluate it; one for each thread."""
        constant, rows = self.coefficients
        width = padded(len(constant), 4)
        room = (aligned(np.zeros(width)) for _ in range(3))
        return RateForm(constant, aligned(paired_rows(rows, self.size)), *room)

    @cached_property
    def _room(self) -> RateForm:
        return self.arrays()

    def matrix(self, q: Floats) -> Floats:
        """B at q, (r, r)."""
        B = np.empty((self.size, self.size))
        evaluate_rate(q, self._room, B)
        mirror(B)
        return B


NO_RATE = RateForm(**{name: np.zeros(0) for name in RateForm._fields})
"""For kernels, where no damping follows the shape."""


class StrainGrams:
    """The Gram matrices of the strains of some cells, for λ = 1 and μ = 1, made when asked for.

    ``built`` is the one for the moduli that the cells had, where they differ from cell to cell.
    ``kept`` are those for one (2, …), given where they cannot be made from the mesh: with fibres.
    """

    def __init__(
        self,
        mesh: VolumeMesh,
        vectors: Floats,
        cells: Ints,
        built: Floats | None = None,
        kept: Floats | None = None,
    ) -> None:
        self._mesh, self._vectors, self._cells = mesh, vectors, cells
        self.built, self.kept = built, kept

    @cached_property
    def _units(self) -> tuple[Floats, Floats]:
        check_size(len(self._vectors))
        if self.kept is not None:
            return self.kept[0], self.kept[1]
        return strain_grams(self._mesh, self._vectors, self._cells)

    def at(self, lam: float | None, mu: float | None) -> Floats:
        """G for these moduli [Pa], None for those that the cells had."""
        if lam is None or mu is None:
            if self.built is None:
                raise InputError(
                    "this model is from a file that does not tell the stiffness of its cells, "
                    "which differs from one to the other; make it anew with reduce(body, basis)"
                )
            return self.built
        return lam * self._units[0] + mu * self._units[1]

    def truncated(self, size: int) -> StrainGrams:
        """For the first ``size`` basis vectors."""
        r = len(self._vectors)
        kept = np.concatenate([np.arange(size), r + np.arange(pair_count(size))])
        built, units = (
            None if gram is None else gram[..., kept[:, None], kept]
            for gram in (self.built, self.kept)
        )
        return StrainGrams(self._mesh, self._vectors[:size], self._cells, built, units)


def check_size(r: int) -> None:
    """Stop before a matrix that would fill the memory."""
    if r > LARGEST_SIZE:
        raise InputError(
            f"damping that follows the strain of this model would take (r + r²/2)² numbers for "
            f"its r = {r} coordinates; give at=StiffnessAt.REST, or at most {LARGEST_SIZE}"
        )
