"""What bodies of all kinds share: supports, mass, energy and its derivatives, loads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.assembly import Asked, Evaluation
from supple.bodies.supports import HeldComponents, Support
from supple.core.checks import instance, numbers, vector, vertex_indices
from supple.core.errors import InputError
from supple.core.sparse import BlockPattern
from supple.core.types import Bools, Floats, Ints
from supple.mesh import Mesh
from supple.mesh.embedding import carriers
from supple.mesh.group import own_surface, points_of
from supple.mesh.points import CarriedPoint, CarriedPoints
from supple.mesh.volume import VolumeMesh

if TYPE_CHECKING:
    import scipy.sparse as sparse


M = TypeVar("M")


class PointResponses(NamedTuple):
    """How points give way where a body moves by few motions of unit mass each."""

    shares: Floats
    """The mean square of each motion at each point [1/kg], (p, k)."""
    squares: Floats
    """ω² of each motion [1/s²], (k,)."""

    def stiffness(self, c_a: float) -> Floats:
        """What points have against a push in a stage with a = c_a (u − û) [N/m], (p,)."""
        return np.asarray(1.0 / (self.shares @ (1.0 / (c_a + self.squares))))


class ElasticBody(ABC):
    """A mesh with mass, supports and a stored energy: all that a simulation needs to know.

    ``Body`` is a solid, ``SpringNetwork`` a network of springs, ``Cloth`` a thin sheet. A new kind
    gives the abstract members below; everything else follows from them.
    """

    mesh: Mesh
    fixed: ArrayLike | None
    """What is held still: indices (k,), a mask (n,), or a mask of components (n, 3)."""
    supports: Sequence[Support]
    """What moves vertices along a prescribed path."""

    def __repr__(self) -> str:
        free = int(self.free.sum())
        return f"{type(self).__name__}({self.mesh!r}, {free} free components)"

    @cached_property
    def contact_vertices(self) -> Ints:
        """Which points that the body carries obstacles can touch, (k,); see ``points``."""
        return np.arange(self.n_vertices)

    @cached_property
    def points(self) -> CarriedPoints:
        """What can touch: the vertices or, of a rigid body, those of its skin."""
        return points_of(self.mesh)

    @cached_property
    def layer_distances(self) -> Floats:
        """From where each of ``points`` pushes others away [m], (p,); NaN where the mesh says."""
        return np.full(self.points.count, np.nan)

    def point_at(self, place: Floats) -> CarriedPoint:
        """The point of the body that is at, or nearest to, a place at rest (3,) [m]."""
        mesh = self.mesh
        if isinstance(mesh, VolumeMesh):
            vertices, weights = carriers(mesh, place[None])
            return CarriedPoint.mean(vertices[0], weights[0], mesh.vertices)
        surface = own_surface(mesh)
        if surface is None:
            return self.points.one(int(np.argmin(np.linalg.norm(mesh.vertices - place, axis=1))))
        corners, weights = surface.nearest(place)
        ids = corners if surface.vertex_ids is None else surface.vertex_ids[corners]
        return self.points.blend(ids, weights)

    def point_stiffness(self, point: CarriedPoint) -> float:
        """What the body has against a pull at a point, about, all else held still [N/m]."""
        rest = self.evaluate(np.zeros_like(self.mesh.vertices), order=2).stiffness
        own = np.einsum("bii->b", rest[self.pattern.indptr[point.vertices]]) / 3.0
        return float(own.mean())

    @cached_property
    def point_responses(self) -> PointResponses | None:
        """How its ``points`` give way to a push, where that is known better than by vertices."""
        return None

    def damped_by(self, damping: Any) -> Any:
        """A ``Damping`` at work on this body, a ``BoundDamping``."""
        return damping.bind(self)

    def own_term(self, rows: slice, n_vertices: int, damping: Sequence[Any]) -> Any | None:
        """A ``Term`` that only this kind of body has, with its damping; None where there is none.

        ``rows`` are those of the body among ``n_vertices`` of a world.
        """
        return None

    # -- what each kind of body defines ------------------------------------------------

    @abstractmethod
    def scaled_mass(self, cell_factors: Floats) -> Floats:
        """The mass with each cell's share multiplied by its factor (cells,), (blocks,)."""

    @property
    @abstractmethod
    def total_mass(self) -> float:
        """Mass of the whole body [kg]."""

    @abstractmethod
    def _evaluate(self, u: Floats, asked: Asked) -> Evaluation:
        """What ``evaluate`` gives."""

    @property
    @abstractmethod
    def _rounding(self) -> tuple[float, float]:
        """Norm of the force [N] from strains rounded to the last bit, and the same per metre [N/m]
        of displacement, which is rounded too."""

    @property
    def advice(self) -> str:
        """What a person may try where a step cannot be solved."""
        return ""

    @property
    def only_newton(self) -> str:
        """What it is called where solvers other than ``Newton`` are refused; nothing else is."""
        return ""

    @property
    def infeasible(self) -> str:
        """Why there may be no shape of finite energy where supports are."""
        return "a cell has collapsed or turned inside out, which its material forbids"

    def feasible_step(self, u: Floats, step: Floats) -> float:
        """The share of a step from u, both (n, 3), up to 1, that limits of strain allow."""
        return 1.0

    def is_feasible(self, u: Floats) -> bool:
        """Whether displacements u (n, 3) are within limits of strain."""
        return True

    # -- the mesh ----------------------------------------------------------------------

    @property
    def n_vertices(self) -> int:
        """Number of vertices n."""
        return len(self.mesh.vertices)

    @property
    def n_cells(self) -> int:
        """Number of cells, of whatever kind the mesh has."""
        return self.mesh.n_cells

    @property
    def regions(self) -> Mapping[str, Ints]:
        """Named sets of cells."""
        return self.mesh.regions

    @cached_property
    def _pattern_and_slots(self) -> tuple[BlockPattern, Ints]:
        return BlockPattern.of_cells(self.mesh.cells, self.n_vertices)

    @property
    def pattern(self) -> BlockPattern:
        """Which vertices share a cell: the sparsity of mass and stiffness, built once."""
        return self._pattern_and_slots[0]

    @property
    def turning(self) -> BlockPattern:
        """Which vertices tell each other how their surroundings have turned."""
        return self.pattern

    # -- supports ----------------------------------------------------------------------

    def _check_supports(self) -> None:
        """Stop where ``fixed`` or ``supports`` cannot be used."""
        if isinstance(self.supports, Support):
            raise InputError("supports is one Support; give a sequence of them, e.g. [support]")
        if not isinstance(self.supports, Iterable):
            raise InputError(f"supports={self.supports!r}: give a sequence of Support objects")
        for support in self.supports:
            instance(
                "a support", support, Support, "Support.oscillating(vertices, (0, 0, 0.1), 2.0)"
            )
        _ = self.held

    @cached_property
    def held(self) -> HeldComponents:
        """What the supports hold, and how it moves."""
        return HeldComponents.of(self.fixed, tuple(self.supports), self.n_vertices)

    @property
    def free(self) -> Bools:
        """Which components may move by themselves, (n, 3)."""
        return self.held.free

    @cached_property
    def free_rigid_motions(self) -> int:
        """In how many independent ways the body, or a loose piece of it, can move rigidly."""
        from scipy.sparse.csgraph import connected_components  # slow to import

        pieces, label = connected_components(self.pattern.graph(), directed=False)
        held = ~self.free
        return sum(_loose_motions(self.mesh.vertices, held, label == k) for k in range(pieces))

    def require_supports(self, what: str) -> None:
        """Stop where the body could drift or spin away as a rigid whole."""
        if self.free_rigid_motions:
            raise InputError(
                f"{what} needs a body that is held in place, but its supports leave "
                f"{self.free_rigid_motions} rigid motions free; fix at least three vertices that "
                f"are not in line, e.g. {type(self).__name__}(mesh, ..., fixed=mesh.where(x=0))"
            )

    # -- mass --------------------------------------------------------------------------

    @property
    def has_constant_mass(self) -> bool:
        """Whether ``mass_values`` are all of it, whatever the shape."""
        return True

    @cached_property
    def mass_values(self) -> Floats:
        """Mass [kg] on the pattern, (blocks,); each stands for that multiple of the identity."""
        return self.scaled_mass(np.ones(self.n_cells))

    def _added_up(self, of_cells: Floats) -> Floats:
        """The symmetric shares of cells (cells, k, k) on the pattern, (blocks,)."""
        pattern, slots = self._pattern_and_slots
        a, b = np.triu_indices(of_cells.shape[1])
        values = np.zeros(pattern.n_blocks)
        np.add.at(values, np.where(slots < 0, ~slots, slots), of_cells[:, a, b])
        return values

    @cached_property
    def mass(self) -> sparse.csr_array:
        """Mass matrix M [kg], sparse (3n, 3n)."""
        return self.pattern.full(self.mass_values[:, None, None] * np.eye(3))

    def mass_times(self, a: Floats) -> Floats:
        """M a for a of shape (n, 3)."""
        return self.pattern.multiply(self.mass_values, a)

    @property
    def mass_diagonal(self) -> Floats:
        """What each vertex has on the diagonal of the mass [kg], (n,)."""
        diagonal: Floats = self.mass_values[self.pattern.indptr[:-1]]
        return diagonal

    def rounding_inertia(self, u: Floats, c_a: float) -> float:
        """Norm of the inertia [N] that rounding of u leaves in c_a M (u − û_a)."""
        heaviest = float(self.mass_values.max() * np.sqrt(u.size))
        return float(np.finfo(float).eps) * c_a * heaviest * float(np.abs(u).max())

    # -- energy ------------------------------------------------------------------------

    def evaluate(
        self,
        u: Floats,
        *,
        order: int,
        direction: Floats | None = None,
        definite: bool = False,
        cell_factors: Floats | None = None,
        stiffness: Floats | None = None,
    ) -> Evaluation:
        """U, and ∇U if order ≥ 1, and ∇²U if order ≥ 2. Not checked; ``u`` is (n, 3) C-order.

        What else can be asked for stands in ``Asked``.
        """
        asked = Asked(
            order=order,
            direction=direction,
            definite=definite,
            cell_factors=cell_factors,
            stiffness=stiffness,
        )
        return self._evaluate(u, asked)

    def rounding_force(self, u: Floats) -> float:
        """Norm of the elastic force [N] that rounding alone may leave at displacements u (n, 3)."""
        of_strains, of_displacements = self._rounding
        return of_strains + of_displacements * float(np.abs(u).max())

    def energy(self, u: ArrayLike) -> float:
        """Elastic energy U [J] at displacements u (n, 3) [m]."""
        return self.evaluate(self.checked("u", u), order=0).energy

    def force(self, u: ArrayLike) -> Floats:
        """Elastic force ∇U(u) [N], (n, 3): the external force that would hold this shape."""
        return self.evaluate(self.checked("u", u), order=1).gradient

    def stiffness(self, u: ArrayLike, *, definite: bool = False) -> sparse.csr_array:
        """Stiffness ∇²U(u) [N/m], sparse (3n, 3n).

        ``definite`` replaces every cell's part by its nearest positive semidefinite matrix.
        """
        values = self.evaluate(self.checked("u", u), order=2, definite=definite).stiffness
        return self.pattern.full(values)

    def checked(self, name: str, values: ArrayLike) -> Floats:
        """``values`` as a finite C-order float64 array (n, 3)."""
        return np.ascontiguousarray(numbers(name, values, ((self.n_vertices, 3),)))

    # -- loads -------------------------------------------------------------------------

    def weight(self, gravity: ArrayLike) -> Floats:
        """Force of gravity [N] for an acceleration (3,) [m/s²], (n, 3)."""
        g = vector("gravity", gravity)
        return self.mass_times(np.broadcast_to(g, (self.n_vertices, 3)).copy())

    def point_force(self, vertices: ArrayLike, force: ArrayLike) -> Floats:
        """``force`` [N], (3,) or (k, 3), on each of k vertices; (n, 3)."""
        index = vertex_indices("vertices", vertices, self.n_vertices)
        given = numbers("force", force, ((3,), (len(index), 3)))
        return self._spread(index, given)

    def _spread(self, nodes: Ints, forces: Floats) -> Floats:
        """Forces on some nodes, added up at each vertex, (n, 3)."""
        total = np.zeros_like(self.mesh.vertices)
        np.add.at(total, nodes, forces)
        return total


