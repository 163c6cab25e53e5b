"""Examples that bend with the body: the equilibrium path through their excitations.

A body that bends far swings in arcs. The shapes that are bent as far as χ times an example x, and
no more strained than that takes, are an *equilibrium path*

    min U(u) − f·u    subject to    D (u − u₀) = χ,        D ∝ M x

which begins along K⁻¹M x: the example itself where that is a vibration mode. It is kept as a
polynomial of the excitation, s(χ) = χ x + χ² y₂ + χ³ y₃ + …
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.core.checks import instance, number, vector
from supple.core.errors import InputError
from supple.core.types import Floats, Progress
from supple.damping.examples.deformation import Example
from supple.design.relaxed import Direction, Energy, in_coordinates, in_full, minimised
from supple.reduction import ReducedModel
from supple.reduction.damping.examples import ExampleWarning
from supple.solvers.interface import NotPositiveDefinite
from supple.solvers.linear.cholesky import Factorization

_SHAPES = 8  # on either side
_MOST_POWERS = 7  # of χ
_CLOSE = 1e-3  # share of the largest deformation that the polynomial may be off
_ALIKE = 0.9  # share of an example, by mass, that its path should begin with
_CUTS = 4  # a way to the next shape that is not found is halved so often


def bent_example(
    body: ElasticBody | ReducedModel,
    example: Example,
    *,
    reach: float,
    about: ArrayLike | None = None,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    progress: Progress | None = None,
) -> Example:
    """The example as the body bends that is deformed by it, up to an excitation of ``reach``.

    At each excitation it is the shape of least energy. For small ones that is a vibration mode
    itself; of any other shape what is smooth is kept, and an ExampleWarning tells where that is
    little. The body may be any that is held, or a reduced model. Where excitations are counted from
    a shape ``about`` (n, 3), give that, and the ``gravity`` [m/s²] that it hangs in. Raises
    InputError where there is no equilibrium within reach.
    """
    instance("example", example, Example, "Example(modes.shapes[0])")
    instance("body", body, (ElasticBody, ReducedModel), "Body(mesh, StVK(young=1e6, poisson=0.4))")
    far = number("reach", reach, above=0)
    down = vector("gravity", gravity)
    path: _Path
    if isinstance(body, ReducedModel):
        path = _InModel(body, example, about, down)
    else:
        path = _InFull(body, example, about, down)
    shapes = [np.zeros_like(path.x)]
    for side in (far, -far):
        for u in path.followed(side):
            shapes.append(u)
            if progress is not None:
                progress(len(shapes) - 1, 2 * _SHAPES, "shapes of the path")
    _tell_of_shape(path)
    bend = _polynomial(np.array(shapes), path, far)
    return example.with_shape(path.field(path.x)).with_bend([path.field(y) for y in bend], far)


def _tell_of_shape(path: _Path) -> None:
    alike = np.sqrt(np.vdot(path.given, path.momenta) / path.size())  # both have D x = 1
    if alike < _ALIKE:
        warnings.warn(
            f"{path.label} is no smooth deformation: the shape of least energy with its excitation "
            f"has {100 * alike:.0f} % of it in common. Bend vibration modes, or leave it straight",
            ExampleWarning,
            stacklevel=3,
        )


class _Path(ABC):
    """An example in some coordinates, and the energy that its path is to be least in."""

    about: Floats
    given: Floats
    """The example as it is given."""
    momenta: Floats
    """M times that."""
    x: Floats
    """The direction in which the path begins, with an excitation of 1."""
    energy: Energy
    direction: Direction

    def __init__(self, example: Example) -> None:
        self.label = f"the example {example.name!r}" if example.name else "the example"

    @property
    def dual(self) -> Floats:
        """D with χ = D (u − u₀)."""
        dual: Floats = self.momenta / np.vdot(self.given, self.momenta)
        return dual

    @abstractmethod
    def size(self) -> float:
        """xᵀMx."""

    @abstractmethod
    def field(self, y: Floats) -> Floats:
        """Displacements (n, 3) of coordinates."""

    def _begin(self, answer: Floats) -> None:
        """Takes K⁻¹M x as the direction."""
        self.x = answer / np.vdot(self.dual, answer)

    def followed(self, reach: float) -> Iterator[Floats]:
        """Deformations along the path, at equal distances up to ``reach``."""
        by = reach / _SHAPES
        u, way = self.about, by * self.x
        for k in range(1, _SHAPES + 1):
            u, way = self._next(u, way, by, (k - 1) * by)
            yield u - self.about

    def _next(self, u: Floats, way: Floats, by: float, so_far: float) -> tuple[Floats, Floats]:
        """The shape that is farther by an excitation, and the step to it; ``way`` is the last."""
        for cuts in range(_CUTS + 1):
            there = u
            try:
                for _ in range(2**cuts):
                    straight = there + by / 2**cuts * self.x
                    ahead = there + way / 2**cuts
                    there = minimised(self.energy, self.direction, ahead, straight, self.label)
            except InputError:
                continue
            return there, there - u
        raise InputError(
            f"{self.label}: no equilibrium was found beyond an excitation of {so_far:.3g}; give a "
            "smaller reach, or leave it straight"
        )


class _InModel(_Path):
    def __init__(
        self, model: ReducedModel, example: Example, about: ArrayLike | None, gravity: Floats
    ) -> None:
        super().__init__(example)
        if example.is_local:
            raise InputError("a local example bends with its part: give the body, not its model")
        self._model = model
        self.given = model.coordinates(example.shape)
        self.momenta = model.mass @ self.given
        self.about = np.zeros(model.size) if about is None else model.coordinates(about)
        answer = np.linalg.solve(model.stiffness(self.about), self.momenta)
        self._begin(np.asarray(answer, dtype=float))
        load = model.weight(gravity)
        self.energy, self.direction = in_coordinates(model.evaluate, load, self.dual[None])

    def size(self) -> float:
        return float(self.x @ self._model.mass @ self.x)

    def field(self, y: Floats) -> Floats:
        return self._model.displacements(y)


class _InFull(_Path):
    def __init__(
        self, body: ElasticBody, example: Example, about: ArrayLike | None, gravity: Floats
    ) -> None:
        super().__init__(example)
        if body.free_rigid_motions:
            raise InputError(
                "a body that nothing holds firmly has no shape at rest under a load; give its "
                "reduced model in place of it, reduce(body, basis)"
            )
        self._body, part = body, example.vertices_of(body)
        free = body.free if part is None else body.free & part[:, None]
        self.given = np.where(free, body.checked("the example", example.shape), 0.0)
        self.momenta = np.where(free, body.mass_times(self.given), 0.0)
        self.about = np.zeros_like(self.given) if about is None else body.checked("about", about)
        factorization = Factorization(body.pattern, free)
        try:
            factorization.factorize(body.evaluate(self.about, order=2).stiffness)
        except NotPositiveDefinite as error:
            raise InputError(
                f"{self.label}: the shape that it is counted from is no stable equilibrium; give "
                "about=static_shape(body, gravity=...)"
            ) from error
        self._begin(factorization.solve(self.momenta[None])[0])
        self.energy, self.direction = in_full(body, body.weight(gravity), self.dual[None], free)

    def size(self) -> float:
        return float(np.vdot(self.x, self._body.mass_times(self.x)))

    def field(self, y: Floats) -> Floats:
        return y


def _polynomial(shapes: Floats, path: _Path, reach: float) -> Floats:
    """y₂, y₃, … (p, ...) of the polynomial of fewest powers that is close to the shapes."""
    rows = shapes.reshape(len(shapes), -1)
    share = rows @ path.dual.ravel() / reach  # χ / reach
    rest = rows - reach * np.outer(share, path.x.ravel())
    size = np.sqrt((rows**2).sum(axis=1).max())
    for most in range(2, _MOST_POWERS + 1):
        powers = np.arange(2, most + 1)
        basis = share[:, None] ** powers
        found = np.linalg.lstsq(basis, rest, rcond=None)[0]
        off = float(np.sqrt(((basis @ found - rest) ** 2).sum(axis=1).max()) / size)
        if off <= _CLOSE:
            break
    if off > 10 * _CLOSE:
        raise InputError(
            f"{path.label} is no smooth path up to an excitation of {reach:g}: a polynomial of "
            f"degree {_MOST_POWERS} is {100 * off:.2g} % off it; give a smaller reach"
        )
    return (found / reach ** powers[:, None]).reshape(len(powers), *path.x.shape)
