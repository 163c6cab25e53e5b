"""Woven cloth as a body among others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.assembly import Asked, Evaluation
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.supports import HeldComponents, Support
from supple.core.checks import instance, numbers, several, vector
from supple.core.errors import InputError
from supple.core.sparse import BlockPattern
from supple.core.types import Floats, Ints
from supple.mesh import WovenMesh
from supple.yarns.cloth import STRAINS, WovenCloth
from supple.yarns.material import YarnDamping, YarnRayleigh
from supple.yarns.motion_term import WovenMotion

_EPSILON = float(np.finfo(float).eps)


class WovenBody(ElasticBody):
    """A ``WovenCloth`` as a body of a world: ``Simulation([WovenBody(cloth), ball], ...)``.

    It moves as ``YarnSimulation`` has it. ``fixed`` are crossings that stay where they are, and
    ``supports`` move others as prescribed; the yarns still slide through both, but not at the edge
    of the cloth, where they end. It touches itself, others and obstacles at its crossings and with
    the triangles between them, and takes ``YarnDamping`` or ``YarnRayleigh``.

    Its state has two vertices for each of n crossings: the displacements of the first n are those
    of the crossings, the others are how far each has slid along its warp and its weft [m].
    ``coordinates(u)`` are q (n, 5), ``displaced(q)`` is u, ``rates(v)`` and ``velocity(rates)``
    likewise, and ``positions(u)`` is where the crossings are.
    """

    mesh: WovenMesh

    def __init__(
        self,
        cloth: WovenCloth,
        *,
        fixed: ArrayLike | None = None,
        supports: Support | Sequence[Support] = (),
    ) -> None:
        instance("cloth", cloth, WovenCloth, "WovenCloth(net, warp=yarn)")
        self.cloth = cloth
        given = None if fixed is None else np.asarray(fixed)
        self.fixed = given if given is not None and given.size else None
        self.supports = several("supports", supports, Support, "Support(vertices, motion)")
        self.mesh = WovenMesh.of(cloth.mesh)
        self._check_supports()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.mesh!r})"

    # -- coordinates -------------------------------------------------------------------

    def coordinates(self, u: ArrayLike) -> Floats:
        """q (n, 5) of the cloth at a state u (2 n, 3): positions and arc lengths [m]."""
        return self.q_of(self.checked("u", u))

    def displaced(self, q: ArrayLike) -> Floats:
        """The state u (2 n, 3) at positions and arc lengths q (n, 5) [m]."""
        return self.spread(self.cloth.state(q) - self.cloth.rest_state)

    def rates(self, v: ArrayLike) -> Floats:
        """Rates of q (n, 5) [m/s] at velocities v (2 n, 3)."""
        return self.gathered(self.checked("v", v))

    def velocity(self, rates: ArrayLike) -> Floats:
        """Velocities (2 n, 3) of rates (n, 5), or (n, 3) or (3,) of positions alone [m/s]."""
        n = self.mesh.crossings
        given = numbers("rates", rates, ((n, 5), (n, 3), (3,)))
        all_of_it = np.zeros((n, 5))
        all_of_it[:, : given.shape[-1]] = given
        return self.spread(all_of_it)

    def positions(self, u: ArrayLike) -> Floats:
        """Where the crossings are [m], (n, 3), at a state u (2 n, 3)."""
        return self.mesh.points.moved(self.checked("u", u))

    def q_of(self, u: Floats) -> Floats:
        """The same as ``coordinates``, not checked."""
        return np.asarray(self.cloth.rest_state + self.gathered(u))

    def gathered(self, field: Floats) -> Floats:
        """A field on the vertices (2 n, 3) as one on the crossings, (n, 5)."""
        n = self.mesh.crossings
        return np.hstack([field[:n], field[n:, :2]])

    def spread(self, field: Floats) -> Floats:
        """A field on the crossings (n, 5) as one on the vertices, (2 n, 3)."""
        n = self.mesh.crossings
        filled = np.zeros((2 * n, 3))
        filled[:n], filled[n:, :2] = field[:, :3], field[:, 3:]
        return filled

    # -- matrices ----------------------------------------------------------------------

    @cached_property
    def _keys(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Of the blocks of places, of slides, and of either with the other, for 5 × 5 blocks.

        The last has no blocks on the diagonal.
        """
        own, n = self.cloth.pattern, self.mesh.crossings
        rows, cols, N = own.rows, own.cols, np.int64(2 * n)
        off = rows != cols
        return (
            rows * N + cols,
            (n + rows) * N + n + cols,
            rows * N + n + cols,
            cols[off] * N + n + rows[off],
        )

    @cached_property
    def pattern(self) -> BlockPattern:
        N = 2 * self.mesh.crossings
        return BlockPattern(np.arange(N + 1), np.arange(N)).with_keys(np.concatenate(self._keys))

    @cached_property
    def turning(self) -> BlockPattern:
        """Slides do not turn."""
        N = 2 * self.mesh.crossings
        return BlockPattern(np.arange(N + 1), np.arange(N)).with_keys(self._keys[0])

    @cached_property
    def _places(self) -> tuple[Ints, ...]:
        return tuple(np.searchsorted(self.pattern.keys, keys) for keys in self._keys)

    def blocks_of(self, values: Floats) -> Floats:
        """A matrix of the cloth (blocks, 5, 5) as blocks on the pattern, (blocks, 3, 3)."""
        places, slides, mixed, turned = self._places
        own = self.cloth.pattern
        filled = np.zeros((self.pattern.n_blocks, 3, 3))
        filled[places] = values[:, :3, :3]
        filled[slides, :2, :2] = values[:, 3:, 3:]
        filled[mixed, :, :2] = values[:, :3, 3:]
        filled[turned, :, :2] = values[own.rows != own.cols, 3:, :3].transpose(0, 2, 1)
        return filled

    # -- what a body has to say --------------------------------------------------------

    @cached_property
    def contact_vertices(self) -> Ints:
        """All crossings."""
        return np.arange(self.mesh.crossings)

    @cached_property
    def layer_distances(self) -> Floats:
        """The thickness of the cloth, two of each yarn."""
        return np.full(self.mesh.crossings, self.mesh.thickness)

    @cached_property
    def held(self) -> HeldComponents:
        n = self.mesh.crossings
        of_places = HeldComponents.of(self.fixed, tuple(self.supports), n)
        free = np.zeros((2 * n, 3), dtype=bool)
        free[:n] = of_places.free
        free[n:, :2] = ~self.cloth.net.edge[:, None]
        return HeldComponents(free, of_places.moving)

    def scaled_mass(self, cell_factors: Floats) -> Floats:
        """What of the mass at rest moves crossings; half of it stands for that of slides.

        That the mass follows the shape, ``WovenMotion`` knows.
        """
        own = self.cloth.pattern
        at_rest = self.cloth.mass_values(self.cloth.rest_state)[:, 0, 0]
        values = np.zeros(self.pattern.n_blocks)
        values[self._places[0]] = at_rest
        sums = own.multiply(at_rest, np.ones((self.mesh.crossings, 3)))[:, 0]
        values[self._places[1][own.indptr[:-1]]] = 0.5 * sums
        return values * self._only_factor(cell_factors)

    @property
    def has_constant_mass(self) -> bool:
        return False

    @staticmethod
    def _only_factor(cell_factors: Floats | None) -> float:
        if cell_factors is None or not len(cell_factors):
            return 1.0
        first = float(cell_factors[0])
        if (cell_factors != first).any():
            raise InputError("woven cloth is made of its yarns, not of cells that can be scaled")
        return first

    @property
    def total_mass(self) -> float:
        return self.cloth.total_mass

    def weight(self, gravity: ArrayLike) -> Floats:
        """Force of gravity [N] on the crossings at rest (2 n, 3); ``WovenMotion`` has the rest."""
        pull = np.zeros((self.mesh.crossings, 5))
        self.cloth.gravity_potential(self.cloth.rest_state, vector("gravity", gravity), pull)
        pull[:, 3:] = 0.0
        return -self.spread(pull)

    @property
    def advice(self) -> str:
        return "Try more damping or softer yarns."

    @property
    def only_newton(self) -> str:
        return "woven cloth needs"

    @property
    def infeasible(self) -> str:
        return "a yarn would fold back on itself"

    @cached_property
    def _rounding(self) -> tuple[float, float]:
        rest = self.cloth.rest_state
        stiffness = self.blocks_of(self.cloth.stiffness_values(rest))
        diagonal = np.einsum("bii->bi", stiffness[self.pattern.indptr[:-1]])
        of_places = float(np.linalg.norm(self.gathered(diagonal) * rest))
        return 2 * _EPSILON * of_places, 2 * _EPSILON * float(np.linalg.norm(diagonal))

    def _stored(
        self, q: Floats, gradient: Floats, values: Floats, *, definite: bool = False
    ) -> float:
        """U [J]; derivatives are added."""
        energy = 0.0
        for kind in STRAINS:
            energy += self.cloth.strain_potential(kind, q, gradient, values, definite=definite)
            if not np.isfinite(energy):
                return np.inf
        return energy + self.cloth.contact_potential(q, gradient, values)

    def _evaluate(self, u: Floats, asked: Asked) -> Evaluation:
        q, factor = self.q_of(u), self._only_factor(asked.cell_factors)
        with_matrix = asked.order >= 2 or asked.direction is not None
        g = np.zeros_like(q) if asked.order >= 1 or with_matrix else np.zeros((0, 5))
        K = np.zeros((self.cloth.pattern.n_blocks if with_matrix else 0, 5, 5))
        energy = self._stored(q, g, K, definite=asked.definite)
        gradient, product, values = np.zeros((0, 3)), np.zeros((0, 3)), np.empty((0, 3, 3))
        if asked.order >= 1:
            gradient = factor * self.spread(g)
        if asked.direction is not None:
            along = self.cloth.pattern.multiply(K, self.gathered(asked.direction))
            product = factor * self.spread(along)
        if asked.order >= 2:
            values = factor * self.blocks_of(K)
            if asked.stiffness is not None:
                asked.stiffness[...] = values
                values = asked.stiffness
        return Evaluation(factor * energy, gradient, product, values)

    def damped_by(self, damping: Any) -> Any:
        raise InputError(
            f"{type(damping).__name__} cannot damp yarns; woven cloth takes YarnDamping(...) or "
            "YarnRayleigh(...), others a table: damping={cloth: YarnDamping(...), other: ...}"
        )

    def own_term(self, rows: slice, n_vertices: int, damping: Sequence[Any]) -> WovenMotion:
        for model in damping:
            if not isinstance(model, YarnDamping | YarnRayleigh):
                self.damped_by(model)
        if len(damping) > 1:
            raise InputError("woven cloth has one damping; give a YarnDamping or a YarnRayleigh")
        return WovenMotion(self, rows, n_vertices, damping[0] if damping else None)
