"""What is to be found of a material: named numbers with bounds, and the material they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from supple.bodies.elastic_body import by_region
from supple.bodies.solid import Body
from supple.core.checks import instance, number
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.materials import Material


@dataclass(frozen=True)
class Unknown:
    """A number to be found, from ``start`` on.

    It stays ``above`` and ``below`` its bounds. What is searched is ξ = log(x − above), with both
    bounds log((x − above)/(below − x)), without bounds x over ``scale``. ``spread`` is how far ξ
    may well be from the start: 2 is a factor of seven for a number above zero.
    """

    name: str
    start: float
    above: float | None = None
    below: float | None = None
    unit: str = ""
    scale: float = 1.0
    spread: float = 2.0

    def __post_init__(self) -> None:
        number("start", self.start, above=self.above, below=self.below)
        number("scale", self.scale, above=0)
        number("spread", self.spread, above=0)
        if self.above is None and self.below is not None:
            raise InputError(
                f"unknown {self.name!r} has an upper bound alone; give above= as well, or search "
                "for its negative"
            )

    def inner(self, x: float) -> float:
        """ξ of x."""
        if self.above is None:
            return x / self.scale
        if self.below is None:
            return float(np.log(x - self.above))
        return float(np.log((x - self.above) / (self.below - x)))

    def outer(self, xi: float) -> float:
        """x of ξ."""
        if self.above is None:
            return xi * self.scale
        if self.below is None:
            return float(self.above + np.exp(xi))
        return float(self.above + (self.below - self.above) / (1 + np.exp(-xi)))

    def slope(self, x: float) -> float:
        """dx/dξ at x."""
        if self.above is None:
            return self.scale
        if self.below is None:
            return x - self.above
        return (x - self.above) * (self.below - x) / (self.below - self.above)


Materials = Material | Mapping[str, Material]
"""One material, or one for each region, as a body has it."""

MaterialOf = Callable[[Mapping[str, float]], Materials]
"""From the values of the unknowns, by name, to a body's material."""


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Several unknowns, and what a body is made of when they are known."""

    each: tuple[Unknown, ...]
    material: MaterialOf

    def __post_init__(self) -> None:
        names = [unknown.name for unknown in self.each]
        if not names or len(set(names)) < len(names):
            raise InputError(f"the unknowns are {names}; give at least one, each a name of its own")

    @property
    def start(self) -> Floats:
        """ξ of the starts, (k,)."""
        return np.array([unknown.inner(unknown.start) for unknown in self.each])

    @property
    def spread(self) -> Floats:
        """(k,)"""
        return np.array([unknown.spread for unknown in self.each])

    def values(self, xi: Floats) -> dict[str, float]:
        """The unknowns by name."""
        return {u.name: u.outer(float(x)) for u, x in zip(self.each, xi, strict=True)}

    def body(self, like: Body, xi: Floats) -> Body:
        """The body with the material of these unknowns."""
        return replace(like, material=self.material(self.values(xi)))


def unknowns_of(each: Sequence[Unknown], material: MaterialOf) -> Unknowns:
    """Checked unknowns."""
    for unknown in each:
        instance("an unknown", unknown, Unknown, 'Unknown("young", 1e5, above=0, unit="Pa")')
    if not callable(material):
        raise InputError(
            f"material is {material!r}; give a function from the values of the unknowns by name "
            "to a material, e.g. lambda x: StVK(young=x['young'], poisson=0.4)"
        )
    return Unknowns(tuple(each), material)


def elastic_unknowns(body: Body, regions: Sequence[str] | None, poisson: bool) -> Unknowns:
    """Young's modulus of the whole, or of each of some regions, and Poisson's ratio if asked for.

    Regions that are not named keep what they have.
    """
    given = _by_region(body, regions)
    free = list(given) if regions is None else list(regions)
    found: list[Unknown] = []
    for region in free:
        young = _single("young", given[region], region)
        found.append(Unknown(_name("young", region), young, above=0.0, unit="Pa"))
    shared = [_single("poisson", given[region], region) for region in free]
    if poisson:
        if np.ptp(shared) > 0:
            raise InputError(
                f"the regions have Poisson ratios from {min(shared):g} to {max(shared):g}; one "
                "is fitted for all of them: give them the same, or use fit_material"
            )
        found.append(Unknown("poisson", shared[0], above=-1.0, below=0.5))

    def material(values: Mapping[str, float]) -> Materials:
        made = dict(given)
        for region in free:
            changed = {"young": values[_name("young", region)]}
            if poisson:
                changed["poisson"] = values["poisson"]
            made[region] = replace(given[region], **changed)
        return made[""] if list(made) == [""] else made

    return Unknowns(tuple(found), material)


def _name(what: str, region: str) -> str:
    return f"{what} of {region}" if region else what


def _by_region(body: Body, regions: Sequence[str] | None) -> dict[str, Material]:
    """The materials by region, "" for a body of one whose regions nobody asked for."""
    given = body.material
    if isinstance(given, Mapping):
        made = dict(given)
    elif regions is None:
        return {"": given}
    else:
        made = dict.fromkeys(regions, given)
        by_region(body.mesh, made, "cell")  # stops where they do not cover the body once
    unknown = [region for region in regions or () if region not in made]
    if unknown:
        raise InputError(
            f"the body has no material for region {unknown[0]!r}; it has them for {sorted(made)}"
        )
    return made


def _single(name: str, material: Material, region: str) -> float:
    value = np.asarray(getattr(material, name), dtype=float)
    if value.ndim:
        place = f" of region {region!r}" if region else ""
        raise InputError(
            f"{name}{place} is one number for each cell; fit_stiffness needs a single number: "
            "divide the mesh into regions, or use fit_material with a function that makes the field"
        )
    return float(value)
