"""Damping of reduced models: C̃ = C₀ + β K̃(q), and examples over it.

Rules, in this order: what the damping says itself; closed forms, which models from files and edited
ones know too; projection of whatever is linear in the velocity and does not follow the shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from supple.bodies.shape import Shape
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping import BoundViscousDamping, Damping, ExampleDamping, Rayleigh, StiffnessAt
from supple.damping.caughey import Caughey
from supple.damping.viscous import Viscous
from supple.reduction.example_damping import ReducedExamples
from supple.reduction.model import ReducedModel, vibrations
from supple.reduction.polynomial import Quartic

_ROUNDING = 1e-12
_ASYMMETRY = 1e-9  # share of the largest entry that counts as rounding


@dataclass(frozen=True, eq=False)
class ReducedDamping:
    """C̃(q) = ``constant`` (r, r) + ``factor`` K̃(q) + Hessian of ``by_region`` at q.

    ``examples`` change it to Ĉ. The force on the coordinates is −C̃ v − ``steady``. Dampings may be
    added. Units, for a mass-orthonormal basis: ``constant`` [1/s], ``factor`` [s], ``by_region``
    [J s], ``steady`` (r,) [√kg m/s²].
    """

    constant: Floats
    factor: float = 0.0
    by_region: Quartic | None = None
    examples: ReducedExamples | None = None
    steady: Floats | None = None
    """What is left of the force where nothing moves, such as that of a wind."""

    @property
    def is_constant(self) -> bool:
        """Whether C̃ is the same at every q."""
        return self.factor == 0 and self.by_region is None

    def matrix(self, q: Floats, K: Floats) -> Floats:
        """C̃ at q, where the stiffness is K; without the examples."""
        C = self.constant + self.factor * K
        if self.by_region is not None:
            C += self.by_region.compiled.evaluate(q)[1]
        return C

    def force(self, q: Floats, v: Floats, K: Floats) -> Floats:
        """Ĉ v at q, where the stiffness is K."""
        C = self.matrix(q, K)
        return C @ v if self.examples is None else self.examples.force(q, v, C)

    def push(self) -> Floats:
        """The force (r,) at rest, on the coordinates."""
        return np.zeros(len(self.constant)) if self.steady is None else -self.steady

    def __add__(self, other: ReducedDamping) -> ReducedDamping:
        if self.examples is not None or other.examples is not None:
            raise InputError(
                "a reduced model takes damping by example alone, not in a list; give the others as "
                "its base, ExampleDamping(Viscous(...), [...])"
            )
        by_region = self.by_region or other.by_region
        if self.by_region is not None and other.by_region is not None:
            both = self.by_region.coefficients + other.by_region.coefficients
            by_region = Quartic(self.by_region.size, both)
        return ReducedDamping(
            self.constant + other.constant,
            self.factor + other.factor,
            by_region,
            steady=-(self.push() + other.push()),
        )


def reduced_damping(
    damping: Damping | Sequence[Damping] | None, model: ReducedModel
) -> ReducedDamping:
    """``damping`` as it acts on the coordinates of ``model`` (subspace StVK, Eq. 3).

    A list is the sum of its members. A damping may say itself what it is there, by ``reduced``; for
    some there is a closed form here; all others that are linear in the velocity and do not follow
    the shape are projected.
    """
    if damping is None:
        return ReducedDamping(np.zeros((model.size, model.size)))
    if not isinstance(damping, Damping):
        if not isinstance(damping, Sequence) or isinstance(damping, str):
            raise InputError(_refusal(damping))
        return sum((reduced_damping(each, model) for each in damping), reduced_damping(None, model))
    own: ReducedDamping | None = damping.reduced(model)
    if own is not None:
        return own
    for kind, rule in _CLOSED_FORMS.items():
        if isinstance(damping, kind):
            return rule(damping, model)
    return _projected(damping, model)


def _projected(damping: Damping, model: ReducedModel) -> ReducedDamping:
    """Uᵀ C U of a damping with the force C v + c."""
    body = model.body
    if body is None:
        raise InputError(
            f"damping={damping!r} is projected from the body, which a model from a file does not "
            "have; make the model anew with reduce(body, basis)"
        )
    bound = damping.bind(body)
    if not bound.is_linear or bound.depends_on_shape:
        raise InputError(_refusal(damping))
    rest, vectors = Shape(body, np.zeros_like(body.mesh.vertices)), model.vectors
    steady = bound.evaluate(rest, np.zeros_like(body.mesh.vertices))[1]
    if isinstance(bound, BoundViscousDamping):
        forces = bound.multiply(rest, vectors)
    else:
        forces = np.array([bound.evaluate(rest, phi)[1] for phi in vectors]) - steady
    flat = vectors.reshape(model.size, -1)
    C: Floats = flat @ forces.reshape(model.size, -1).T
    if np.abs(C - C.T).max() > _ASYMMETRY * np.abs(C).max():
        raise InputError(_refusal(damping))
    return ReducedDamping(0.5 * (C + C.T), steady=flat @ steady.ravel())


def _refusal(damping: object) -> str:
    return (
        f"damping={damping!r}: a reduced model takes Rayleigh(mass=..., stiffness=...), Caughey, "
        "Viscous, any other that is linear in the velocity and does not follow the shape, such as "
        "Drag(strength=...), a list of these, ExampleDamping over one of them, or none"
    )


def _of_examples(damping: ExampleDamping, model: ReducedModel) -> ReducedDamping:
    base = reduced_damping(damping.base, model)
    if base.push().any():
        raise InputError(
            f"base={damping.base!r} pushes a body that is at rest, which examples cannot scale; "
            "give a base without wind"
        )
    rest = np.zeros(model.size)
    at_rest = base.matrix(rest, model.stiffness(rest))
    return replace(base, examples=ReducedExamples.of(damping, model, at_rest))


def _of_rayleigh(damping: Rayleigh, model: ReducedModel) -> ReducedDamping:
    by_cell = [np.ndim(given) > 0 for given in (damping.mass, damping.stiffness)]  # type: ignore[arg-type]
    if any(by_cell) and model.body is not None:  # an edited body takes long to make
        if damping.at is StiffnessAt.REST:
            return _projected(damping, model)
        if by_cell[0]:
            by_stiffness = _of_rayleigh(replace(damping, mass=0.0), model)
            return _projected(Rayleigh(mass=damping.mass), model) + by_stiffness
    r = model.size
    alphas = _by_group("mass", damping.mass, model)
    shares = zip(alphas, model.groups, strict=True)
    constant = np.sum([alpha * group.mass.at(group.density) for alpha, group in shares], axis=0)
    betas = _by_group("stiffness", damping.stiffness, model)
    factor, by_region = 0.0, None
    if len(set(betas)) == 1:
        if damping.at is StiffnessAt.REST:
            constant = constant + betas[0] * model.stiffness(np.zeros(r))
        else:
            factor = betas[0]
    else:
        weighted = _weighted_energy(model, betas)
        if damping.at is StiffnessAt.REST:
            constant = constant + weighted.evaluate(np.zeros(r))[2]
        else:
            by_region = weighted
    return ReducedDamping(0.5 * (constant + constant.T), factor, by_region)


def _of_caughey(damping: Caughey, model: ReducedModel) -> ReducedDamping:
    """M̃ Σ_j α_j (M̃⁻¹K̃)^j with the stiffness at rest (example damping, Eq. 13)."""
    squares, modes = vibrations(model.stiffness(np.zeros(model.size)), model.mass)
    strengths = Polynomial(damping.coefficients)(squares)
    terms = Polynomial(np.abs(damping.coefficients))(np.abs(squares))
    if (strengths < -_ROUNDING * terms).any():
        worst = int(np.argmin(strengths))
        raise InputError(
            f"these coefficients damp the vibration of {model.frequencies[worst]:.4g} Hz of this "
            f"model by less than nothing (Σ α_j ω^(2j) = {strengths[worst]:.4g} 1/s); give "
            "Caughey.from_ratios one more frequency near that"
        )
    MP = model.mass @ modes
    C: Floats = (MP * np.maximum(strengths, 0.0)) @ MP.T
    return ReducedDamping(0.5 * (C + C.T))


def _of_matrix(damping: Viscous, model: ReducedModel) -> ReducedDamping:
    """Φᵀ C Φ."""
    flat = model.vectors.reshape(model.size, -1)
    size, wanted = damping.matrix.shape[0], flat.shape[1]
    if size != wanted:
        raise InputError(
            f"the damping matrix is ({size}, {size}), but the model's mesh has {wanted // 3} "
            f"vertices; give ({wanted}, {wanted})"
        )
    C: Floats = flat @ (damping.matrix @ flat.T)
    return ReducedDamping(0.5 * (C + C.T))


def _weighted_energy(model: ReducedModel, betas: list[float]) -> Quartic:
    """The polynomial Σ β U over the groups."""
    if model.cubature is not None:
        raise InputError(
            "stiffness= by region needs an StVK model, whose energy is known region by region; "
            "give one number for the whole body"
        )
    shares = [
        beta * group.energy.at(*group.lame)
        for beta, group in zip(betas, model.groups, strict=True)
        if group.energy is not None
    ]
    return Quartic(model.size, np.sum(shares, axis=0))


def _by_group(name: str, given: object, model: ReducedModel) -> list[float]:
    """The coefficient of each group of the model."""
    if not isinstance(given, Mapping):
        if np.ndim(given):  # type: ignore[arg-type]
            raise InputError(
                f"{name} is given cell by cell; a reduced model takes one number, or numbers by "
                "region, and numbers by cell with at=StiffnessAt.REST where it has its body"
            )
        return [float(given)] * len(model.groups)  # type: ignore[arg-type]
    unknown = [region for region in given if region not in model.regions]
    if unknown:
        raise InputError(
            f"{name} names region {unknown[0]!r}, which this model was not told of; make it with "
            f"reduce(body, basis, regions=[{unknown[0]!r}])"
        )
    # as in full space: a region named later overrides one named before
    values = [0.0] * len(model.groups)
    for region, value in given.items():
        for k, group in enumerate(model.groups):
            if region in group.regions:
                values[k] = float(value)
    return values


_CLOSED_FORMS: dict[type[Damping], Callable[[Any, ReducedModel], ReducedDamping]] = {
    Rayleigh: _of_rayleigh,
    Caughey: _of_caughey,
    Viscous: _of_matrix,
    ExampleDamping: _of_examples,
}
