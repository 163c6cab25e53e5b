"""Woven cloth as its yarns: mass, energies, their derivatives, dissipation."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from supple.core.types import Floats
from supple.integrators import Stage
from supple.mesh import YarnMesh
from supple.yarns.coarsening import interpolations
from supple.yarns.coloring import ColoredCells
from supple.yarns.material import Yarn, YarnDamping
from supple.yarns.net import YarnNet

NO_GRADIENT = np.zeros((0, 5))
NO_VALUES = np.zeros((0, 5, 5))

_ALWAYS = 3.0
"""Switch angle up to half of which, a right angle nearly, bends are measured as vectors."""

STRAINS = ("stretch", "bending", "shear")
"""The kinds of strain that store energy and are damped."""


@dataclass(frozen=True)
class YarnEnergies:
    """What is stored where [J]."""

    stretch: float
    bending: float
    shear: float
    contact: float
    gravity: float

    @property
    def total(self) -> float:
        return self.stretch + self.bending + self.shear + self.contact + self.gravity


@dataclass(frozen=True)
class Before:
    """Strains and their weights at the start of a step of h, and how much of a change is damped."""

    stretch: Floats
    """(ε, Δs) of the segments and stitches."""
    bending: Floats
    """(ε_θ, L, χ, ε_k) of the triples."""
    shear: Floats
    """Angles at the corners."""
    rates: dict[str, float]
    """β/h of each of ``STRAINS``."""


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
        self._stretch = np.array([warp.stretch, weft.stretch, stiffest])  # the last of stitches
        # L ½ k (θ/L)² with k = 2 EI is EI κ²/2 over the half of both segments, κ = θ/(L/2).
        self._bending = np.array([2 * yarn.bending for yarn in yarns])
        self._radius = np.array([yarn.radius for yarn in yarns])
        # Along a warp yarn the neighbours are wefts, and the other way round.
        self._distance = 2 * self._radius[::-1].copy()
        self._on_top = np.where(net.warp_on_top, 1.0, -1.0)
        m, n, sewn = len(net.segments[0]), net.n_nodes, len(net.stitches)
        springs = np.concatenate([net.segments[0], net.stitches])
        families = np.append(net.segments[1], np.full(sewn, yarn_stretch.STITCH))
        lengths = np.append(np.zeros(m), net.stitch_lengths)
        kinds = (springs, net.triples[0], net.corners)
        pattern, slots = BlockPattern.of_kinds_of_cells(kinds, n)
        coarsening = partial(interpolations, net.along, net.arc_lengths)
        self.pattern = replace(pattern, coarsening=coarsening)
        self._segments = ColoredCells(n, *net.segments, slots[0][:m])
        # Stitches stretch as yarns do, but bend freely and weigh nothing.
        self._springs = ColoredCells(n, springs, families, lengths, slots[0])
        self._triples = ColoredCells(n, *net.triples, slots[1])
        self._corners = ColoredCells(n, net.corners, slots[2])
        self.rest_angles = np.empty(len(net.corners))
        yarn_shear.strain(self.rest_state, self._corners.nodes, self.rest_angles)

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
        nodes, family, _ = self._segments.arrays
        ends = self.net.arc_lengths[nodes, family[:, None]]
        return float(np.sum(self._density[family] * (ends[:, 1] - ends[:, 0])))

    def state(self, q: ArrayLike) -> Floats:
        """q as an array, checked."""
        return numbers("q", q, ((self.n_nodes, 5),))

    # -- motion ------------------------------------------------------------------------------

    def kinetic(self, q: Floats, v: Floats) -> tuple[float, Floats, Floats]:
        """T [J] with ∂T/∂v = M v and ∂T/∂q, both (n, 5)."""
        momentum, by_position = np.zeros_like(q), np.zeros_like(q)
        into = self._density, momentum, by_position
        T = self._segments.total(
            lambda part: yarn_inertia.kinetic(q, v, *self._segments.at(part)[:2], *into)
        )
        return T, momentum, by_position

    def mass_values(self, q: Floats) -> Floats:
        """M(q) as blocks (blocks, 5, 5) on ``pattern``."""
        values = np.zeros((self.pattern.n_blocks, 5, 5))
        self.add_mass(q, 1.0, values)
        return values

    def add_mass(self, q: Floats, factor: float, values: Floats) -> None:
        """Add factor · M(q) to blocks on ``pattern``."""
        into = factor * self._density, values
        self._segments.run(lambda part: yarn_inertia.mass(q, *self._segments.at(part), *into))

    # -- energies ----------------------------------------------------------------------------

    def before(self, q: Floats, damping: YarnDamping, h: float) -> Before:
        """What a step of h [s] starting at q has to know of it."""
        rates = {kind: getattr(damping, kind) / h for kind in STRAINS}
        return Before(*self._strains(q, damping.switch_angle), rates)

    def _strains(self, q: Floats, switch_angle: float) -> tuple[Floats, Floats, Floats]:
        """The first three arrays of ``Before``."""
        springs, triples, corners = self._springs, self._triples, self._corners
        stretch, bending = np.empty((len(springs.nodes), 2)), np.empty((len(triples.nodes), 6))
        shear = np.empty(len(corners.nodes))
        yarn_stretch.strain(q, *springs.arrays[:3], stretch)
        yarn_bending.strain(q, *triples.arrays[:2], switch_angle, bending)
        yarn_shear.strain(q, corners.nodes, shear)
        return stretch, bending, shear

    def before_stage(self, stage: Stage, at: Floats, damping: YarnDamping) -> Before:
        """The same for a stage of any rule, ε̇ = c_v (ε − ε̂), with the weights of q = ``at``.

        ε̂ is of past strains and their rates what û_v is of past displacements and velocities.
        """
        weights = self.before(at, damping, 1 / stage.c_v)
        stretch, bending, shear = (
            np.zeros_like(each) for each in (weights.stretch, weights.bending, weights.shear)
        )
        around = 1e-3 / stage.c_v  # s, for rates of strain
        terms = [(p, state.u) for p, _, state in stage.memory]
        for _, q, state in stage.memory:
            if q:
                share = 0.5 * q / around
                terms.append((share, state.u + around * state.v))
                terms.append((-share, state.u - around * state.v))
        for share, u in terms:
            for sum_, strains in zip(
                (stretch, bending, shear), self._strains(u, _ALWAYS), strict=True
            ):
                sum_ += share * strains
        stretch[:, 1] = weights.stretch[:, 1]
        bending[:, 1:3] = weights.bending[:, 1:3]
        return Before(stretch, bending, shear, weights.rates)

    @cached_property
    def _undamped(self) -> Before:
        return self.before(self.rest_state, YarnDamping(), 1.0)

    def strain_potential(
        self,
        kind: str,
        q: Floats,
        gradient: Floats = NO_GRADIENT,
        values: Floats = NO_VALUES,
        *,
        before: Before | None = None,
        definite: bool = False,
    ) -> float:
        """Energy of one of ``STRAINS`` [J], and with ``before`` the dissipation of a step.

        Derivatives are added to the arrays. Stitches of seams count as yarns that stretch.
        """
        there = before or self._undamped
        into = there.rates[kind], definite, gradient, values
        if kind == "bending":
            cells, k, angles = self._triples, self._bending, there.bending
            return cells.total(
                lambda part: yarn_bending.potential(q, *cells.at(part), k, angles[part], *into)
            )
        if kind == "stretch":
            springs, EA, strains = self._springs, self._stretch, there.stretch
            return springs.total(
                lambda part: yarn_stretch.potential(q, *springs.at(part), EA, strains[part], *into)
            )
        if self.shear == 0.0:
            return 0.0
        corners, rest = self._corners, self.rest_angles
        return corners.total(
            lambda part: yarn_shear.potential(
                q, *corners.at(part), self.shear, rest[part], there.shear[part], *into
            )
        )

    def stiffness_values(self, q: Floats, *, definite: bool = False) -> Floats:
        """The second derivative of what all ``STRAINS`` store, as blocks (blocks, 5, 5)."""
        values = np.zeros((self.pattern.n_blocks, 5, 5))
        for kind in STRAINS:
            self.strain_potential(kind, q, np.zeros_like(q), values, definite=definite)
        return values

    def contact_potential(
        self, q: Floats, gradient: Floats = NO_GRADIENT, values: Floats = NO_VALUES
    ) -> float:
        """Energy [J] of parallel neighbours that touch."""
        into = self._distance, self.contact_stiffness, gradient, values
        return self._segments.total(
            lambda part: yarn_contact.neighbours_apart(q, *self._segments.at(part), *into)
        )

    def gravity_potential(
        self, q: Floats, gravity: Floats, gradient: Floats = NO_GRADIENT
    ) -> float:
        """Energy of weight [J]."""
        into = self._density, gravity, gradient
        return self._segments.total(
            lambda part: yarn_inertia.weight(q, *self._segments.at(part)[:2], *into)
        )

    def energies(self, q: Floats, gravity: ArrayLike = (0, 0, 0)) -> YarnEnergies:
        """What is stored at q."""
        q = self.state(q)
        stored = {kind: self.strain_potential(kind, q) for kind in STRAINS}
        weight = self.gravity_potential(q, np.asarray(gravity, dtype=float))
        return YarnEnergies(**stored, contact=self.contact_potential(q), gravity=weight)

    # -- what is lost ------------------------------------------------------------------------

    def dissipation(self, q: Floats, v: Floats, damping: YarnDamping) -> tuple[float, Floats]:
        """V_d [W] and f_d = −∂V_d/∂v (n, 5) at (q, v); power is lost at the rate 2 V_d."""
        force = np.zeros_like(q)
        springs, triples = self._springs.arrays[:3], self._triples.arrays[:2]
        k = damping.stretch * self._stretch
        V = yarn_stretch.dissipation(q, v, *springs, k, force)
        k = damping.bending * self._bending
        V += yarn_bending.dissipation(q, v, *triples, k, damping.switch_angle, force)
        V += yarn_shear.dissipation(q, v, self._corners.nodes, damping.shear * self.shear, force)
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
        diagonal = self.pattern.indptr[:-1]
        return float(
            yarn_contact.friction(
                q, start, slope, limit, self.slip_speed, h, diagonal, majorized, gradient, values
            )
        )
