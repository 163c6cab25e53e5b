"""A character's volume: tets in and around its surface (pose space paper, §4.1)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from supple.character.rigs.base import PoseRig
from supple.character.skeleton.bones import Bones, as_segments, crossed_cells, segment_distances
from supple.contact.obstacles.triangle_tree import TriangleTree
from supple.core.checks import instance, number, vertex_indices, whole_number
from supple.core.errors import InputError, MeshError, MissingExtra
from supple.core.types import Bools, Floats, Ints, Progress
from supple.mesh import Embedding, HexMesh, LatticeFilling, TetMesh
from supple.mesh.checks import MeshWarning
from supple.mesh.surface import Surface

Method = Literal["ftetwild", "lattice", "voxels"]

_VERTICES = 3000
_MOST_OUTSIDE = 0.2  # of the surface's vertices: more than these must not be left out by tets
_LOOSE = 0.2  # of an edge: how far the tets may be from the surface, which they only carry
_PER_AREA, _PER_VOLUME = 2.0, 0.72  # vertices that fTetWild makes per edge² and edge³, measured
_CUBES = 31  # along the longest side: where the search for a resolution begins
_GROWTH = 0.4  # of the resolution with the number of vertices, about
_TRIES = 4
_CLOSE = 0.1  # of the wished number of vertices: near enough
_FLAT = 1e-3  # of their spread: fixed vertices that are in line as closely as this hold no turn
_FACES = np.array([(1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)])


@dataclass(frozen=True, eq=False, repr=False)
class Volume:
    """A tet mesh of a character in its neutral pose, and its surface in it."""

    mesh: TetMesh
    skin: Embedding
    """The surface of the rig, every vertex tied to a tet: the one it is in, or the nearest."""
    fixed: Bools
    """Vertices that follow the rig exactly, (n,)."""
    notes: tuple[str, ...] = ()
    """How it was made and what to know of it, in sentences."""

    @classmethod
    def around(cls, mesh: TetMesh, surface: Surface, notes: tuple[str, ...] = ()) -> Volume:
        """With nothing fixed; what of the surface is not in the tets goes without a warning."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MeshWarning)  # the notes tell
            skin = Embedding(mesh, surface)
        return cls(mesh, skin, np.zeros(mesh.n_vertices, dtype=bool), notes)

    def __repr__(self) -> str:
        return f"Volume({self.mesh!r}, {np.count_nonzero(self.fixed)} vertices fixed)"

    def held(
        self,
        bones: Bones | ArrayLike | None = None,
        *,
        share: float | None = 0.3,
        fixed: ArrayLike | None = None,
    ) -> Volume:
        """The same with vertices fixed: those on bones, and those given.

        ``bones`` are those of a character, or segments (k, 2, 3) or points (k, 3) [m]. ``share``
        is how far from a bone to the skin it is stiff, 0 to 1; None fixes all vertices of the tets
        that bones cross. ``fixed`` are further vertices, indices (k,) or a mask (n,). Pieces of the
        mesh that hang on nothing are fixed as a whole; the notes tell which.
        """
        if share is not None:
            number("share", share, at_least=0, below=1)
        found, crossed = np.zeros((2, self.mesh.n_vertices), dtype=bool)
        if bones is not None:
            segments = as_segments("bones", bones)
            found = on_bones(self.mesh, segments, share)
            crossed = on_bones(self.mesh, segments, None)
        if fixed is not None:
            found[vertex_indices("fixed", fixed, self.mesh.n_vertices)] = True
        if not found.any():
            raise InputError(
                "nothing of the volume is fixed: give bones=bones_of(character), segments "
                "(k, 2, 3) or points (k, 3) inside it, or fixed=, its vertices that follow the rig"
            )
        too_few = not found.all()
        found, notes = with_loose_components(self.mesh, found, crossed)
        if found.all() and too_few and notes:
            raise InputError(
                "too little is fixed for the body to hang on: no piece of it has three fixed "
                "vertices that are not in line; fix more of them, or give more bones"
            )
        if found.all():
            raise InputError(
                "everything is fixed, so that nothing could move; make a finer mesh, e.g. "
                f"character_volume(rig, vertices={2 * self.mesh.n_vertices}), or a smaller share="
            )
        return replace(self, fixed=found, notes=self.notes + notes)

    @cached_property
    def gaps(self) -> Floats:
        """How far each vertex of the surface lies outside the tets [m], (s,)."""
        found = np.zeros(len(self.skin.cells))
        out = np.flatnonzero(~self.skin.inside)
        if len(out):
            tree = TriangleTree.of(self.mesh.boundary())
            found[out] = np.abs(tree.distances(self.skin.surface.vertices[out], np.inf)[0])
        return found

    @property
    def skin_weights(self) -> Floats:
        """Shares of a tet's vertices in the motion of each vertex of the surface, (s, 4).

        Those of ``skin``, except for vertices that lie farther out than a tet is wide: these move
        as the nearest place of their tet does, not as the tet continued to where they are.
        """
        far = self.gaps > self.mesh.edge_lengths().mean()
        within = np.maximum(self.skin.weights, 0.0)
        within /= within.sum(axis=1, keepdims=True)
        return np.where(far[:, None], within, self.skin.weights)


