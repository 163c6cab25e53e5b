"""What a free reduced body needs beside its state: room for kernels, and damping in two parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from supple._kernels.reduction.frame import FloatingWorkspace
from supple.core.errors import InputError
from supple.core.memory import zeros_apart
from supple.damping import (
    Caughey,
    Damping,
    ExampleDamping,
    MatchedStrainRate,
    MomentumConserving,
    PowerLaw,
    PrincipalStrain,
    Rayleigh,
    SplineDamping,
    StrainRate,
)

_OF_DEFORMATION = (
    StrainRate,
    MatchedStrainRate,
    PrincipalStrain,
    PowerLaw,
    SplineDamping,
    MomentumConserving,
)
"""What does nothing to a rigid motion."""


def floating_workspace(r: int) -> FloatingWorkspace:
    """Room for the kernels, for r coordinates."""
    shapes: dict[str, tuple[int, ...]] = {"X": (3, r), "Z": (3, 9, r)}
    shapes |= dict.fromkeys(("C0", "C", "K", "A"), (r, r)) | dict.fromkeys(("H", "W"), (3, 3, r))
    shapes |= dict.fromkeys(("x_v", "x_a", "R", "delta"), (r,))
    names = FloatingWorkspace._fields
    return FloatingWorkspace(*(zeros_apart(*shapes.get(name, (3,))) for name in names))


def split_mass(damping: Damping | Sequence[Damping] | None) -> tuple[float, list[Damping]]:
    """α [1/s], which is a drag on all motion, and the dampings that leave rigid motion alone."""
    if damping is None:
        return 0.0, []
    given = list(damping) if isinstance(damping, Sequence) else [damping]
    alpha = 0.0
    inner: list[Damping] = []
    for each in given:
        if isinstance(each, Rayleigh):
            alpha += _mass_coefficient(each)
            inner.append(replace(each, mass=0.0))
        elif isinstance(each, ExampleDamping):
            more, bases = split_mass(each.bases)
            alpha += more
            inner.append(replace(each, base=bases))
        elif isinstance(each, Caughey):
            alpha += each.coefficients[0]
            inner.append(replace(each, coefficients=(0.0, *each.coefficients[1:])))
        elif isinstance(each, _OF_DEFORMATION):
            inner.append(each)
        else:
            raise InputError(
                f"damping={each!r}: a free reduced body takes dampings of the deformation "
                "(Rayleigh, Caughey, StrainRate, MatchedStrainRate, PrincipalStrain, PowerLaw, "
                "SplineDamping, MomentumConserving, examples over these) and Rayleigh(mass=...), a "
                "drag on all motion; hold the body, or use sp.Simulation(body, ...)"
            )
    return alpha, inner


def _mass_coefficient(damping: Rayleigh) -> float:
    """α [1/s], one for the whole body."""
    if isinstance(damping.mass, Mapping) or np.ndim(damping.mass):
        raise InputError(
            f"mass={damping.mass!r}: a free reduced body takes one number, e.g. Rayleigh(mass=0.1)"
        )
    return float(damping.mass)  # type: ignore[arg-type]
