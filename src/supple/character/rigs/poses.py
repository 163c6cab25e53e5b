"""Checks that rigs share."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.core.errors import InputError
from supple.core.types import Floats


def one_pose(pose: Any, size: int) -> Floats:
    """A pose of ``size`` numbers as an array (size,)."""
    p = np.atleast_1d(np.asarray(pose, dtype=float))
    if p.shape != (size,):
        raise InputError(f"the pose has shape {p.shape}; this rig takes ({size},)")
    return p
