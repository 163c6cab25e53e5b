"""What meshes of all kinds share: vertices, cells that join them, regions, selection."""

from __future__ import annotations

import dataclasses
from abc import ABC
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh import checks

Span = float | tuple[float | None, float | None]
"""A coordinate [m], or (low, high) with None for an open end."""
Spans = tuple[Span | None, Span | None, Span | None]
Inside = Callable[[Floats], ArrayLike] | None
"""Answers to positions (n, 3) with a mask (n,)."""


@dataclass(frozen=True, eq=False, repr=False)
class Mesh(ABC):
    """Vertices, and cells that join them.

    ``vertices`` (n, 3) rest positions X [m]; ``cells`` (m, k) vertex indices; ``regions`` named
    sets of cell indices. All of them are read-only: ``dataclasses.replace`` makes a variant.
    """

    vertices: Floats
    cells: Ints
    regions: Mapping[str, Ints] = field(default_factory=dict)

    cell_nodes: ClassVar[int]
    """Number of nodes of a cell, k."""
    _corner_edges: ClassVar[Ints]
    """The edges between corners of a cell, (edges, 2)."""
    _cell: ClassVar[str] = "cell"
    """What a cell is called."""
    _lengths: ClassVar[tuple[str, ...]] = ("vertices",)
    """The fields that are lengths, or None."""

    def __post_init__(self) -> None:
        vertices = checks.points(self.vertices)
        cells = checks.connectivity(self.cells, self.cell_nodes, len(vertices), self._cell)
        regions = checks.cell_sets(self.regions, len(cells))
        self._keep(vertices=vertices, cells=cells, regions=regions)

    def _keep(self, **checked: Any) -> None:
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        given = {each.name: _plain(getattr(self, each.name)) for each in dataclasses.fields(self)}
        return partial(type(self), **given), ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_vertices} vertices, {self.n_cells} {self._cell}s)"

    def scaled(self, factor: float) -> Self:
        """This mesh with every length multiplied by ``factor``, e.g. 0.001 from mm to m."""
        scale = checks.scale_factor(factor)
        given = {name: getattr(self, name) for name in self._lengths}
        lengths = {name: scale * value for name, value in given.items() if value is not None}
        return self if scale == 1.0 else dataclasses.replace(self, **lengths)

    # -- measuring ---------------------------------------------------------------------

    @cached_property
    def centroids(self) -> Floats:
        """Mean of the corners of each cell [m], (m, 3)."""
        corners = self.cells[:, : 1 + int(self._corner_edges.max())]
        middle: Floats = self.vertices[corners].mean(axis=1)
        middle.setflags(write=False)
        return middle

    def edge_lengths(self) -> Floats:
        """Length of every edge between corners of each cell [m], (m, edges)."""
        ends = self.vertices[self.cells[:, self._corner_edges]]
        return np.asarray(np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=2))

    @property
    def n_vertices(self) -> int:
        """Number of vertices n."""
        return len(self.vertices)

    @property
    def n_cells(self) -> int:
        """Number of cells m."""
        return len(self.cells)

    @cached_property
    def bounds(self) -> Floats:
        """Lowest and highest corner of the bounding box [m], (2, 3)."""
        box = np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])
        box.setflags(write=False)
        return box

    @property
    def diagonal(self) -> float:
        """Length of the diagonal of the bounding box [m]."""
        return float(np.linalg.norm(self.bounds[1] - self.bounds[0]))

    # -- selecting ---------------------------------------------------------------------

    def where(
        self,
        x: Span | None = None,
        y: Span | None = None,
        z: Span | None = None,
        *,
        tolerance: float | None = None,
        inside: Inside = None,
    ) -> Ints:
        """Indices of the vertices that meet every condition given, (k,).

        ``x``, ``y``, ``z``: a coordinate [m], or (low, high) with None for an open end, ends
        included; ``tolerance`` [m] of these, 1e-6 of the bounding box's diagonal by default;
        ``inside``: a function of positions (n, 3) that answers with a mask (n,).
        """
        return self._select(self.vertices, "vertex", (x, y, z), tolerance, inside)

    def cells_where(
        self,
        x: Span | None = None,
        y: Span | None = None,
        z: Span | None = None,
        *,
        tolerance: float | None = None,
        inside: Inside = None,
    ) -> Ints:
        """Indices of the cells whose centroid meets every condition given, (k,); see where."""
        return self._select(self.centroids, "cell centroid", (x, y, z), tolerance, inside)

    def _select(
        self, positions: Floats, what: str, spans: Spans, tolerance: float | None, inside: Inside
    ) -> Ints:
        if inside is None and all(span is None for span in spans):
            raise InputError("say where: give x, y, z or inside, e.g. mesh.where(x=0)")
        slack = 1e-6 * self.diagonal if tolerance is None else float(tolerance)
        if not slack >= 0:
            raise InputError(f"tolerance={tolerance} must be a length of zero or more [m]")
        chosen = np.ones(len(positions), dtype=bool)
        for axis, span in enumerate(spans):
            if span is not None:
                low, high = _ends(span, "xyz"[axis])
                chosen &= positions[:, axis] >= low - slack
                chosen &= positions[:, axis] <= high + slack
        if inside is not None:
            mask = np.asarray(inside(positions))
            if mask.shape != chosen.shape or mask.dtype != bool:
                raise InputError(
                    f"inside(positions) gave shape {mask.shape} and dtype {mask.dtype}; "
                    f"it must give a mask of shape {chosen.shape}"
                )
            chosen &= mask
        if not chosen.any():
            low, high = positions.min(axis=0), positions.max(axis=0)
            raise InputError(
                f"no {what} is there; they span x {low[0]:.6g} to {high[0]:.6g}, "
                f"y {low[1]:.6g} to {high[1]:.6g}, z {low[2]:.6g} to {high[2]:.6g} m"
            )
        return np.flatnonzero(chosen).astype(np.int64)

    def region(self, name: str) -> Ints:
        """Indices of the cells of a named region."""
        if name not in self.regions:
            raise InputError(f"no region {name!r}; this mesh has: {checks.names(self.regions)}")
        return self.regions[name]

    def region_numbers(self) -> Ints:
        """The region of each cell, numbered from 1 in their order, 0 for none, (m,).

        A cell in several regions has the first.
        """
        numbers = np.zeros(self.n_cells, dtype=np.int64)
        for number, cells in reversed(list(enumerate(self.regions.values(), 1))):
            numbers[cells] = number
        return numbers

    def with_region(self, name: str, cells: ArrayLike) -> Self:
        """This mesh with one more region: cell indices, or a mask (m,)."""
        return dataclasses.replace(self, regions={**self.regions, name: np.asarray(cells)})


def _plain(value: Any) -> Any:
    """Read-only mappings as dictionaries, which can be pickled."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return value


def _ends(span: Span, axis: str) -> tuple[float, float]:
    try:
        if isinstance(span, (tuple, list)):
            low, high = span
            ends = (-np.inf if low is None else float(low), np.inf if high is None else float(high))
        else:
            ends = (float(span), float(span))
    except (TypeError, ValueError) as error:
        raise InputError(f"{axis}={span!r} must be a number or a pair (low, high)") from error
    if not ends[0] <= ends[1]:
        raise InputError(f"{axis}={span!r} must be a pair (low, high) with low ≤ high")
    return ends
