"""Fourth-order tensors stored as six blocks, as ``elements`` says: ``A[s, i, k] = ∂P_ij/∂F_kl``."""

from __future__ import annotations

from .compiling import pointwise


@pointwise
def contract(A, L, R):
    """L_ij (∂P_ij/∂F_kl) R_kl."""
    total = 0.0
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for k in range(3):
                    total += A[s, i, k] * L[i, j] * R[k, l]
                    if l > j:
                        total += A[s, k, i] * L[i, l] * R[k, j]
            s += 1
    return total


@pointwise
def add_outer(A, factor, L, R):
    """∂P_ij/∂F_kl += factor L_ij R_kl; all such terms together must be symmetric."""
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for k in range(3):
                    A[s, i, k] += factor * L[i, j] * R[k, l]
            s += 1


@pointwise
def add_isotropic(S, A):
    """∂P_ij/∂F_kl += δ_ik S_jl."""
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                A[s, i, i] += S[j, l]
            s += 1
