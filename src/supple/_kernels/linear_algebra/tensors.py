"""3 × 3 matrices, and fourth-order tensors stored as six blocks.

As ``elements`` says, these are ``A[s, i, k] = ∂P_ij/∂F_kl``.
"""

from supple._kernels.compiling import pointwise


@pointwise
def expand(factor, A, D):
    """D (9, 9) = factor times A, with F_ij as entry 3i + j."""
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for k in range(3):
                    d = factor * A[s, i, k]
                    D[3 * i + j, 3 * k + l] = d
                    D[3 * k + l, 3 * i + j] = d
            s += 1


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
def add_outers(A, L, R, G):
    """∂P_ij/∂F_kl += Σ L_ij R_kl over pairs, L and R (pairs, 9) with F_ij as entry 3i + j.

    G (9, 9) is scratch.
    """
    for a in range(9):
        for b in range(9):
            G[a, b] = 0.0
        for m in range(len(L)):
            for b in range(9):
                G[a, b] += L[m, a] * R[m, b]
    s = 0
    for j in range(3):
        for l in range(j, 3):
            for i in range(3):
                for k in range(3):
                    A[s, i, k] += G[3 * i + j, 3 * k + l]
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


@pointwise
def turn_symmetric(S, V, out):
    """out = V S Vᵀ for a symmetric S, which is used up."""
    for i in range(3):
        for b in range(3):
            out[i, b] = V[i, 0] * S[0, b] + V[i, 1] * S[1, b] + V[i, 2] * S[2, b]
    for i in range(3):
        for j in range(i, 3):
            S[i, j] = out[i, 0] * V[j, 0] + out[i, 1] * V[j, 1] + out[i, 2] * V[j, 2]
    for i in range(3):
        for j in range(i, 3):
            out[i, j] = out[j, i] = S[i, j]


@pointwise
def cofactor(F, C):
    """C = ∂J/∂F; returns J = det F."""
    for i in range(3):
        a, b = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            c, d = (j + 1) % 3, (j + 2) % 3
            C[i, j] = F[a, c] * F[b, d] - F[a, d] * F[b, c]
    return F[0, 0] * C[0, 0] + F[0, 1] * C[0, 1] + F[0, 2] * C[0, 2]


@pointwise
def row_times(b, A):
    """bᵀ A."""
    return (
        b[0] * A[0, 0] + b[1] * A[1, 0] + b[2] * A[2, 0],
        b[0] * A[0, 1] + b[1] * A[1, 1] + b[2] * A[2, 1],
        b[0] * A[0, 2] + b[1] * A[1, 2] + b[2] * A[2, 2],
    )


@pointwise
def multiply(A, B, C):
    """C = A B."""
    for i in range(3):
        for j in range(3):
            C[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]


@pointwise
def multiply_by_transpose(A, B, C):
    """C = A Bᵀ."""
    for i in range(3):
        for j in range(3):
            C[i, j] = A[i, 0] * B[j, 0] + A[i, 1] * B[j, 1] + A[i, 2] * B[j, 2]


@pointwise
def component(U, V, D, a, b):
    """u_a·D v_b, for columns of U and V."""
    total = 0.0
    for i in range(3):
        total += U[i, a] * (D[i, 0] * V[0, b] + D[i, 1] * V[1, b] + D[i, 2] * V[2, b])
    return total


@pointwise
def cross(a, b, out):
    """out = a × b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
