"""How several examples bend with the body, in any coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from supple.core.types import Floats
from supple.damping.examples.deformation import Example, slopes


@dataclass(frozen=True, eq=False)
class Bends:
    """y₂, y₃, … of k examples, zero where one has fewer, or is straight."""

    coefficients: Floats
    """(k, p, ...)"""
    reach: Floats
    """Excitations up to which each bends, (k,)."""

    @classmethod
    def of(
        cls, examples: Sequence[Example], into: Callable[[Floats], Floats], shape: tuple[int, ...]
    ) -> Bends | None:
        """Those of examples, fields (n, 3) brought ``into`` coordinates; None if none bends."""
        most = max((0 if e.bend is None else len(e.bend) for e in examples), default=0)
        if not most:
            return None
        coefficients = np.zeros((len(examples), most, *shape))
        for row, example in zip(coefficients, examples, strict=True):
            if example.bend is not None:
                row[: len(example.bend)] = [into(y) for y in example.bend]
        return cls(coefficients, np.array([example.reach or 0.0 for example in examples]))

    def tangents(self, X: Floats, excitations: Floats) -> Floats:
        """s'(χ) of each example (k, ...), from X (k, ...) and χ (k,)."""
        inside = np.clip(excitations, -self.reach, self.reach)
        count = self.coefficients.shape[1]
        weights = np.reshape([slopes(chi, count) for chi in inside], (len(X), count))
        tangents: Floats = X + np.einsum("kp,kp...->k...", weights, self.coefficients)
        return tangents
