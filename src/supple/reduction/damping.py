"""Damping of reduced models: C̃ = C₀ + β K̃(q), and examples over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import Polynomial

from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping import BoundViscousDamping, Damping, ExampleDamping, Rayleigh, StiffnessAt
from supple.damping.caughey import Caughey
from supple.damping.viscous import Viscous
from supple.materials import StVK
from supple.reduction.example_damping import ReducedExamples
from supple.reduction.polynomial import Quartic
from supple.reduction.vibrations import vibrations

if TYPE_CHECKING:
    from supple.reduction.model import ReducedModel

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ReducedDamping:
    """C̃(q) = ``constant`` (r, r) + ``factor`` K̃(q) + Hessian of ``by_region`` at q.

    ``examples`` change it to Ĉ.
    """

    constant: Floats
    factor: float = 0.0
    by_region: Quartic | None = None
    examples: ReducedExamples | None = None

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
        force: Floats = C @ v if self.examples is None else self.examples.force(q, v, C)
        return force


def reduced_damping(damping: Damping | None, model: ReducedModel) -> ReducedDamping:
    """``damping`` as it acts on the coordinates of ``model`` (subspace StVK, Eq. 3)."""
    if damping is None:
        return ReducedDamping(np.zeros((model.size, model.size)))
    if isinstance(damping, ExampleDamping):
        base = reduced_damping(damping.base, model)
        rest = np.zeros(model.size)
        at_rest = base.matrix(rest, model.stiffness(rest))
        return replace(base, examples=ReducedExamples.of(damping, model, at_rest))
    if isinstance(damping, Rayleigh):
        return _of_rayleigh(damping, model)
    if isinstance(damping, Caughey):
        return ReducedDamping(_of_caughey(damping, model))
    if isinstance(damping, Viscous):
        return ReducedDamping(_of_matrix(damping, model))
    projected = _projected(damping, model)
    if projected is not None:
        return ReducedDamping(projected)
    raise InputError(
        f"damping={damping!r}: a reduced model takes Rayleigh(mass=..., stiffness=...), Caughey, "
        "Viscous, any that is linear in the velocity and the same in every shape, ExampleDamping "
        "over one of these, or none"
    )


def _projected(damping: Damping, model: ReducedModel) -> Floats | None:
    """Φᵀ C Φ of a damping that is linear in the velocity and does not depend on the shape."""
    values = {name: np.zeros(model.mesh.n_cells) for name in ("young", "poisson", "density")}
    for group in model.groups:
        for name, column in values.items():
            known = getattr(group, name)
            if known is None:
                return None  # it varies from cell to cell, and the model does not tell how
            column[group.cells] = known
    body = Body(model.mesh, StVK(**values))
    bound = damping.bind(body)
    if not isinstance(bound, BoundViscousDamping) or bound.depends_on_shape:
        return None
    rest = Shape(body, np.zeros_like(model.mesh.vertices), order=0)
    flat = model.vectors.reshape(model.size, -1)
    C: Floats = flat @ bound.multiply(rest, model.vectors).reshape(model.size, -1).T
    return 0.5 * (C + C.T)


def _of_rayleigh(damping: Rayleigh, model: ReducedModel) -> ReducedDamping:
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


def _of_caughey(damping: Caughey, model: ReducedModel) -> Floats:
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
    return 0.5 * (C + C.T)


def _of_matrix(damping: Viscous, model: ReducedModel) -> Floats:
    """Φᵀ C Φ."""
    flat = model.vectors.reshape(model.size, -1)
    size, wanted = damping.matrix.shape[0], flat.shape[1]
    if size != wanted:
        raise InputError(
            f"the damping matrix is ({size}, {size}), but the model's mesh has {wanted // 3} "
            f"vertices; give ({wanted}, {wanted})"
        )
    C: Floats = flat @ (damping.matrix @ flat.T)
    return 0.5 * (C + C.T)


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
                "region"
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
