"""Anderson acceleration of a fixed-point iteration s ← g(s)."""

from __future__ import annotations

import numpy as np

from supple.core.types import Floats

_DIVERGING = 1e6  # share of a past difference that is no extrapolation any more
_OVERFLOW = 1e15  # and its square, over all numbers, is finite in single precision
_ILL_CONDITIONED = 1e-7  # share of the largest eigenvalue below which a direction is dropped


class Anderson:
    """Extrapolates from the last few iterates, in the norm ‖root · s‖.

    With residuals f = g(s) − s, the next iterate is g − ΔG θ where θ minimises ‖f − ΔF θ‖ over the
    differences of the iterates kept (type II). Where the residual grows by more than
    ``growth_limit``, the plain iterate is taken after all and the memory is cleared. ``auxiliary``
    are numbers that follow from s, such as a solution: they are extrapolated with it.
    """

    def __init__(
        self, window: int, size: int, growth_limit: float = 2.0, *, auxiliary: int = 0
    ) -> None:
        self._window, self._patience = window, growth_limit
        # differences, which single precision keeps as well as they are known
        self._residuals = np.empty((window, size), dtype=np.float32)
        self._images = np.empty((window, size + auxiliary), dtype=np.float32)
        self._gram = np.zeros((window, window))
        self._last_residual = np.empty(size)
        self._last_image = np.empty(size + auxiliary)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._count, self._at = 0, 0
        self._norm = np.inf
        self._has_last = False

    def next(self, s: Floats, image: Floats, root: Floats | float = 1.0) -> Floats:
        """The iterate after s (size,), whose image g(s) (size + riders,) is given; left alone."""
        residual = image[: len(s)] - s
        residual *= root
        norm = float(np.linalg.norm(residual))
        if norm >= _OVERFLOW:
            self.reset()
            return image
        if not norm <= self._patience * self._norm and self._has_last:
            plain = self._last_image.copy()
            self.reset()
            return plain
        if self._has_last:
            self._remember(residual, image)
        self._last_residual[:], self._last_image[:] = residual, image
        self._has_last, self._norm = True, norm
        k = self._count
        if not k:
            return image
        along = self._residuals[:k] @ residual.astype(np.float32)
        theta = _solve(self._gram[:k, :k], along.astype(float))
        if not np.abs(theta).max() < _DIVERGING:  # the last iterates differ by rounding alone
            return image
        return image - theta.astype(np.float32) @ self._images[:k]

    def _remember(self, residual: Floats, image: Floats) -> None:
        at = self._at
        np.subtract(residual, self._last_residual, out=self._residuals[at], casting="same_kind")
        np.subtract(image, self._last_image, out=self._images[at], casting="same_kind")
        self._count = max(self._count, at + 1)
        row = self._residuals[: self._count] @ self._residuals[at]
        self._gram[at, : self._count] = self._gram[: self._count, at] = row
        self._at = (at + 1) % self._window


def _solve(gram: Floats, rhs: Floats) -> Floats:
    """Least squares by the normal equations, without directions that rounding has spoilt."""
    scale = np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    kept = values > _ILL_CONDITIONED * values[-1]
    inside = vectors[:, kept]
    theta: Floats = (inside @ ((inside.T @ (rhs / scale)) / values[kept])) / scale
    return theta
