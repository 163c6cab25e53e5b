"""What a free reduced body needs beside its state: room for kernels, and damping in two parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supple._kernels.reduction.frame import FloatingWorkspace
from supple.core.errors import InputError
from supple.core.memory import zeros_apart
from supple.core.types import Floats
from supple.damping import Caughey, Damping, ExampleDamping, Rayleigh
from supple.reduction.damping.points import PointDamping
from supple.reduction.damping.reduced import ReducedDamping
from supple.reduction.damping.rules import reduced_damping
from supple.reduction.model import ReducedModel
from supple.reduction.runtime.floating import FloatingInertia


def floating_workspace(r: int) -> FloatingWorkspace:
    """Room for the kernels, for r coordinates."""
    shapes: dict[str, tuple[int, ...]] = {"X": (3, r), "Z": (3, 9, r)}
    shapes |= dict.fromkeys(("C0", "C", "K", "A"), (r, r)) | dict.fromkeys(("H", "W"), (3, 3, r))
    shapes |= dict.fromkeys(("x_v", "x_a", "R", "delta"), (r,))
    names = FloatingWorkspace._fields
    return FloatingWorkspace(*(zeros_apart(*shapes.get(name, (3,))) for name in names))


class FreeDamping(NamedTuple):
    """A damping of a free body: a drag on all of its motion, and what damps its deformation."""

    drag: float
    """α [1/s], in proportion to the mass."""
    inner: list[Damping]
    """What is seen from the frame of the body."""
    counted: float
    """What of α is in the bases of examples as well, which scale it [1/s]."""

    def reduced(self, model: ReducedModel) -> ReducedDamping:
        """What acts on the coordinates beside the drag, which acts on them too."""
        damping = reduced_damping(self.inner, model)
        if not self.counted:
            return damping
        assert model.floating is not None  # it is of a free body
        counted = CountedDrag(self.counted, model.floating)
        return replace(damping, beside=(*damping.beside, counted))


class CountedDrag(PointDamping):
    """−α (M̃ − Hᵀ J⁻¹ H): what the drag does to the deformation of a body that does not turn.

    The motion of such a body has the kinetic energy ½ q̇ᵀ (M̃ − Hᵀ J⁻¹ H) q̇, for the frame turns
    against the deformation, which has the angular momentum H q̇. So the drag and this, with examples
    over the mass in its place, never feed energy.
    """

    is_linear = True

    def __init__(self, alpha: float, inertia: FloatingInertia) -> None:
        self._alpha, self._inertia = alpha, inertia

    def evaluate(self, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        H, M = self._inertia.inner_momenta(q), self._inertia.reduced_mass
        C = -self._alpha * (M - H.T @ np.linalg.solve(self._inertia.inertia(q), H))
        return C @ v, C


def of_all_motion(
    damping: Damping | Sequence[Damping] | None,
) -> tuple[list[Damping], list[Damping]]:
    """What of a damping, or several, acts on rigid motion by places of the body, and the rest."""
    whole: list[Damping] = []
    inner: list[Damping] = []
    for each in damping if isinstance(damping, Sequence) else [damping]:
        if isinstance(each, Rayleigh) and (isinstance(each.mass, Mapping) or np.ndim(each.mass)):
            whole.append(Rayleigh(mass=each.mass))
            inner.append(replace(each, mass=0.0))
        elif isinstance(each, Damping) and not (
            isinstance(each, ExampleDamping | Rayleigh | Caughey) or each.spares_rigid_motion
        ):
            whole.append(each)
        elif each is not None:
            inner.append(each)
    return whole, inner


def free_damping(damping: Damping | Sequence[Damping] | None) -> FreeDamping:
    """A damping, or several, of a free body; those that cannot be told apart are refused."""
    if damping is None:
        return FreeDamping(0.0, [], 0.0)
    drag, counted = 0.0, 0.0
    inner: list[Damping] = []
    for each in damping if isinstance(damping, Sequence) else [damping]:
        if isinstance(each, ExampleDamping):
            beyond, _ = of_all_motion(each.bases)
            if beyond:
                raise InputError(
                    f"base={beyond[0]!r}: examples of a free body are over dampings of its "
                    "deformation, such as Rayleigh(stiffness=...), or one mass=...; give this one "
                    "beside them: [ExampleDamping(...), other]"
                )
            mass = free_damping(each.bases).drag
            drag, counted = drag + mass, counted + mass
            inner.append(each)
        elif isinstance(each, Rayleigh):
            drag += _mass_coefficient(each)
            inner.append(replace(each, mass=0.0))
        elif isinstance(each, Caughey):
            drag += each.coefficients[0]
            inner.append(replace(each, coefficients=(0.0, *each.coefficients[1:])))
        elif isinstance(each, Damping) and each.spares_rigid_motion:
            inner.append(each)
        else:
            raise InputError(
                f"damping={each!r}: a free reduced body takes dampings of the deformation "
                "(Rayleigh, Caughey, StrainRate, MatchedStrainRate, PrincipalStrain, PowerLaw, "
                "SplineDamping, examples over these, others whose spares_rigid_motion is true), of "
                "any other what MomentumConserving(damping) leaves, and Rayleigh(mass=...) as a "
                "drag on all motion; sp.Simulation(sp.FloatingBody(model), ...) takes the rest"
            )
    return FreeDamping(drag, inner, counted)


def _mass_coefficient(damping: Rayleigh) -> float:
    """α [1/s], one for the whole body."""
    if isinstance(damping.mass, Mapping) or np.ndim(damping.mass):
        raise InputError(
            f"mass={damping.mass!r}: a free reduced body takes one number, such as 0.1, in "
            "flight alone; sp.Simulation(sp.FloatingBody(model), ...) takes any"
        )
    return float(damping.mass)  # type: ignore[arg-type]
