"""Several bodies as one: the vertices of each after those of the one before.

Mass, stiffness and energy of a group are those of its parts, block after block on the diagonal;
what couples them, contact above all, are terms of the simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.assembly import Asked, Evaluation
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.bodies.supports import HeldComponents
from supple.core.errors import InputError
from supple.core.sparse import BlockPattern
from supple.core.types import Floats, Ints
from supple.mesh.group import MeshGroup, points_of


class BodyGroup(ElasticBody):
    """The ``parts`` of a world as one body; a mapping has them by their names."""

    def __init__(self, parts: Iterable[ElasticBody] | Mapping[str, ElasticBody]) -> None:
        names = _checked_names(parts) if isinstance(parts, Mapping) else ()
        given = parts.values() if isinstance(parts, Mapping) else parts
        self.parts: tuple[ElasticBody, ...] = tuple(given)
        _check_parts(self.parts)
        self.mesh: MeshGroup = MeshGroup.of([part.mesh for part in self.parts], names)
        self.fixed = None
        self.supports = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"

    # -- where the parts are -----------------------------------------------------------

    @cached_property
    def rows(self) -> tuple[slice, ...]:
        """Which vertices are those of each part."""
        return self.mesh.rows

    @cached_property
    def blocks(self) -> tuple[slice, ...]:
        """Which blocks of the pattern are those of each part."""
        return _slices(part.pattern.n_blocks for part in self.parts)

    @cached_property
    def _cells(self) -> tuple[slice, ...]:
        return _slices(part.n_cells for part in self.parts)

    def number_of(self, part: ElasticBody | str) -> int:
        """Which of the parts a body is, or the one of a name."""
        if isinstance(part, str):
            if part in self.mesh.names:
                return self.mesh.names.index(part)
            raise InputError(f"no body is called {part!r}; there are {', '.join(self.mesh.names)}")
        for number, each in enumerate(self.parts):
            if each is part:
                return number
        raise InputError(
            f"{part!r} is not one of the bodies of this simulation; sim.bodies lists them"
        )

    def _from_parts(self, of: Callable[[ElasticBody], Floats]) -> Floats:
        return np.concatenate([of(part) for part in self.parts])

    # -- what a body has to say --------------------------------------------------------

    @cached_property
    def contact_vertices(self) -> Ints:
        starts = [0, *accumulate(points_of(part.mesh).count for part in self.parts)]
        shifted = zip(self.parts, starts, strict=False)
        return np.concatenate([part.contact_vertices + start for part, start in shifted])

    @cached_property
    def layer_distances(self) -> Floats:
        return self._from_parts(lambda part: part.layer_distances)

    @cached_property
    def pattern(self) -> BlockPattern:
        return self._joined([part.pattern for part in self.parts])

    @cached_property
    def turning(self) -> BlockPattern:
        if all(part.turning is part.pattern for part in self.parts):
            return self.pattern
        return self._joined([part.turning for part in self.parts])

    def _joined(self, patterns: Sequence[BlockPattern]) -> BlockPattern:
        """Patterns of the parts as one."""
        indptr, cols, count = [np.zeros(1, dtype=np.int64)], [], 0
        for own, rows in zip(patterns, self.rows, strict=True):
            indptr.append(own.indptr[1:] + count)
            cols.append(own.cols + rows.start)
            count += own.n_blocks
        return BlockPattern(np.concatenate(indptr), np.concatenate(cols))

    @cached_property
    def held(self) -> HeldComponents:
        moving = tuple(
            (index + rows.start, support)
            for part, rows in zip(self.parts, self.rows, strict=True)
            for index, support in part.held.moving
        )
        return HeldComponents(np.concatenate([part.free for part in self.parts]), moving)

    def scaled_mass(self, cell_factors: Floats) -> Floats:
        cut = zip(self.parts, self._cells, strict=True)
        return np.concatenate([part.scaled_mass(cell_factors[cells]) for part, cells in cut])

    @cached_property
    def mass_values(self) -> Floats:
        return self._from_parts(lambda part: part.mass_values)

    @property
    def has_constant_mass(self) -> bool:
        return all(part.has_constant_mass for part in self.parts)

    @cached_property
    def total_mass(self) -> float:
        return sum(part.total_mass for part in self.parts)

    @cached_property
    def _rounding(self) -> tuple[float, float]:
        each = np.array([part._rounding for part in self.parts])
        of_strains, of_displacements = np.linalg.norm(each, axis=0)
        return float(of_strains), float(of_displacements)

    @property
    def advice(self) -> str:
        return " ".join(dict.fromkeys(part.advice for part in self.parts if part.advice))

    @property
    def infeasible(self) -> str:
        return ", or ".join(dict.fromkeys(part.infeasible for part in self.parts))

    def feasible_step(self, u: Floats, step: Floats) -> float:
        pairs = zip(self.parts, self.rows, strict=True)
        return min(part.feasible_step(u[rows], step[rows]) for part, rows in pairs)

    def is_feasible(self, u: Floats) -> bool:
        pairs = zip(self.parts, self.rows, strict=True)
        return all(part.is_feasible(u[rows]) for part, rows in pairs)

    def _evaluate(self, u: Floats, asked: Asked) -> Evaluation:
        values = asked.stiffness
        if asked.order >= 2 and values is None:
            values = np.empty((self.pattern.n_blocks, 3, 3))
        found = [
            part._evaluate(
                u[rows],
                replace(
                    asked,
                    direction=None if asked.direction is None else asked.direction[rows],
                    cell_factors=None if asked.cell_factors is None else asked.cell_factors[cells],
                    stiffness=None if values is None else values[blocks],
                ),
            )
            for part, rows, blocks, cells in zip(
                self.parts, self.rows, self.blocks, self._cells, strict=True
            )
        ]
        return Evaluation(
            sum(each.energy for each in found),
            np.concatenate([each.gradient for each in found]),
            np.concatenate([each.product for each in found]),
            np.empty((0, 3, 3)) if values is None or asked.order < 2 else values,
        )

    def weight(self, gravity: ArrayLike) -> Floats:
        return self._from_parts(lambda part: part.weight(gravity))

    def shape_of(self, shape: Shape, number: int) -> Shape:
        """One part at a shape of the whole; nothing of it is worked out again."""
        key = (self, number)
        if key not in shape.known:
            shape.known[key] = PartShape(self, shape, number)
        found: Shape = shape.known[key]
        return found


class PartShape(Shape):
    """A part of a group, at a shape of the group that has been evaluated."""

    def __init__(self, group: BodyGroup, whole: Shape, number: int) -> None:
        self.body, self.u = group.parts[number], whole.u[group.rows[number]]
        self.known = {}
        self._whole, self._rows, self._blocks = whole, group.rows[number], group.blocks[number]

    @property
    def order(self) -> int:
        return self._whole.order

    @cached_property
    def energy(self) -> float:
        return self.body.evaluate(self.u, order=0).energy

    @property
    def gradient(self) -> Floats:
        return self._whole.gradient[self._rows]

    @property
    def stiffness(self) -> Floats:
        return self._whole.stiffness[self._blocks]

    @property
    def has_stiffness(self) -> bool:
        return self._whole.has_stiffness

    @property
    def definite_stiffness(self) -> Floats:
        return self._whole.definite_stiffness[self._blocks]


def _checked_names(given: Mapping[str, ElasticBody]) -> tuple[str, ...]:
    for name in given:
        if not (isinstance(name, str) and name.strip()):
            raise InputError(f"a body is called {name!r}; give each a name that is a text")
    return tuple(given)


def _check_parts(parts: Sequence[ElasticBody]) -> None:
    if not parts:
        raise InputError("there is no body; give one, or a list of several")
    for number, part in enumerate(parts):
        if not isinstance(part, ElasticBody) or isinstance(part, BodyGroup):
            raise InputError(
                f"body {number} is a {type(part).__name__}; give a Body, a Cloth, a "
                "SpringNetwork, a RigidBody, of a reduced model a ReducedBody(model), or of woven "
                "cloth a WovenBody(cloth)"
            )
        if any(part is other for other in parts[:number]):
            raise InputError(
                f"body {number} is there twice; make another with dataclasses.replace(body), "
                "moved to where it starts"
            )


def _slices(counts: Iterable[int]) -> tuple[slice, ...]:
    return tuple(slice(*pair) for pair in pairwise([0, *accumulate(counts)]))
