"""Damping by the strain rate in few coordinates: B(q) = ∂²/∂q̇² of ∫ β/2 Ė:C:Ė.

Green's strain is linear in z = (q, all q_i q_j), so its rate is linear in ż = J(q) q̇, and

    ∫ β/2 Ė:C:Ė = żᵀGż        B(q) = 2 J(q)ᵀ G J(q)

with the same Gram matrix G of strains that the energy U = zᵀGz of StVK is made of. G is positive
semidefinite, and so is B at every q. The stiffness is K = B + geometric part, in which the stress
is: at rest the two agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property

import numpy as np

from supple._kernels.reduction.polynomial import RateForm, evaluate_rate, mirror
from supple.core.errors import InputError
from supple.core.memory import aligned_room, rooms_apart
from supple.core.types import Floats, Ints
from supple.mesh import VolumeMesh
from supple.reduction.polynomial import padded, pair_count, paired_rows
from supple.reduction.strain_polynomials import strain_grams

LARGEST_SIZE = 80
"""Above this the Gram matrix is of more than eighty megabytes."""


class StrainRateForm:
    """B(q) (r, r) of a Gram matrix G (r + pairs, r + pairs) [J s], given by its upper triangle.

    Or of a sum of others, each with a factor: what takes long to make is then shared with them.
    """

    def __init__(
        self,
        size: int,
        gram: Floats | None = None,
        terms: Sequence[tuple[float, StrainRateForm]] = (),
    ) -> None:
        self.size = size
        self._gram, self._terms = gram, tuple(terms)
        self._stacks: dict[tuple[str, tuple[StrainRateForm, ...]], Floats] = {}

    def __add__(self, other: StrainRateForm) -> StrainRateForm:
        return StrainRateForm(self.size, terms=[(1.0, self), (1.0, other)])

    @cached_property
    def gram(self) -> Floats:
        """G, symmetric."""
        if self._gram is None:
            return self._sum([form.gram for _, form in self._terms])
        return np.triu(self._gram) + np.triu(self._gram, 1).T

    @cached_property
    def leaves(self) -> tuple[Floats, tuple[StrainRateForm, ...]]:
        """Factors (k,) and forms with a Gram matrix of their own, of which this is the sum."""
        if self._gram is not None:
            return np.ones(1), (self,)
        factors: dict[StrainRateForm, float] = {}
        for factor, form in self._terms:
            for inner, leaf in zip(*form.leaves, strict=True):
                factors[leaf] = factors.get(leaf, 0.0) + factor * inner
        return np.array(list(factors.values())), tuple(factors)

    def lower_grams(self) -> tuple[Floats, Floats]:
        """The rows of the pairs of G as a sum: factors (k,) and matrices (k, pairs, r + pairs).

        They are asked for in few steps and are larger than all else, so an edit of the material
        changes the factors alone.
        """
        return self._stacked("lower_grams", lambda leaf: leaf.gram[leaf.size :])

    def _stacked(
        self, name: str, part: Callable[[StrainRateForm], Floats]
    ) -> tuple[Floats, Floats]:
        """Factors (k,) and ``part`` of the leaves (k, ...), which other sums of them share."""
        factors, leaves = self.leaves
        kept, key = leaves[0]._stacks, (name, leaves)
        if key not in kept:
            first = part(leaves[0])
            stack = aligned_room(len(leaves) * first.size).reshape(len(leaves), *first.shape)
            for n, leaf in enumerate(leaves):
                stack[n] = part(leaf)
            kept[key] = stack
        return factors, kept[key]

    @cached_property
    def constant(self) -> Floats:
        """B at rest, entry by entry (i ≥ j), (pairs,)."""
        if self._gram is None:
            factors, parts = self._stacked("constant", lambda leaf: leaf.constant)
            return np.asarray(factors @ parts)
        return 2.0 * self.gram[np.tril_indices(self.size)]

    @cached_property
    def rows(self) -> Floats:
        """Coefficients of the entries of B in q and in the products q_c q_d, (r + pairs, pairs)."""
        if self._gram is None:
            return self._sum([form.rows for _, form in self._terms])
        return self._own_rows()

    def _own_rows(self) -> Floats:
        r = self.size
        i, j = np.tril_indices(r)
        gram = self.gram.copy()
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
        return rows

    @cached_property
    def packed(self) -> Floats:
        """The same in the layout of the kernels."""
        factors, parts = self._stacked(
            "packed", lambda leaf: paired_rows(leaf._own_rows(), leaf.size)
        )
        return np.dot(factors, parts, out=aligned_room(parts.shape[1]))

    def _sum(self, arrays: list[Floats]) -> Floats:
        factors = [factor for factor, _ in self._terms]
        total: Floats = sum(
            (factor * array for factor, array in zip(factors[1:], arrays[1:], strict=True)),
            factors[0] * arrays[0],
        )
        return total

    def arrays(self, instead: RateForm | None = None) -> RateForm:
        """B for kernels, with room to evaluate it; one for each thread.

        The room is that of the one which it is used ``instead`` of, if that is as large.
        """
        width = padded(len(self.constant), 4)
        if instead is not None and len(instead.qq) == width:
            return instead._replace(P=self.constant, rows=self.packed)
        return RateForm(self.constant, self.packed, *rooms_apart(*[(width,)] * 3))

    def matrix(self, q: Floats) -> Floats:
        """B at q, (r, r)."""
        B = np.empty((self.size, self.size))
        if q.any():
            evaluate_rate(q, self.arrays(), B)
        else:
            B[_lower(self.size)] = self.constant
        mirror(B)
        return B


@cache
def _lower(size: int) -> tuple[Ints, ...]:
    """The places of the entries of a lower triangle."""
    return np.tril_indices(size)


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
    def _units(self) -> tuple[StrainRateForm, StrainRateForm]:
        r = len(self._vectors)
        check_size(r)
        if self.kept is not None:
            of_lam, of_mu = self.kept
        else:
            of_lam, of_mu = strain_grams(self._mesh, self._vectors, self._cells)
        return StrainRateForm(r, of_lam), StrainRateForm(r, of_mu)

    @cached_property
    def _built_form(self) -> StrainRateForm:
        if self.built is None:
            raise InputError(
                "this model is from a file that does not tell the stiffness of its cells, "
                "which differs from one to the other; make it anew with reduce(body, basis)"
            )
        return StrainRateForm(len(self._vectors), self.built)

    def terms(
        self, factor: float, lam: float | None, mu: float | None
    ) -> list[tuple[float, StrainRateForm]]:
        """Of ``factor`` times the form for these moduli [Pa], None for those the cells had."""
        if lam is None or mu is None:
            return [(factor, self._built_form)]
        return [(factor * lam, self._units[0]), (factor * mu, self._units[1])]

    def transformed(self, T: Floats) -> StrainGrams:
        """For the vectors Σ_i T_ij φ_i, T (r, s)."""
        r, s = T.shape
        i, j = np.tril_indices(r)
        k, l = np.tril_indices(s)
        # q_i q_j = Σ T_ik T_jl p_k p_l
        pairs = T[i][:, k] * T[j][:, l] + np.where(k == l, 0.0, T[i][:, l] * T[j][:, k])
        Z = np.zeros((r + len(i), s + len(k)))
        Z[:r, :s], Z[r:, s:] = T, pairs

        def turned(gram: Floats) -> Floats:
            return np.asarray(Z.T @ (np.triu(gram) + np.triu(gram, 1).T) @ Z)

        vectors = np.tensordot(T.T, self._vectors, 1)
        built = None if self.built is None else turned(self.built)
        kept = None if self.kept is None else np.array([turned(gram) for gram in self.kept])
        return StrainGrams(self._mesh, vectors, self._cells, built, kept)

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
