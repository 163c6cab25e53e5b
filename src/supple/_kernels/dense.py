"""Small dense symmetric systems, solved inside other kernels.

LAPACK needs a call through the interpreter, or arrays made anew, for each system; at the few
dozen unknowns of a reduced model that costs as much as the solution.
"""

import numpy as np

from .compiling import reordering_kernel
from .polynomial import ONE


@reordering_kernel
def solve_symmetric(A, b):
    """Overwrites b with A⁻¹ b; returns False where A is not positive definite.

    Uses the upper triangle of A and overwrites it with the factors of A = UᵀDU.
    """
    r = np.uint64(len(b))
    for k in range(r):
        pivot = A[k, k]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / pivot
        A[k, k] = inverse
        bk = b[k]
        for i in range(k + ONE, r):
            factor = A[k, i] * inverse
            for j in range(i, r):
                A[i, j] -= factor * A[k, j]
            b[i] -= factor * bk
    for back in range(r):
        k = r - ONE - back
        x = b[k]
        for i in range(k + ONE, r):
            x -= A[k, i] * b[i]
        b[k] = x * A[k, k]
    return True