def character_volume(
    rig: PoseRig,
    *,
    vertices: int = _VERTICES,
    edge: float | None = None,
    method: Method | None = None,
    progress: Progress | None = None,
) -> Volume:
    """Tets for the neutral surface of a rig, with nothing fixed yet: ``held`` does that.

    The surface may be of triangles that share no vertices, of several parts, open, or cross
    itself. ``vertices`` is about how many the mesh shall have; ``edge`` [m] sets the length of
    edges instead. ``method`` "ftetwild" follows the surface closely, with another mesh in every
    run (extra ``meshing``); "lattice" gives the same mesh every time, the same left and right
    where the surface is, and thickens what is thin; "voxels" encloses it in cubes cut into tets.
    Unless given, it is the first where that works, and else the last.
    """
    instance("rig", rig, PoseRig, "BlackBoxRig(function, triangles, neutral)")
    whole_number("vertices", vertices, at_least=20)
    if edge is not None:
        number("edge", edge, above=0, unit="m")
    if method not in (None, *get_args(Method)):
        raise InputError(f"method={method!r} must be 'ftetwild', 'lattice' or 'voxels'")
    surface = rig.surface()
    welded = surface.welded()[0].compact()[0]
    if welded.area <= 0:
        raise MeshError("the surface of the rig has no area, so there is nothing to fill")
    if progress is not None:
        progress(0, 1, "tet mesh")
    volume = None
    notes: tuple[str, ...] = ()
    if method == "lattice":
        volume = _embedded(_lattice(welded, vertices, edge), surface, "on a lattice")
    elif method != "voxels":
        try:
            volume = _embedded(_wild(welded, vertices, edge), surface, "by fTetWild")
            used = np.unique(surface.triangles)
            missed = np.mean(volume.gaps[used] > volume.mesh.edge_lengths().mean())
            if method is None and missed > _MOST_OUTSIDE:
                raise MeshError(f"{100 * missed:.0f} % of the surface would lie outside")
        except (MeshError, MissingExtra) as reason:
            if method is not None:
                raise
            notes = (f"fTetWild was not used: {reason}",)
            volume = None
    if volume is None:
        volume = _embedded(_voxels(welded, vertices, edge), surface, "as cubes cut into tets")
    if progress is not None:
        progress(1, 1, "tet mesh")
    return replace(volume, notes=notes + volume.notes)


def _lattice(surface: Surface, vertices: int, edge: float | None) -> TetMesh:
    if edge is not None:
        return TetMesh.from_surface(surface, filling=LatticeFilling(edge=edge))
    return TetMesh.from_surface(surface, filling=LatticeFilling(vertices=vertices))


def _wild(surface: Surface, vertices: int, edge: float | None) -> TetMesh:
    if edge is None:
        edge = _edge_for(surface, vertices)
    return TetMesh.from_surface(surface, edge, epsilon=_LOOSE * edge)


def _edge_for(surface: Surface, vertices: int) -> float:
    """The edge length [m] with which fTetWild makes about so many vertices."""
    box = float(np.prod(np.ptp(surface.bounds, axis=0)))
    volume = min(abs(surface.volume), box)
    # n = a A x² + b V x³ for x = 1 / edge, which has one positive root
    roots = np.roots([_PER_VOLUME * volume, _PER_AREA * surface.area, 0.0, -vertices])
    return float(1.0 / roots[np.argmax(roots.real)].real)


def _voxels(surface: Surface, vertices: int, edge: float | None) -> TetMesh:
    longest = float(np.ptp(surface.bounds, axis=0).max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshWarning)  # pieces are looked after in ``held``
        if edge is not None:
            return HexMesh.voxelize(surface, _odd(longest / edge)).tetrahedra()
        made = HexMesh.voxelize(surface, _CUBES)
        resolution = _CUBES
        for _ in range(_TRIES):
            ratio = vertices / made.n_vertices
            again = _odd(resolution * ratio**_GROWTH)
            if abs(ratio - 1) < _CLOSE or again == resolution:
                break
            resolution = again
            made = HexMesh.voxelize(surface, resolution)
    return made.tetrahedra()


