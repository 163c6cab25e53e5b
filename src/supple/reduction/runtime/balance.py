"""Room for the force balance of a reduced model, as its kernels want it."""

from __future__ import annotations

import numpy as np

from supple._kernels.reduction.newton import Balance
from supple.core.memory import rooms_apart
from supple.core.types import Floats
from supple.reduction.polynomial import pair_count

NO_GRAMS = np.empty((0, 0, 0))
_VECTORS = ("R", "f", "x", "x_v", "x_a", "v", "a", "delta", "force", "search")


def room_to_balance(r: int) -> Balance:
    """What a balance writes to: nothing in it is kept from step to step; the rest is empty."""
    shapes = dict.fromkeys(("B", "K", "A"), (r, r)) | dict.fromkeys(_VECTORS, (r,))
    shapes |= {"z_rate": (r + pair_count(r),), "line": (4,)}
    rooms = dict(zip(shapes, rooms_apart(*shapes.values()), strict=True))
    return Balance(**{name: rooms.get(name, NO_GRAMS) for name in Balance._fields})


def is_diagonal(matrix: Floats) -> bool:
    """Up to rounding."""
    roots = np.sqrt(np.abs(np.diag(matrix)))
    beside = np.abs(matrix - np.diag(np.diag(matrix)))
    return bool((beside <= 1e-14 * np.outer(roots, roots)).all())
