"""Rotations as people give them: matrices, rotation vectors, or SciPy's objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.parameters import Parameter, Vector
from supple.core.types import Floats

_ORTHOGONAL = 1e-6  # how far the entries of RᵀR may be from those of the identity


def rotation_matrix(name: str, given: Any) -> Floats:
    """A rotation matrix (3, 3).

    From one, from a rotation vector (3,) [rad], or from a scipy.spatial.transform.Rotation.
    """
    return rotation_matrices(name, given, ())


def rotation_matrices(name: str, given: Any, lead: tuple[int, ...]) -> Floats:
    """The same for several: matrices (*lead, 3, 3), or vectors (*lead, 3)."""
    from scipy.spatial.transform import Rotation  # slow to import

    if isinstance(given, Rotation):
        return numbers(name, given.as_matrix(), ((*lead, 3, 3),))
    array = numbers(name, given, ((*lead, 3, 3), (*lead, 3)))
    if array.ndim == len(lead) + 1:
        turned: Floats = Rotation.from_rotvec(array).as_matrix()
        return turned
    off = np.abs(np.swapaxes(array, -1, -2) @ array - np.eye(3)).max(initial=0.0)
    if off > _ORTHOGONAL or (np.linalg.det(array) < 0).any():
        raise InputError(
            f"{name} is not a rotation: its columns must be orthogonal, of length 1 and "
            "right-handed; or give rotation vectors [rad], e.g. (0, 0, 1.57)"
        )
    # To rounding, so that normals keep their length.
    exact: Floats = Rotation.from_matrix(array).as_matrix()
    return exact


@dataclass(frozen=True)
class RotationKind(Vector):
    """A rotation as people give it, kept as a matrix; a scene has a rotation vector."""

    words = "rotation vector, or matrix"

    def check(self, of: Parameter, value: Any) -> Floats:
        return rotation_matrix(of.name, value)


ROTATION = RotationKind()
