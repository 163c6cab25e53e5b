"""Array types and callbacks that the whole package shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

Progress = Callable[[int, int, str], Any]
"""``progress(done, total, what)``; the library reports through it and never prints."""
