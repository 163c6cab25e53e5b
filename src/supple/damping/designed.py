"""What a damping was designed for, so that it can tell when that is no longer so."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from supple.bodies.solid import Body
from supple.core.types import Floats

_PARAMETERS = ("young", "poisson", "density")
_SAME = 1e-9  # of a number of the material, that may differ by rounding
MATERIAL = "material"  # where wishes keep the means of the material that they were made for


class DesignWarning(UserWarning):
    """Wishes that contradict each other, or a body that is not the one that was designed for."""


@dataclass(eq=False)
class Designed:
    """The body or reduced model that a damping was designed for, or what a file tells of it."""

    body: Any
    """A file has the means of its material, by name."""
    warned: bool = False

    def check(self, body: Any) -> None:
        """Warn, once, where ``body``, or a model of it, has another material by now."""
        if self.warned or body is self.body or same_material(self.body, body):
            return
        self.warned = True
        warnings.warn(
            "the material has changed since this damping was designed: what its targets ask for "
            "may no longer hold; redesign(damping, model).damping meets them anew, with the body "
            "or model as it is now",
            DesignWarning,
            stacklevel=4,
        )


def same_material(one: Any, other: Any) -> bool:
    """Whether two bodies, or reduced models of them, have the same material, as far as is known."""
    if isinstance(one, Mapping):
        means = material_means(other)
        shared = [name for name in _PARAMETERS if name in one and name in means]
        return all(abs(one[name] - means[name]) <= _SAME * abs(means[name]) for name in shared)
    if hasattr(one, "groups") and hasattr(other, "groups"):
        cells = [[group.cells for group in each.groups] for each in (one, other)]
        if len(cells[0]) == len(cells[1]) and all(map(np.array_equal, *cells)):
            numbers = [
                [getattr(group, name) for group in each.groups for name in _PARAMETERS]
                for each in (one, other)
            ]
            return numbers[0] == numbers[1]
    bodies = [getattr(each, "body", each) for each in (one, other)]
    if not all(isinstance(each, Body) for each in bodies):
        return True  # nothing is known of it
    if bodies[0] is bodies[1] or bodies[0].n_cells != bodies[1].n_cells:
        return bodies[0] is bodies[1]
    return all(
        np.allclose(_by_cell(bodies[0], name), _by_cell(bodies[1], name), rtol=_SAME, atol=0.0)
        for name in _PARAMETERS
    )


def material_means(of: Any) -> dict[str, float]:
    """Young's modulus [Pa], Poisson's ratio and density [kg/m³] on average over the cells.

    Of a body or of a reduced model, as far as they are known.
    """
    groups = getattr(of, "groups", ())
    means: dict[str, float] = {}
    for name in _PARAMETERS:
        values = [getattr(group, name) for group in groups]
        body = getattr(of, "body", of) if None in values or not values else None
        if isinstance(body, Body):
            means[name] = float(_by_cell(body, name).mean())
        elif values and None not in values:
            means[name] = float(np.average(values, weights=[len(group.cells) for group in groups]))
    return means


def kept_material(wishes: Mapping[str, Any] | None) -> dict[str, float]:
    """The means that wishes keep; none where there are none, or somebody wrote something else."""
    kept = (wishes or {}).get(MATERIAL, {})
    if not isinstance(kept, Mapping):
        return {}
    return {name: float(x) for name, x in kept.items() if isinstance(x, Real)}


def _by_cell(body: Body, name: str) -> Floats:
    values = np.empty(body.n_cells)
    for part in body.parts:
        values[part.cells] = part.material.per_cell(name, part.cells)
    return values