def _odd(cubes: float) -> int:
    """About so many: a sheet in the middle of a body then goes through cubes, not in between."""
    return 2 * round(0.5 * max(cubes - 1, 0.0)) + 1


def _embedded(mesh: TetMesh, surface: Surface, how: str) -> Volume:
    volume = Volume.around(mesh, surface)
    notes = [f"{mesh.n_vertices} vertices, {mesh.n_cells} tets, made {how}"]
    width = float(mesh.edge_lengths().mean())
    far = int(np.count_nonzero(volume.gaps[np.unique(surface.triangles)] > width))
    if far:
        notes.append(
            f"{far} vertices of the surface lie more than a tet outside, up to "
            f"{volume.gaps.max():.3g} m; they move with the nearest flesh"
        )
    return replace(volume, notes=tuple(notes))


def on_bones(mesh: TetMesh, segments: Floats, share: float | None) -> Bools:
    """Vertices on bones (k, 2, 3), (n,).

    With a ``share``, those on the first part of the way from a bone to the skin; of a cell that a
    bone crosses and that has none of these, the vertex nearest to a bone. Without, all vertices
    of the cells that bones cross, as in the pose space paper, §9.
    """
    crossed = mesh.cells[crossed_cells(mesh, segments).any(axis=0)]
    fixed = np.zeros(mesh.n_vertices, dtype=bool)
    if share is None:
        fixed[crossed] = True
        return fixed
    to_bone = segment_distances(mesh.vertices, segments).min(axis=1)
    to_skin = np.abs(TriangleTree.of(mesh.boundary()).distances(mesh.vertices, np.inf)[0])
    inner = np.ones(mesh.n_vertices, dtype=bool)
    inner[mesh.boundary_facets()] = False
    fixed[:] = inner & (to_bone <= share * (to_bone + to_skin))
    bare = crossed[~fixed[crossed].any(axis=1)]
    fixed[np.take_along_axis(bare, to_bone[bare].argmin(axis=1)[:, None], axis=1)] = True
    return fixed


def with_loose_components(
    mesh: TetMesh, fixed: Bools, crossed: Bools
) -> tuple[Bools, tuple[str, ...]]:
    """``fixed`` (n,) and what else of each piece has to be so that it cannot turn or drift.

    A piece with too little is held by its vertices of cells that bones cross, ``crossed`` (n,);
    where that is too little also, by all its vertices, of which a note tells.
    """
    labels, held, notes = pieces(mesh), fixed.copy(), []
    for piece in range(labels.max() + 1):
        nodes = np.unique(mesh.cells[labels == piece])
        if _holds(mesh.vertices[nodes[fixed[nodes]]]):
            continue
        if _holds(mesh.vertices[nodes[crossed[nodes]]]):
            held[nodes[crossed[nodes]]] = True
        else:
            held[nodes] = True
            middle = ", ".join(f"{c:.3g}" for c in mesh.vertices[nodes].mean(axis=0))
            notes.append(
                f"a piece of {np.count_nonzero(labels == piece)} tets around ({middle}) has too "
                "little on bones to hang on; it follows the rig as a whole"
            )
    return held, tuple(notes)


def _holds(places: Floats) -> bool:
    """Whether places (k, 3) are three or more that are not in line."""
    if len(places) < 3:
        return False
    stretch = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    return bool(stretch[1] > _FLAT * stretch[0])


def adjacent_cells(mesh: TetMesh) -> Ints:
    """Pairs of cells that share a face, (f, 2)."""
    faces = np.sort(mesh.cells[:, _FACES].reshape(-1, 3), axis=1)
    order = np.lexsort(faces.T)
    same = np.flatnonzero((faces[order[1:]] == faces[order[:-1]]).all(axis=1))
    return np.asarray(np.stack([order[same], order[same + 1]], axis=1) // len(_FACES))


def pieces(mesh: TetMesh) -> Ints:
    """The piece that each cell is in, (cells,); cells of a piece hang together by faces.

    What hangs by an edge or a vertex alone could turn about it: that is another piece.
    """
    from scipy.sparse import csgraph  # slow to import

    a, b = adjacent_cells(mesh).T
    graph = sparse.coo_array((np.ones(len(a), np.int8), (a, b)), shape=(mesh.n_cells,) * 2)
    return np.asarray(csgraph.connected_components(graph, directed=False)[1].astype(np.int64))
