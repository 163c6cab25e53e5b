"""Dampings of a reduced model that have no closed form: laws at m points (``law_call``).

A density r of dissipation, at F = I + Σ_i q_i ∇φ_i and Ḟ = Σ_i v_i ∇φ_i, gives

    force = Σ_p w Gᵀ ∂r/∂Ḟ        C = Σ_p w Gᵀ (∂²r/∂Ḟ²) G

Laws that examples scale are linear in the velocity, and in B; all others are beside it. C takes
twice as long as the force or more, and is little beside mass and stiffness. That of laws beside B
is therefore kept, from step to step, and made anew where Newton's method converges slowly with it,
or took longer than with a new one. What is converged to depends on forces alone.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.experimental import structref

from supple._kernels.compiling import inner_kernel, kernel
from supple._kernels.damping.law_call import add_law_at
from supple._kernels.reduction.newton import find_rates
from supple._kernels.reduction.points import (
    add_columns,
    evaluate_materials,
    multiply_rows,
    sum_tangent,
    trace_of,
)
from supple._kernels.reduction.polynomial import ONE, ZERO

_ROWS = np.uint64(9)
SLOW = 0.1  # share of the correction before that is left by one that converges slowly
OLDEST = 16.0  # steps with one matrix

# places in ``PointLaws.made``
AGE, FRESH, NEW = range(3)


class PointLaws(NamedTuple):
    """l laws at m points in r coordinates, and room to evaluate them.

    Volumes [m³], stresses [Pa]; G is that of a mass-orthonormal basis.
    """

    addresses: np.ndarray  # (l,)
    base: int  # so many of them, the first ones, are what examples scale
    coefficients: np.ndarray  # (l, 6, m)
    numbers: np.ndarray  # (l, k)
    G: np.ndarray  # (9 m, r) ∂φ_i/∂X_j, rows in the order of F
    volumes: np.ndarray  # (m,) times weights
    lam: np.ndarray  # (m,)
    mu: np.ndarray  # (m,)
    materials: np.ndarray  # (groups,) their addresses; none where no law asks for elasticity
    starts: np.ndarray  # (groups + 1,) where their points begin
    F: np.ndarray  # (m, 1, 3, 3)
    rate: np.ndarray  # (m, 1, 3, 3) Ḟ [1/s]
    psi: np.ndarray  # (m, 1)
    P: np.ndarray  # (m, 1, 3, 3) elastic
    A: np.ndarray  # (m, 1, 6, 3, 3) elastic
    density: np.ndarray  # (m, 1) r [W/m³]
    stress: np.ndarray  # (m, 1, 3, 3) ∂r/∂Ḟ
    derivative: np.ndarray  # (m, 1, 6, 3, 3) ∂²r/∂Ḟ² [Pa s]
    D: np.ndarray  # (9, 9) scratch
    T: np.ndarray  # (9 AT_ONCE, padded r) products of a few points
    C: np.ndarray  # (r, padded r) lower triangle
    kept: np.ndarray  # (r, padded r) C of the laws beside B; a part of the state
    made: np.ndarray  # (3,) steps with it, or 0 if it is to be made; iterations of the last step
    # that began with a new one; whether this one did. A part of the state too


@structref.register
class LawContextType(types.StructRef):
    """For Numba."""


class LawContext(structref.StructRefProxy):
    """PointLaws, behind one pointer."""


_define: Any = structref.define_proxy
_define(LawContext, LawContextType, ["laws"])
_make: Any = LawContext


@kernel
def law_context(laws):
    """Laws behind one pointer."""
    return _make(laws)


@inner_kernel
def strain_laws(x, v, laws):
    """F and Ḟ, and the elastic stress and its derivative if they are asked for."""
    F = laws.F.reshape(-1)
    multiply_rows(laws.G, x, F)
    multiply_rows(laws.G, v, laws.rate.reshape(-1))
    for i in range(ZERO, np.uint64(len(F)), _ROWS):
        F[i] += 1.0
        F[i + np.uint64(4)] += 1.0
        F[i + np.uint64(8)] += 1.0
    evaluate_materials(laws, 2)


@inner_kernel
def evaluate_laws(first, last, order, laws):
    """Stress, and derivative if ``order`` is two, of some laws, as the points are strained."""
    laws.stress[:] = 0.0
    if order >= 2:
        laws.derivative[:] = 0.0
    for l in range(first, last):
        add_law_at(
            laws.addresses[l], laws.F, laws.rate, laws.P, laws.A, laws.coefficients[l],
            laws.numbers[l], laws.density, laws.stress, laws.derivative, order, 1.0, False,
        )  # fmt: skip


@inner_kernel
def add_law_forces(laws, R):
    """R += Σ_p w Gᵀ ∂r/∂Ḟ of the laws that were evaluated last."""
    stress, volumes = laws.stress.reshape(-1), laws.volumes
    at = ZERO
    for p in range(np.uint64(len(volumes))):
        for i in range(_ROWS):
            stress[at + i] *= volumes[p]
        at += _ROWS
    add_columns(laws.G, stress, R)


@inner_kernel
def add_law_matrix(factor, laws, K):
    """K += factor · C of the laws that were evaluated last, lower triangle."""
    C = laws.C
    sum_tangent(laws.G, laws.derivative, laws.volumes, laws.D, laws.T, C)
    for i in range(np.uint64(C.shape[0])):
        for j in range(i + ONE):
            K[i, j] += factor * C[i, j]


@inner_kernel
def sum_laws(first, last, laws, R):
    """R += the force of some laws and ``laws.C`` = their matrix, as the points are strained."""
    evaluate_laws(first, last, 2, laws)
    add_law_forces(laws, R)
    sum_tangent(laws.G, laws.derivative, laws.volumes, laws.D, laws.T, laws.C)


@inner_kernel
def add_base_laws(laws, has_rate, B):
    """B += C of the laws that examples scale, or = where there is no B yet; lower triangle."""
    if not has_rate:
        B[:] = 0.0
    evaluate_laws(0, laws.base, 2, laws)
    add_law_matrix(1.0, laws, B)


@inner_kernel
def add_forces_beside(laws, R):
    """R += the force of the laws that are not."""
    if laws.base < len(laws.addresses):
        evaluate_laws(laws.base, len(laws.addresses), 1, laws)
        add_law_forces(laws, R)


@inner_kernel
def add_tangent_beside(c_v, laws, K):
    """K += c_v C of these; returns the trace of what was added at the points."""
    added = 0.0
    if laws.base < len(laws.addresses):
        evaluate_laws(laws.base, len(laws.addresses), 2, laws)
        add_law_matrix(c_v, laws, K)
        added = c_v * trace_of(laws.derivative, laws.volumes)
    return added


@inner_kernel
def add_laws(c_v, c_a, has_rate, renew, laws, balance):
    """All laws at x in a stage: to B, or to R and K. ``renew``: the matrix that is kept, too."""
    find_rates(balance, c_v, c_a)
    strain_laws(balance.x, balance.v, laws)
    if laws.base > 0:
        add_base_laws(laws, has_rate, balance.B)
    if laws.base < len(laws.addresses):
        C, K = laws.kept, balance.K
        evaluate_laws(laws.base, len(laws.addresses), 2 if renew else 1, laws)
        add_law_forces(laws, balance.R)
        if renew:
            sum_tangent(laws.G, laws.derivative, laws.volumes, laws.D, laws.T, C)
        for i in range(np.uint64(len(balance.x))):
            for j in range(i + ONE):
                K[i, j] += c_v * C[i, j]


@inner_kernel
def begin_step_of_laws(laws):
    """Whether a step should begin with a new matrix."""
    made = laws.made
    made[NEW] = 1.0 if made[AGE] == 0.0 or made[AGE] >= OLDEST else 0.0
    return made[NEW] != 0.0


@inner_kernel
def end_step_of_laws(iterations, done, laws):
    """Notes what a step took; one that failed, or took longer than need be, wants a new matrix."""
    made = laws.made
    made[AGE] = 1.0 if made[NEW] != 0.0 else made[AGE] + 1.0
    if made[NEW] != 0.0:
        made[FRESH] = iterations
    elif iterations > made[FRESH]:
        made[AGE] = 0.0
    if not done:
        made[AGE] = 0.0
