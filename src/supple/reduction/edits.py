"""What an edit of the materials of a reduced model leads to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.types import Bools
from supple.materials import Material
from supple.reduction.groups import PARAMETERS, Group

if TYPE_CHECKING:
    from supple.reduction.model import ReducedModel


class Late:
    """A field that may be given as a function, called when its value is first asked for."""

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return None  # the default
        value = model.__dict__["_body"]
        if callable(value):
            value = model.__dict__["_body"] = value()
        return value

    def __set__(self, model: Any, value: Any) -> None:
        model.__dict__["_body"] = value


def edited_model(
    model: ReducedModel, region: str | None, changes: Mapping[str, float | None]
) -> ReducedModel:
    """The model with other numbers of the material in one region, or everywhere."""
    if region is not None and region not in model.regions:
        known = ", ".join(map(repr, model.regions)) or "none"
        raise InputError(
            f"region={region!r} cannot be edited in this model (those that can: {known}); name "
            f"it when the model is made: reduce(body, basis, regions=[{region!r}])"
        )
    groups = tuple(
        group.edited(**changes) if region is None or region in group.regions else group
        for group in model.groups
    )
    cubature = model.cubature
    if cubature is not None and (changes["young"] is not None or changes["poisson"] is not None):
        for group in groups:
            lam, mu = group.lame
            if lam is not None and mu is not None:
                cubature = cubature.with_lame(group.cells, lam, mu)
    floating = model.floating
    if floating is not None and changes["density"] is not None:
        floating = floating.scaled(common_factor(model.groups, groups))
    body: Any = model.__dict__["_body"]
    if body is not None:
        built = body.args[0] if isinstance(body, partial) else body
        body = partial(edited_body, built, groups)
    changed = {"groups": groups, "cubature": cubature, "floating": floating, "body": body}
    other = replace(model, **changed, body_frequencies=None, swings=None)
    moduli = changes["young"] is None and changes["poisson"] is None
    same = unchanged(moduli=moduli, densities=changes["density"] is None)
    other.__dict__.update({name: model.__dict__[name] for name in same if name in model.__dict__})
    return other


def edited_body(built: Body, groups: tuple[Group, ...]) -> Body:
    """The body that was reduced, with the numbers that the groups have now."""
    cells = np.arange(built.mesh.n_cells)

    def edited(material: Material, of: Bools) -> Material:
        for group in groups:
            inside = np.isin(cells, group.cells) & of
            given = {name: getattr(group, name) for name in PARAMETERS}
            mine = np.flatnonzero(inside)
            now = {
                name: value
                for name, value in given.items()
                if value is not None
                and not np.allclose(material.per_cell(name, mine), value, rtol=1e-12)
            }
            material = material.edited(inside, **now) if now else material
        return material

    if isinstance(built.material, Material):
        return replace(built, material=edited(built.material, np.ones(len(cells), dtype=bool)))
    materials = {
        name: edited(material, np.isin(cells, built.mesh.region(name)))
        for name, material in built.material.items()
    }
    return replace(built, material=materials)


def common_factor(before: tuple[Group, ...], after: tuple[Group, ...]) -> float:
    """By how much the density of all groups has changed, if it is by one factor."""
    factors = {
        new.density / old.density if new.density and old.density else np.nan
        for old, new in zip(before, after, strict=True)
    }
    if len(factors) > 1 or not np.isfinite(next(iter(factors))):
        raise InputError(
            "the density of a body without supports can be edited as a whole only: its basis "
            "leaves rigid motion alone with the mass distributed as it was; make the model anew"
        )
    return factors.pop()


def unchanged(*, moduli: bool, densities: bool) -> tuple[str, ...]:
    """What is known of a model and holds for an edited one, as moduli or densities stay."""
    of_mass = ("mass", "total_mass", "inverse_mass", "_of_densities") if densities else ()
    return ("_orthonormal", *of_mass, *(("quartic", "rest_stiffness") if moduli else ()))
