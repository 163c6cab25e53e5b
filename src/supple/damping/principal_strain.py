"""Damping of principal strains: r = β/2 σ̇ᵀK_σ σ̇, K_σ = ∂²ψ/∂σ², σ the singular values of F.

It is blind to axes of stretch that turn in the material, which makes it cheap in solvers that work
on σ (dissipative optimization, §5.1.3).
"""

from __future__ import annotations

from dataclasses import dataclass

from supple._kernels.damping.laws import principal_law
from supple._kernels.damping.principal_strain import FIXED, Law, add_principal_strain
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.parameters import parameter
from supple.core.types import Floats, Ints
from supple.damping.base import DAMPINGS, BoundDamping, Damping, body_for
from supple.damping.cells import BoundIsotropicDamping, Points, PointSums
from supple.damping.coefficients import Coefficient, coefficient, spread_over_cells
from supple.damping.curve import Curve, compiled_curves
from supple.damping.laws import CellLaw, curve_numbers
from supple.damping.thin.bound import BoundThinLaw, closeness, principal_form
from supple.damping.thin.frames import Frame, ThinBody, thin
from supple.damping.thin.laws import Law as ThinLaw
from supple.damping.thin.laws import Quadratic

AXIS_WIDTH = 0.02
"""How near two stretches must be to count as alike, unless told otherwise."""


@DAMPINGS.register
@dataclass(frozen=True, kw_only=True)
class PrincipalStrain(Damping):
    """r = β/2 σ̇ᵀK_σ σ̇ with the rates σ̇_a = u_a·Ḟv_a of the principal stretches (Eqs. 52–53).

    K_σ is the stiffness against the three stretches, without its negative eigenvalues.

    Where two stretches coincide, as they do at rest, their axes are any two of a plane, and r
    would depend on the choice. There the shear of the plane is damped too, by the modulus that
    makes r the same for all axes; that fades out, smoothly, as the stretches come to differ by
    ``axis_width``. Conserves linear and angular momentum. A sheet has two stretches in its plane,
    a spring one; bending goes undamped, and of woven cloth the stiffness is the mean over all
    directions.
    """

    stiffness: Coefficient = coefficient("β, times the stiffness in the stretches", "s")
    # Narrow widths need small steps: within the width the force changes with the shape as fast as
    # it can, and Newton's method fails where stretches pass each other within a step unseen.
    axis_width: float = parameter(
        AXIS_WIDTH,
        "difference of stretches from which on shear of their plane is not damped",
        above=0,
    )

    @property
    def spares_rigid_motion(self) -> bool:
        return True

    def bind(self, body: ElasticBody) -> BoundDamping:
        sheet = thin(body)
        if sheet is not None:
            return _thin_principal_strain(self, sheet, body)
        return BoundPrincipalStrain(self, body_for(self, Body, body), Curve.constant(1.0), FIXED)


def _thin_principal_strain(
    damping: PrincipalStrain, sheet: ThinBody, body: ElasticBody
) -> BoundDamping:
    beta = spread_over_cells("stiffness", damping.stiffness, body)

    def law(at: Frame, shape: Shape) -> ThinLaw:
        H, root = sheet.stretch_stiffness(at), closeness(at, damping.axis_width)
        return Quadratic(beta[:, None, None] * principal_form(H, at, root))

    return BoundThinLaw(sheet, law, linear=True)


class BoundPrincipalStrain(BoundIsotropicDamping):
    """Principal strain damping, each strain with a factor of its own from ``curve``.

    ``by`` says what the curve is one of, in the words of the kernel.
    """

    needs_elasticity = True

    def __init__(self, damping: PrincipalStrain, body: Body, curve: Curve, by: int) -> None:
        super().__init__(body)
        fibred = [part.material for part in body.parts if not part.material.is_isotropic]
        if fibred:
            raise InputError(
                f"principal strain damping takes its moduli from stretches, which a "
                f"{type(fibred[0]).__name__} with fibres is no function of; use "
                "MatchedStrainRate(stiffness=...), which is matched to all of its moduli"
            )
        self.beta: Floats = spread_over_cells("stiffness", damping.stiffness, body)
        """β [s], (cells,)."""
        self.is_plain = by == FIXED
        """Whether no strain has a factor of its own."""
        self._curve = curve
        self._law = Law(damping.axis_width, by, compiled_curves([curve]))
        self.finest = damping.axis_width

    def laws(self, cells: Ints) -> tuple[CellLaw, ...]:
        numbers = [self._law.width, self._law.by, *curve_numbers(self._curve)]
        law = CellLaw.of(principal_law, [self.beta[cells]], numbers, needs_elasticity=True)
        return (law,)

    def add_points(self, points: Points, to: PointSums) -> None:
        beta = self.beta[points.part.cells[points.cut]]
        law, sums = self._law, to.compiled
        add_principal_strain(points.F, points.rate, points.A, beta, law, sums, to.definite)
