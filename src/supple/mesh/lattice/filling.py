"""How a surface is filled with the tets of a lattice: the same ones every time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.checks import number, whole_number
from supple.core.errors import InputError, MeshError
from supple.core.types import Floats, Ints
from supple.mesh.lattice.fragments import without_fragments
from supple.mesh.lattice.grid import grid_about
from supple.mesh.lattice.inside import Enclosed
from supple.mesh.lattice.stuffing import stuffed
from supple.mesh.lattice.symmetry import frame_of
from supple.mesh.lattice.thin import thickened
from supple.mesh.surface import Surface

_EDGES = 20.0  # to the diagonal of the bounding box, where nothing else is said
_MOST = 200.0  # to the longest side: a finer lattice would fill the memory
_COARSEST = 6
_TRIES = 5
_CLOSE = 0.1  # of the wished number of vertices: near enough
_GROWTH = 1 / 2.3  # of the edge with the number of vertices, about
_PER_AREA, _PER_VOLUME = 1.3, 0.6  # vertices to edge² and edge³, about


@dataclass(frozen=True)
class LatticeFilling:
    """Isosurface stuffing (Labelle and Shewchuk 2007): tets of a lattice that the surface cuts.

    The same surface gives the same mesh, bit for bit. Dihedral angles are between 10° and 165°, but
    for some where the mesh meets a plane of symmetry, or where thin places were thickened. Any
    triangles will do, also open, doubled, nested or crossing ones: inside is where their winding
    number is more than a half. Where the surface has a plane of symmetry, the mesh is its own
    mirror image in it. Parts that come near each other stay apart.

    ``edge``: long edges of the lattice at the surface [m], by default a twentieth of the diagonal
    of the bounding box; short ones are 0.87 times as long. ``vertices``: about how many there
    shall be instead. ``grading``: inside, edges double so often. ``least_thickness``: what is
    thinner than so many edges is thickened to that first, as a lattice would miss it; 0 leaves
    all as it is, and what falls between its points is lost.
    """

    edge: float | None = None
    vertices: int | None = None
    grading: int = 1
    least_thickness: float = 1.4

    def __post_init__(self) -> None:
        if self.edge is not None and self.vertices is not None:
            raise InputError("give the edge or the number of vertices, not both")
        if self.edge is not None:
            number("edge", self.edge, above=0, unit="m")
        if self.vertices is not None:
            whole_number("vertices", self.vertices, at_least=20)
        if whole_number("grading", self.grading, at_least=0) > _COARSEST:
            raise InputError(f"grading={self.grading!r} must be at most {_COARSEST}")
        number("least_thickness", self.least_thickness, at_least=0)

    def fill(self, surface: Surface) -> tuple[Floats, Ints]:
        """Vertices (n, 3) [m] and tets (m, 4) inside a surface."""
        solid = Enclosed.by(surface)
        if self.vertices is None:
            diagonal = float(np.linalg.norm(np.ptp(solid.surface.bounds, axis=0)))
            return self._with(solid, diagonal / _EDGES if self.edge is None else self.edge)
        edge, found = edge_for(solid.surface, self.vertices), None
        for _ in range(_TRIES):
            tried = self._tried(solid, edge)
            if tried is None:  # nothing of the surface has a point of the lattice in it
                edge = max(0.7 * edge, solid.size / _MOST)
                continue
            ratio = len(tried[0]) / self.vertices
            if found is None or abs(np.log(ratio)) < abs(np.log(len(found[0]) / self.vertices)):
                found = tried
            if abs(ratio - 1) < _CLOSE:
                break
            edge = min(max(edge * ratio**_GROWTH, solid.size / _MOST), solid.size)
        if found is None:
            raise MeshError("the surface encloses no volume that a lattice could fill")
        return found

    def _tried(self, solid: Enclosed, edge: float) -> tuple[Floats, Ints] | None:
        try:
            return self._with(solid, edge)
        except MeshError:
            return None

    def _with(self, solid: Enclosed, edge: float) -> tuple[Floats, Ints]:
        if not solid.size / _MOST <= edge <= solid.size:
            raise InputError(
                f"edge={edge!r} must be between a two-hundredth of the surface's longest side and "
                f"all of it [m], e.g. {solid.size / 30:.3g}"
            )
        frame = frame_of(solid)
        thick = thickened(solid, self.least_thickness * edge)
        vertices, cells = stuffed(thick, grid_about(thick, frame, edge, self.grading))
        return without_fragments(thick, vertices, cells)


def edge_for(surface: Surface, vertices: int) -> float:
    """The edge [m] that makes about so many vertices."""
    size = float(np.ptp(surface.bounds, axis=0).max())
    box = float(np.prod(np.ptp(surface.bounds, axis=0)))
    volume = min(abs(surface.volume), box)
    # n = a A x² + b V x³ for x = 1 / edge, which has one positive root
    roots = np.roots([_PER_VOLUME * volume, _PER_AREA * surface.area, 0.0, -vertices])
    edge = float(1.0 / roots[np.argmax(roots.real)].real)
    return min(max(edge, size / _MOST), 0.5 * size)
