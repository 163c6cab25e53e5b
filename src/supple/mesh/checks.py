"""Checks that every mesh passes when it is made; each failure names the culprit and the cure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.core.errors import InputError, MeshError
from supple.core.types import Bools, Floats, Ints

FLAT = 1e-10
"""A cell whose volume is below this times its longest edge cubed counts as flat."""

_LARGEST = 1e100  # [m]; beyond it volumes overflow


class MeshWarning(UserWarning):
    """Something in a mesh, or in a file that holds one, was mended or left out."""


def frozen(array: Any, dtype: type) -> NDArray[Any]:
    """A read-only C-order array; a copy is made only where the caller could still write."""
    given = np.asarray(array)
    if given.dtype == dtype and given.flags.c_contiguous and not given.flags.writeable:
        return given
    made: NDArray[Any] = np.array(given, dtype=dtype, order="C")
    made.setflags(write=False)
    return made


def scale_factor(factor: float) -> float:
    """Check a factor by which lengths are multiplied."""
    if not 0 < factor < float("inf"):
        raise InputError(f"factor={factor!r} must be a number above zero, e.g. 0.001 from mm to m")
    return float(factor)


def within_reach(points: Floats) -> bool:
    """Whether all coordinates are finite, and small enough to be multiplied."""
    return bool((np.abs(points) <= _LARGEST).all())


def points(vertices: Any) -> Floats:
    """Check positions [m], (n, 3), and return them as a read-only array."""
    try:
        array = np.asarray(vertices)
    except ValueError as error:
        raise MeshError(f"vertices are not an (n, 3) array of numbers: {error}") from error
    if array.dtype.kind not in "fiu":
        raise MeshError(f"vertices have dtype {array.dtype}; they must be real numbers, (n, 3)")
    if array.ndim == 2 and array.shape[1] == 2:
        raise MeshError(
            f"vertices have shape {array.shape}: a 2D mesh; Supple needs solids in space, (n, 3)"
        )
    if array.ndim != 2 or array.shape[1] != 3:
        raise MeshError(f"vertices have shape {array.shape}; they must be (n, 3)")
    if not len(array):
        raise MeshError("the mesh is empty: it has no vertices")
    made: Floats = frozen(array, np.float64)
    for k, others in _first(~(np.abs(made) <= _LARGEST).all(axis=1)):
        raise MeshError(
            f"vertex {k} is at {made[k].tolist()}{others}; "
            f"every coordinate must be finite (and below {_LARGEST:g} m)"
        )
    return made


def connectivity(cells: Any, nodes: int, n_vertices: int, what: str = "cell") -> Ints:
    """Check vertex indices (m, nodes) and return them as a read-only array."""
    try:
        array = np.asarray(cells)
    except ValueError as error:
        raise MeshError(f"{what}s are not an (m, {nodes}) array of indices: {error}") from error
    if array.size == 0:
        raise MeshError(f"the mesh is empty: it has no {what}s")
    if array.ndim != 2 or array.shape[1] != nodes:
        raise MeshError(f"{what}s have shape {array.shape}; they must be (m, {nodes})")
    if array.dtype.kind not in "iu":
        raise MeshError(f"{what}s have dtype {array.dtype}; they must be whole vertex numbers")
    made: Ints = frozen(array, np.int64)
    for k, others in _first(((made < 0) | (made >= n_vertices)).any(axis=1)):
        raise MeshError(
            f"{what} {k} is {made[k].tolist()}{others}, but vertices are numbered "
            f"0 to {n_vertices - 1}; does the numbering start at 1?"
        )
    return made


def no_repeats(cells: Ints) -> None:
    """Raise where a cell names a vertex twice."""
    ordered = np.sort(cells, axis=1)
    for k, others in _first((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
        raise MeshError(
            f"cell {k} is {cells[k].tolist()}{others}: it names a vertex twice; "
            "remove it, or split it into cells of fewer corners"
        )


def all_referenced(cells: Ints, n_vertices: int, what: str, advice: str) -> None:
    """Raise where a vertex belongs to no cell: it would have no mass."""
    bad = np.ones(n_vertices, dtype=bool)
    bad[cells.ravel()] = False
    for k, others in _first(bad):
        raise MeshError(f"vertex {k} belongs to no {what}{others}; {advice}")


def solid(vertices: Floats, edges: Floats, volumes: Floats, worst: Floats, kind: str) -> None:
    """Raise where cells are flat or turned inside out.

    ``edges`` (m,) longest edge [m], ``volumes`` (m,) signed [m³], ``worst`` (m,) the smallest
    volume ratio that the cell's map has anywhere, as a volume [m³].
    """
    extent = np.ptp(vertices, axis=0)
    if extent.min() <= 1e-12 * extent.max():
        axis = "xyz"[int(np.argmin(extent))]
        raise MeshError(
            f"a 2D mesh: all vertices have the same {axis}, so every cell has zero volume; "
            "Supple needs solids in space"
        )
    least = FLAT * edges**3
    for k, others in _first(np.abs(volumes) <= least):
        raise MeshError(
            f"cell {k} is flat (volume {volumes[k]:.3g} m³, longest edge "
            f"{edges[k]:.3g} m){others}; remove it or mesh the shape anew"
        )
    for k, others in _first(volumes < 0):
        raise MeshError(
            f"cell {k} is inverted (volume {volumes[k]:.3g} m³){others}; "
            f"{kind}.cleaned(vertices, cells) turns such cells round"
        )
    for k, others in _first(worst <= least):
        raise MeshError(
            f"cell {k} is inverted in part: its Jacobian falls to {worst[k]:.3g} m³"
            f"{others}; is its vertex order right, or is it too distorted?"
        )


def cell_sets(regions: Mapping[str, Any], n_cells: int) -> Mapping[str, Ints]:
    """Check named sets of cells and return them read-only, sorted, each cell once."""
    made: dict[str, Ints] = {}
    for name, cells in regions.items():
        if not isinstance(name, str) or not name:
            raise MeshError(f"region name {name!r} must be a word")
        array = np.asarray(cells)
        if array.dtype == bool:
            if array.shape != (n_cells,):
                raise MeshError(
                    f"region {name!r} is a mask of shape {array.shape}; it must be ({n_cells},)"
                )
            array = np.flatnonzero(array)
        if array.size and array.dtype.kind not in "iu":
            raise MeshError(f"region {name!r} has dtype {array.dtype}; it must be cell numbers")
        ids = np.unique(array.astype(np.int64))
        if ids.size and (ids[0] < 0 or ids[-1] >= n_cells):
            culprit = int(ids[0] if ids[0] < 0 else ids[-1])
            raise MeshError(
                f"region {name!r} names cell {culprit}, but cells are numbered 0 to {n_cells - 1}"
            )
        ids.setflags(write=False)
        made[name] = ids
    return MappingProxyType(made)


def region_values(
    properties: Mapping[str, Mapping[str, float]], regions: Mapping[str, Ints]
) -> Mapping[str, Mapping[str, float]]:
    """Check material values by region and return them read-only."""
    made: dict[str, Mapping[str, float]] = {}
    for name, values in properties.items():
        if name not in regions:
            raise MeshError(
                f"properties name the region {name!r}, which the mesh does not have; "
                f"its regions: {names(regions)}"
            )
        made[name] = MappingProxyType({key: float(value) for key, value in values.items()})
    return MappingProxyType(made)


def names(regions: Mapping[str, Any]) -> str:
    """The keys as a readable list."""
    return ", ".join(repr(name) for name in regions) or "none"


def _first(bad: Bools | np.bool) -> Iterator[tuple[int, str]]:
    """The first that is bad, if any is, with words for how many others there are."""
    if bad.any():
        more = int(np.count_nonzero(bad)) - 1
        yield int(np.argmax(bad)), f" (and {more} more like it)" if more else ""
