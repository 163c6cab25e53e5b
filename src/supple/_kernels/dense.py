"""Small dense symmetric systems, solved inside other kernels.

Compiled code can call LAPACK's general solver only, which at the few dozen unknowns of a reduced
model takes several times as long, and makes arrays.
"""

import numpy as np

from .compiling import inlined_kernel
from .polynomial import ONE


@inlined_kernel
def solve_symmetric(A, b):
    """Overwrites b with A⁻¹ b; returns False where A is not positive definite.

    Uses the lower triangle of A and overwrites it with the factors of A = UDUᵀ, made from the last
    unknown to the first: the inner loops then run along rows.
    """
    r = np.uint64(len(b))
    definite = True
    for back in range(r):
        k = r - ONE - back
        pivot = A[k, k]
        if not pivot > 0.0:
            definite = False
            break
        inverse = 1.0 / pivot
        A[k, k] = inverse
        bk = b[k]
        for i in range(k):
            factor = A[k, i] * inverse
            b[i] -= factor * bk
            for j in range(i + ONE):
                A[i, j] -= factor * A[k, j]
    if definite:
        for i in range(r):
            x = b[i]
            for j in range(i):
                x -= A[i, j] * b[j]
            b[i] = x * A[i, i]
    return definite
