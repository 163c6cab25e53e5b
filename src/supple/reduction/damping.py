"""Damping of reduced models: C̃ = C₀ + β K̃(q)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..damping import Damping, Rayleigh, StiffnessAt
from ..errors import InputError
from ..types import Floats
from .polynomial import Quartic

if TYPE_CHECKING:
    from .model import ReducedModel


@dataclass(frozen=True, eq=False)
class ReducedDamping:
    """C̃(q) = ``constant`` (r, r) + ``factor`` K̃(q) + Hessian of ``by_region`` at q."""

    constant: Floats
    factor: float
    by_region: Quartic | None


def reduced_damping(damping: Damping | None, model: ReducedModel) -> ReducedDamping:
    """``damping`` as it acts on the coordinates of ``model`` (subspace StVK, Eq. 3)."""
    r = model.size
    if damping is None:
        return ReducedDamping(np.zeros((r, r)), 0.0, None)
    if not isinstance(damping, Rayleigh):
        raise InputError(
            f"damping={damping!r}: a reduced model takes Rayleigh(mass=..., stiffness=...) or none"
        )
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
