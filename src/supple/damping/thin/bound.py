"""Laws of strain rates at work in a sheet or a network of springs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping.base import BoundDamping, Damping, DampingTangent
from supple.damping.cloth_rate import BoundClothStrainRate
from supple.damping.curve import Curve
from supple.damping.strain_rate import BoundSpringStrainRate
from supple.damping.sums import summands
from supple.damping.thin.frames import Frame, ThinBody
from supple.damping.thin.laws import ByRate, Law, Quadratic

MakeLaw = Callable[[Frame, Shape], Law]


class BoundThinLaw(BoundDamping):
    """R = Σ w r(x), x the rates of the stretches of cells; ``make`` gives r at a shape."""

    matrix_is_hessian = True  # the matrix is that of R, which is a function

    def __init__(
        self, body: ThinBody, make: MakeLaw, *, linear: bool, thinning: bool = False
    ) -> None:
        self._body, self._make = body, make
        self.is_linear, self.is_thinning = linear, thinning

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        at, law = self._at(shape)
        found = law.at(self._rates(at, v), bend=False, definite=False)
        S = np.einsum("mda,md->ma", at.J, found.slope)
        return float(self._body.weights @ found.r), self._body.forces(at, S)

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        self._add(shape, v, factor, values, definite=definite, stress=False)

    def add_tangent(self, shape: Shape, v: Floats, of: DampingTangent, values: Floats) -> None:
        # Of ∂∇₂R/∂x what is not symmetric is dropped, and negative stress (strain rate, §3.4)
        self._add(shape, v, of.c_v, values, definite=of.definite, stress=True)

    def viscosity_at(self, shape: Shape) -> Floats:
        """∂²r/∂ε̇² of a law that is quadratic, (m, d, d)."""
        at, law = self._at(shape)
        assert isinstance(law, Quadratic)
        C: Floats = at.J.transpose(0, 2, 1) @ law.Q @ at.J
        return C

    def _add(
        self,
        shape: Shape,
        v: Floats,
        factor: float,
        values: Floats,
        *,
        definite: bool,
        stress: bool,
    ) -> None:
        at, law = self._at(shape)
        found = law.at(self._rates(at, v), bend=True, definite=definite, newton=stress)
        C = factor * (at.J.transpose(0, 2, 1) @ found.bend @ at.J)
        S = np.einsum("mda,md->ma", at.J, found.slope)
        self._body.add_blocks(at, C, S if stress else np.zeros_like(S), values)

    def _rates(self, at: Frame, v: Floats) -> Floats:
        x: Floats = np.einsum("mad,md->ma", at.J, self._body.strain_rates(at, v))
        return x

    def _at(self, shape: Shape) -> tuple[Frame, Law]:
        if self not in shape.known:
            at = self._body.frame(shape.u)
            shape.known[self] = at, self._make(at, shape)
        found: tuple[Frame, Law] = shape.known[self]
        return found


Viscosity = Callable[[Shape], Floats]


def viscosity_of(damping: Damping, body: ElasticBody, what: str) -> Viscosity:
    """∂²r/∂ε̇² (m, d, d) of a damping that is quadratic in the strain rates of cells, at a shape."""
    bound = damping.bind(body)
    parts = summands(bound.outside_cells())

    def viscosity(shape: Shape) -> Floats:
        return sum((_viscosity(part, shape) for part in parts[1:]), _viscosity(parts[0], shape))

    sound = parts and all(_is_of_strains(part) for part in parts) and bound.is_linear
    if not sound:
        raise InputError(
            f"{what} of a {type(body).__name__} needs a damping that is quadratic in the strain "
            f"rates of its cells alone, not {damping!r}; give SpringStrainRate(...), or "
            "ClothStrainRate(...) without bending, or PrincipalStrain(...)"
        )
    return viscosity


def _is_of_strains(part: BoundDamping) -> bool:
    if isinstance(part, BoundClothStrainRate):
        return part.of_hinges_alone() is None
    return isinstance(part, BoundSpringStrainRate | BoundThinLaw)


def _viscosity(part: BoundDamping, shape: Shape) -> Floats:
    if isinstance(part, BoundSpringStrainRate):
        return part.viscosity[:, None, None]
    assert isinstance(part, BoundClothStrainRate | BoundThinLaw)
    return part.viscosity_at(shape)


def in_frame(at: Frame, C: Floats) -> Floats:
    """A form in strain rates as one in x, (m, d, d)."""
    Q: Floats = at.back.transpose(0, 2, 1) @ C @ at.back
    return Q


def stretch_form(at: Frame) -> Floats:
    """Twice ‖Ṡ‖² as a form in x, S the stretch of the polar decomposition, (m, d, d)."""
    m, d = at.J.shape[:2]
    Q = np.zeros((m, d, d))
    Q[:] = 2 * np.eye(d)
    if d == 3:  # Ṡ₀₁ = e √(2 (σ₀² + σ₁²))/(σ₀ + σ₁), there twice
        Q[:, 2, 2] = 8 * (at.sigma**2).sum(axis=1) / at.sigma.sum(axis=1) ** 2
    return Q


def closeness(at: Frame, width: float) -> Floats:
    """1 where the two stretches of a cell coincide, 0 where they differ by ``width``, (m,)."""
    if at.sigma.shape[1] == 1:
        return np.zeros(len(at.sigma))
    t = np.minimum(np.abs(at.sigma[:, 0] - at.sigma[:, 1]) / width, 1.0)
    close: Floats = (1.0 - t * t) ** 2
    return close


def principal_form(H: Floats, at: Frame, root: Floats) -> Floats:
    """σ̇ᵀH σ̇ as a form in x, with the shear that makes it the same for all axes of a plane."""
    if H.shape[1] == 1:
        return H
    Q = np.zeros((len(H), 3, 3))
    Q[:, :2, :2] = H
    c, s = (at.sigma / np.linalg.norm(at.sigma, axis=1, keepdims=True)).T
    mean = 0.5 * (H[:, 0, 0] + H[:, 1, 1])
    Q[:, 2, 2] = 2 * root**2 * (mean - 2 * c * s * H[:, 0, 1])
    return Q


def principal_by_rate(H: Floats, at: Frame, root: Floats, curve: Curve, beta: Floats) -> ByRate:
    """Principal strains, each with a factor of its own rate; H = κ I + N is split."""
    least = np.linalg.eigvalsh(H)[:, 0]
    N = principal_form(H, at, root)
    N = N - least[:, None, None] * np.eye(N.shape[1])
    if N.shape[1] == 3:  # of the shear it is 2 κ w that goes with κ I
        N[:, 2, 2] += least * (1 - 2 * root**2)
    scale = beta[:, None, None]
    return ByRate(scale * N, beta * least, root, curve)
