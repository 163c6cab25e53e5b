"""Determinant and cofactors, shared by the neo-Hookean models."""

from __future__ import annotations

from supple._kernels.compiling import pointwise


@pointwise
def cofactor(F, C):
    """C = ∂J/∂F; returns J = det F."""
    for i in range(3):
        a, b = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            c, d = (j + 1) % 3, (j + 2) % 3
            C[i, j] = F[a, c] * F[b, d] - F[a, d] * F[b, c]
    return F[0, 0] * C[0, 0] + F[0, 1] * C[0, 1] + F[0, 2] * C[0, 2]
