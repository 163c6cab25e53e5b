"""Example deformations: what is damped on its own, how strongly, and of which part of the body.

An example is a straight line of shapes χ x, or one that bends with the body (an *equilibrium
path*),

    s(χ) = χ x + χ² y₂ + χ³ y₃ + …        s'(χ) = x + 2 χ y₂ + 3 χ² y₃ + …

and what counts as motion along it, at excitation χ, is s'(χ).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.core.checks import instance, number, numbers, vertex_indices
from supple.core.errors import InputError
from supple.core.parameters import ARRAY, Kind, Parameter, described, parameter
from supple.core.types import Bools, Floats
from supple.damping.curve import CURVE, Curve


class Measure(Enum):
    """What the curve of an example is a function of."""

    EXCITATION = "excitation"
    """The size of χ: how much of the example is in the deformation; 1 is the example itself."""
    RATE = "rate"
    """The size of its rate [1/s]: how fast that changes."""


def _region(of: Parameter, value: Any) -> Any:
    """The name of a region, or vertices as an array of indices (k,), in order."""
    if isinstance(value, str):
        if not value:
            raise InputError(f"{of.name}='': give the name of a region, or its vertices")
        return value
    array = np.atleast_1d(np.asarray(value))
    if array.dtype == bool and array.ndim == 1:
        array = np.flatnonzero(array)
    if array.ndim != 1 or not array.size or array.dtype.kind not in "iu" or array.min() < 0:
        raise InputError(
            f"{of.name}={value!r}: give the name of a region, or its vertices: indices (k,) or a "
            "mask (n,)"
        )
    vertices = np.unique(array).astype(np.int64)
    vertices.setflags(write=False)
    return vertices


REGION = Kind("the name of a region, or vertices", _region)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Example:
    """A deformation, and how strongly motion along it is damped.

    ``shape`` are displacements (n, 3) [m]. ``curve`` scales the base damping: a number, or a curve
    of the ``measure``. An example with a ``region``, the name of one or its vertices, is local: a
    deformation of that part alone, seen from what carries the part, whatever the rest does.

    ``bend`` (p, n, 3) [m] are y₂, y₃, … of an example that bends with the body, which
    ``bent_example`` finds; beyond an excitation of ``reach`` it goes on straight.
    """

    shape: Floats = field(metadata=described("displacements (n, 3)", kind=ARRAY, unit="m"))
    curve: Curve = field(metadata=described("γ, times the base damping", kind=CURVE))
    measure: Measure = parameter(
        Measure.EXCITATION, "what the curve is a function of", kind=Measure
    )
    region: Any = parameter(None, "the part of the body that it belongs to", kind=REGION)
    name: str = parameter("", "to know it by")
    bend: Floats | None = parameter(
        None,
        "coefficients (p, n, 3) of χ², χ³, …: how it bends with the body",
        kind=ARRAY,
        unit="m",
    )
    reach: float | None = parameter(None, "excitation up to which it bends", above=0)
    _told: set[str] = field(init=False)
    """What was said of the deformation, with any curve: it is said once."""

    def __init__(
        self,
        shape: ArrayLike,
        curve: Curve | float = 1.0,
        *,
        measure: Measure = Measure.EXCITATION,
        name: str = "",
        region: str | ArrayLike | None = None,
        bend: ArrayLike | None = None,
        reach: float | None = None,
    ) -> None:
        displacements = numbers("shape", shape)
        if displacements.ndim != 2 or displacements.shape[1] != 3:
            raise InputError(
                f"an example has shape {displacements.shape}; give displacements (n, 3), such as "
                "modes.shapes[0]"
            )
        if not displacements.any():
            raise InputError("an example that moves nothing cannot be damped; give displacements")
        instance("measure", measure, Measure, "Measure.RATE")
        displacements.setflags(write=False)
        curved = None
        if (bend is None) != (reach is None):
            raise InputError("bend and reach belong together; bent_example(body, example) has both")
        if bend is not None:
            reach = number("reach", reach, above=0)
            curved = numbers("bend", bend)
            if curved.ndim != 3 or curved.shape[1:] != displacements.shape or not len(curved):
                raise InputError(
                    f"bend has shape {curved.shape}; give coefficients (p, "
                    f"{len(displacements)}, 3) of χ², χ³, …, as bent_example does"
                )
            curved.setflags(write=False)
        for key, value in (
            ("shape", displacements),
            ("curve", Curve.of(curve)),
            ("measure", measure),
            ("name", str(name)),
            ("region", None if region is None else _region(_REGION_PARAMETER, region)),
            ("bend", curved),
            ("reach", reach),
            ("_told", set()),
        ):
            object.__setattr__(self, key, value)

    def __repr__(self) -> str:
        label = f"{self.name!r}, " if self.name else ""
        part = f" within {self.part}" if self.is_local else ""
        return f"Example({label}{len(self.shape)} vertices{part}, {self.curve})"

    @property
    def is_local(self) -> bool:
        """Whether it belongs to a part of the body."""
        return self.region is not None

    @property
    def part(self) -> str:
        """That part in words."""
        if self.region is None:
            return "the whole body"
        return repr(self.region) if isinstance(self.region, str) else f"{len(self.region)} vertices"

    @property
    def amplitude(self) -> float:
        """How far the vertex that moves most goes at excitation 1 [m]."""
        return float(np.linalg.norm(self.shape, axis=1).max())

    @property
    def is_bent(self) -> bool:
        """Whether it bends with the body."""
        return self.bend is not None

    def at(self, excitation: float) -> Floats:
        """The deformation s(χ) (n, 3) [m] at an excitation χ."""
        chi = number("excitation", excitation)
        if self.bend is None or self.reach is None:
            return chi * self.shape
        inside = float(np.clip(chi, -self.reach, self.reach))
        powers = inside ** np.arange(2, 2 + len(self.bend))
        on_path = inside * self.shape + np.tensordot(powers, self.bend, 1)
        return on_path + (chi - inside) * self.tangent(inside)

    def tangent(self, excitation: float) -> Floats:
        """What counts as motion along it, s'(χ) (n, 3) [m], at an excitation χ."""
        if self.bend is None or self.reach is None:
            return self.shape
        weights = slopes(np.clip(excitation, -self.reach, self.reach), len(self.bend))
        return self.shape + np.tensordot(weights, self.bend, 1)

    def scaled(self, amplitude: float) -> Example:
        """The example with its farthest vertex moved by ``amplitude`` [m] at excitation 1.

        One that bends goes there straight on, by its shape.
        """
        wanted = number("amplitude", amplitude, above=0, unit="m")
        factor = wanted / self.amplitude
        if self.bend is None or self.reach is None:
            return self._with(shape=self.shape * factor)
        powers = factor ** np.arange(2, 2 + len(self.bend))
        bend = powers[:, None, None] * self.bend
        return self._with(shape=self.shape * factor, bend=bend, reach=self.reach / factor)

    def with_shape(self, shape: ArrayLike) -> Example:
        """The example with another deformation, which does not bend."""
        return self._with(shape=shape, bend=None, reach=None)

    def with_bend(self, bend: ArrayLike, reach: float) -> Example:
        """The example with coefficients (p, n, 3) [m] of χ², χ³, …, up to χ = ±``reach``."""
        return self._with(bend=bend, reach=reach)

    def with_curve(self, curve: Curve | float) -> Example:
        """The example with another curve."""
        made = self._with(curve=curve)
        object.__setattr__(made, "_told", self._told)
        return made

    def _with(self, **changed: Any) -> Example:
        names = ("shape", "curve", "measure", "name", "region", "bend", "reach")
        return Example(**{name: getattr(self, name) for name in names} | changed)

    def is_news(self, what: str) -> bool:
        """Whether something was not yet said of this deformation; from now on it was."""
        news = what not in self._told
        self._told.add(what)
        return news

    def vertices_of(self, body: ElasticBody) -> Bools | None:
        """The vertices (n,) of its part, which alone it may move; None for the whole body.

        Those of a named region are in no other cell: its border moves with the rest.
        """
        if self.region is None:
            return None
        inside = np.zeros(body.n_vertices, dtype=bool)
        if isinstance(self.region, str):
            cells = body.mesh.region(self.region)
            inside[body.mesh.cells[cells]] = True
            inside[np.delete(body.mesh.cells, cells, axis=0)] = False
        else:
            inside[vertex_indices("region", self.region, body.n_vertices)] = True
        moves = np.abs(self.shape if self.bend is None else [self.shape, *self.bend])
        outside = np.where(inside[:, None] | ~body.free, 0.0, moves).max(initial=0.0)
        if outside > 0:
            raise InputError(
                f"an example within {self.part} moves vertices outside of it, by up to "
                f"{outside:.3g} m; cut it with shape_within(body, shape, region, blend=...)"
            )
        return inside


_REGION_PARAMETER = Parameter("region", REGION, None)


def slopes(excitation: float, count: int) -> Floats:
    """2 χ, 3 χ², …: weights (count,) of y₂, y₃, … in s'(χ)."""
    powers = np.arange(1, count + 1)
    weights: Floats = (powers + 1) * float(excitation) ** powers
    return weights


def _examples(of: Parameter, value: Any) -> tuple[Example, ...]:
    examples = tuple(value) if isinstance(value, Iterable) else (None,)
    if not all(isinstance(example, Example) for example in examples):
        raise InputError(f"{of.name}={value!r}: give a list such as [Example(shape, curve=3.0)]")
    return examples


EXAMPLES = Kind("examples", _examples)


def label_of(examples: Iterable[Example], i: int) -> str:
    """An example as messages call it."""
    name = tuple(examples)[i].name
    return f"{i} ({name!r})" if name else f"{i}"