def by_region(mesh: Mesh, given: Mapping[str, M], cell: str) -> list[tuple[M, Ints]]:
    """Each material with the cells of its region, which together are all of them, each once."""
    found = [(material, mesh.region(region)) for region, material in given.items()]
    owners = np.zeros(mesh.n_cells, dtype=np.int64)
    for _, cells in found:
        owners[cells] += 1
    bad = np.flatnonzero(owners != 1)
    if len(bad):
        problem = "no material" if owners[bad[0]] == 0 else "more than one material"
        raise InputError(
            f"{len(bad)} {cell}s have not one material each: {cell} {bad[0]} has {problem}; the "
            f"regions given must cover every {cell} once"
        )
    return found


def _loose_motions(X: Floats, held: Bools, piece: Bools) -> int:
    """How many of the rigid motions of a piece, six unless it is a straight line, none holds."""
    arm = X[piece] - X[piece].mean(axis=0)
    arm /= np.abs(arm).max()
    turns = [np.cross(axis, arm) for axis in np.eye(3)]
    shifts = [np.broadcast_to(axis, arm.shape) for axis in np.eye(3)]
    motions = np.stack(shifts + turns)
    return _rank(motions.reshape(6, -1)) - _rank(motions[:, held[piece]])


def _rank(motions: Floats) -> int:
    """Rank of (6, components)."""
    if not motions.size:
        return 0
    return int(np.linalg.matrix_rank(motions, tol=1e-6 * np.sqrt(motions.shape[1])))
