"""Woven cloth as its yarns: mass, energies, their derivatives, dissipation."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.yarns import bending as yarn_bending
from supple._kernels.yarns import contact as yarn_contact
from supple._kernels.yarns import inertia as yarn_inertia
from supple._kernels.yarns import shear as yarn_shear
from supple._kernels.yarns import stretch as yarn_stretch
from supple.core.checks import instance, number, numbers
from supple.core.sparse import BlockPattern
from supple.core.types import Floats, Ints
from supple.mesh import YarnMesh
from supple.yarns.coarsening import interpolations
from supple.yarns.coloring import ColoredCells
from supple.yarns.damping import YarnDamping
from supple.yarns.energies import YarnEnergies
from supple.yarns.material import Yarn
from supple.yarns.net import YarnNet
from supple.yarns.seams import Seams
from supple.yarns.strains import Before

NO_GRADIENT = np.zeros((0, 5))
NO_VALUES = np.zeros((0, 5, 5))


class WovenCloth:
    """Warp and weft yarns on a net of crossings.

    The unknowns q are (n, 5): the position of each crossing and the arc lengths of its warp and
    weft yarn there. ``shear`` [N m] is the stiffness of the angle between two yarns at one corner
    of a crossing. Crossing yarns rub with the coefficient ``friction``; below ``slip_speed`` [m/s]
    friction fades out. Parallel neighbours that come closer than the sum of their radii are
    pushed apart with ``contact_stiffness`` [N], which is the stretch stiffness of the stiffer yarn
    unless given.
    """

    def __init__(
        self,
        net: YarnNet,
        *,
        warp: Yarn,
        weft: Yarn | None = None,
        shear: float = 0.0,
        friction: float = 0.0,
        slip_speed: float = 1e-4,
        contact_stiffness: float | None = None,
    ) -> None:
        instance("net", net, YarnNet, "YarnNet.patch(20, 20, spacing=5e-4)")
        weft = warp if weft is None else weft
        for name, yarn in (("warp", warp), ("weft", weft)):
            instance(name, yarn, Yarn, "Yarn(radius=1e-4, ...)")
        self.net, self.warp, self.weft = net, warp, weft
        self.shear = number("shear", shear, at_least=0, unit="N m")
        self.friction = number("friction", friction, at_least=0)
        self.slip_speed = number("slip_speed", slip_speed, above=0, unit="m/s")
        stiffest = max(warp.stretch, weft.stretch)
        self.contact_stiffness = number(
            "contact_stiffness",
            stiffest if contact_stiffness is None else contact_stiffness,
            at_least=0,
            unit="N",
        )
        yarns = (warp, weft)
        self._density = np.array([yarn.linear_density for yarn in yarns])
        self._stretch = np.array([yarn.stretch for yarn in yarns])
        # L ½ k (θ/L)² with k = 2 EI is EI κ²/2 over the half of both segments, κ = θ/(L/2).
        self._bending = np.array([2 * yarn.bending for yarn in yarns])
        self._radius = np.array([yarn.radius for yarn in yarns])
        # Along a warp yarn the neighbours are wefts, and the other way round.
        self._distance = 2 * self._radius[::-1].copy()
        n = net.n_nodes
        self._by_segment, self._by_triple = (
            ColoredCells(net.segments[0], n),
            ColoredCells(net.triples[0], n),
        )
        self._by_corner = ColoredCells(net.corners, n)
        self._segments, self._segment_family = self._by_segment.sort(*net.segments)
        self._triples, self._triple_family = self._by_triple.sort(*net.triples)
        (self._corners,) = self._by_corner.sort(net.corners)
        self._on_top = np.where(net.warp_on_top, 1.0, -1.0)
        self._build_pattern()
        self.rest_angles = np.empty(len(self._corners))
        yarn_shear.strain(self.rest_state, self._corners, self.rest_angles)

    def _build_pattern(self) -> None:
        kinds = (self._segments, self._triples, self._corners, self.net.stitches)
        pattern, slots = BlockPattern.of_kinds_of_cells(kinds, self.net.n_nodes)
        coarsening = partial(interpolations, self.net.along, self.net.arc_lengths)
        self.pattern = replace(pattern, coarsening=coarsening)
        self._segment_slots, self._triple_slots, self._corner_slots = slots[:3]
        stiffest = max(self.warp.stretch, self.weft.stretch)
        self.seams = Seams(self.net.stitches, self.net.stitch_lengths, slots[3], stiffest)

    # -- state -------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        return self.net.n_nodes

    @cached_property
    def mesh(self) -> YarnMesh:
        """The yarns at rest, as recordings and pictures know them."""
        return self.net.mesh(self._radius)

    @property
    def rest_state(self) -> Floats:
        """q at rest, (n, 5)."""
        return np.hstack([self.net.positions, self.net.arc_lengths])

    @property
    def total_mass(self) -> float:
        """[kg]."""
        ends = self.net.arc_lengths[self._segments, self._segment_family[:, None]]
        return float(np.sum(self._density[self._segment_family] * (ends[:, 1] - ends[:, 0])))

    def state(self, q: ArrayLike) -> Floats:
        """q as an array, checked."""
        return numbers("q", q, ((self.n_nodes, 5),))

    # -- motion ------------------------------------------------------------------------------

    def kinetic(self, q: Floats, v: Floats) -> tuple[float, Floats, Floats]:
        """T [J] with ∂T/∂v = M v and ∂T/∂q, both (n, 5)."""
        momentum, by_position = np.zeros_like(q), np.zeros_like(q)
        T = self._by_segment.total(
            lambda part: yarn_inertia.kinetic(
                q, v, self._segments[part], self._segment_family[part], self._density,
                momentum, by_position,
            )
        )  # fmt: skip
        return T, momentum, by_position

    def mass_values(self, q: Floats) -> Floats:
        """M(q) as blocks (blocks, 5, 5) on ``pattern``."""
        values = np.zeros((self.pattern.n_blocks, 5, 5))
        self.add_mass(q, 1.0, values)
        return values

    def add_mass(self, q: Floats, factor: float, values: Floats) -> None:
        """Add factor · M(q) to blocks on ``pattern``."""
        self._by_segment.run(
            lambda part: yarn_inertia.mass(
                q, self._segments[part], self._segment_family[part], self._segment_slots[part],
                factor * self._density, values,
            )
        )  # fmt: skip

    # -- energies ----------------------------------------------------------------------------

    def before(self, q: Floats, damping: YarnDamping, h: float) -> Before:
        """What a step of h [s] starting at q has to know of it."""
        stretch = np.empty((len(self._segments), 2))
        bending = np.empty((len(self._triples), 6))
        shear = np.empty(len(self._corners))
        yarn_stretch.strain(q, self._segments, self._segment_family, stretch)
        yarn_bending.strain(q, self._triples, self._triple_family, damping.switch_angle, bending)
        yarn_shear.strain(q, self._corners, shear)
        return Before(
            stretch,
            bending,
            shear,
            self.seams.strain(q),
            np.full(2, damping.stretch / h),
            np.full(2, damping.bending / h),
            damping.shear / h,
        )

    @cached_property
    def _undamped(self) -> Before:
        return self.before(self.rest_state, YarnDamping(), 1.0)

    def stretch_potential(
        self,
        q: Floats,
        gradient: Floats = NO_GRADIENT,
        values: Floats = NO_VALUES,
        *,
        before: Before | None = None,
        definite: bool = False,
    ) -> float:
        """Energy of stretch [J] and dissipation of a step; derivatives are added to the arrays.

        Stitches of seams count as yarns.
        """
        there = before or self._undamped
        rate = float(there.stretch_rate.max())
        sewn = self.seams.potential(q, gradient, values, there.stitches, rate, definite)
        return sewn + self._by_segment.total(
            lambda part: yarn_stretch.potential(
                q, self._segments[part], self._segment_family[part], self._segment_slots[part],
                self._stretch, there.stretch[part], there.stretch_rate, definite, gradient, values,
            )
        )  # fmt: skip

    def bending_potential(
        self,
        q: Floats,
        gradient: Floats = NO_GRADIENT,
        values: Floats = NO_VALUES,
        *,
        before: Before | None = None,
        definite: bool = False,
    ) -> float:
        """The same for bending."""
        there = before or self._undamped
        return self._by_triple.total(
            lambda part: yarn_bending.potential(
                q, self._triples[part], self._triple_family[part], self._triple_slots[part],
                self._bending, there.bending[part], there.bending_rate, definite, gradient, values,
            )
        )  # fmt: skip

    def shear_potential(
        self,
        q: Floats,
        gradient: Floats = NO_GRADIENT,
        values: Floats = NO_VALUES,
        *,
        before: Before | None = None,
        definite: bool = False,
    ) -> float:
        """The same for shear."""
        if self.shear == 0.0:
            return 0.0
        there = before or self._undamped
        return self._by_corner.total(
            lambda part: yarn_shear.potential(
                q, self._corners[part], self._corner_slots[part], self.shear,
                self.rest_angles[part], there.shear[part], there.shear_rate, definite,
                gradient, values,
            )
        )  # fmt: skip

    def contact_potential(
        self, q: Floats, gradient: Floats = NO_GRADIENT, values: Floats = NO_VALUES
    ) -> float:
        """Energy [J] of parallel neighbours that touch."""
        return self._by_segment.total(
            lambda part: yarn_contact.neighbours_apart(
                q, self._segments[part], self._segment_family[part], self._distance,
                self.contact_stiffness, gradient, values, self._segment_slots[part],
            )
        )  # fmt: skip

    def gravity_potential(
        self, q: Floats, gravity: Floats, gradient: Floats = NO_GRADIENT
    ) -> float:
        """Energy of weight [J]."""
        return self._by_segment.total(
            lambda part: yarn_inertia.weight(
                q,
                self._segments[part],
                self._segment_family[part],
                self._density,
                gravity,
                gradient,
            )
        )

    def energies(self, q: Floats, gravity: ArrayLike = (0, 0, 0)) -> YarnEnergies:
        """What is stored at q."""
        q = self.state(q)
        return YarnEnergies(
            self.stretch_potential(q),
            self.bending_potential(q),
            self.shear_potential(q),
            self.contact_potential(q),
            self.gravity_potential(q, np.asarray(gravity, dtype=float)),
        )

    # -- what is lost ------------------------------------------------------------------------

    def dissipation(self, q: Floats, v: Floats, damping: YarnDamping) -> tuple[float, Floats]:
        """V_d [W] and f_d = −∂V_d/∂v (n, 5) at (q, v); power is lost at the rate 2 V_d."""
        force = np.zeros_like(q)
        V = yarn_stretch.dissipation(
            q, v, self._segments, self._segment_family, damping.stretch * self._stretch, force
        )
        V += yarn_bending.dissipation(
            q, v, self._triples, self._triple_family, damping.bending * self._bending,
            damping.switch_angle, force,
        )  # fmt: skip
        V += self.seams.dissipation(q, v, damping.stretch, force)
        V += yarn_shear.dissipation(q, v, self._corners, damping.shear * self.shear, force)
        return float(V), force

    def slopes(self, q: Floats) -> Floats:
        """∂x/∂s of the warp and the weft yarn at each node, (n, 2, 3)."""
        slope = np.empty((self.n_nodes, 2, 3))
        yarn_contact.slopes(q, self.net.along, slope)
        return slope

    def pressure(self, q: Floats) -> Floats:
        """The force [N] that presses the two yarns of each crossing together, (n,)."""
        out, normal = np.empty(self.n_nodes), np.empty((self.n_nodes, 3))
        angles = np.empty((self.n_nodes, 2))
        yarn_contact.pressure(
            q, self.net.along, self.slopes(q), self._on_top, self._radius, self._stretch,
            0.5 * self._bending, normal, angles, out,
        )  # fmt: skip
        return out

    def friction_potential(
        self,
        q: Floats,
        start: Floats,
        slope: Floats,
        pressure: Floats,
        h: float,
        gradient: Floats = NO_GRADIENT,
        values: Floats = NO_VALUES,
        *,
        majorized: bool = False,
    ) -> float:
        """h times the dissipation function of friction [J] in a step of h from ``start`` to q."""
        limit = self.friction * pressure
        diagonal: Ints = self.pattern.indptr[:-1]
        return float(
            yarn_contact.friction(
                q, start, slope, limit, self.slip_speed, h, diagonal, majorized, gradient, values
            )
        )
