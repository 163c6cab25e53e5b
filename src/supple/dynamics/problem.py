"""The equation M a + ∇₂R(u, v) + ∇U(u) = f of a damped body, as solvers see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from supple._kernels.linear_algebra import node_rotations as turning
from supple._kernels.linear_algebra.blocks import add_scaled_identity_blocks
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.shape import Shape
from supple.contact.contact_forces import ContactForces
from supple.contact.impacts import Impact, first_impact
from supple.contact.obstacles.base import Obstacle
from supple.contact.self_contact import SelfContact
from supple.core.sparse import BlockPattern, GrowingPattern, LowRank, joined
from supple.core.types import Floats, Ints
from supple.damping import BoundDamping, Damping
from supple.dynamics.splitting import Splitter
from supple.integrators import Stage, State
from supple.solvers.interface import Balance
from supple.solvers.splitting import Outside, SplitOptions, SplitProblem, Splitting

_EPSILON = float(np.finfo(float).eps)
_SUPPORT_INCREMENTS = (1, 2, 4, 8)  # ways to lead a body along by supports that go far in a step
_SUPPORT_INERTIA = 1e-6  # share of its inertia that a body so led has: enough for a soft hold on it
_ROUNDINGS = 100.0  # in a potential, which adds up over all cells


class Dynamics(SplitProblem):
    """Force balances of a body with damping under external forces."""

    def __init__(
        self,
        body: ElasticBody,
        damping: Sequence[Damping],
        obstacles: Sequence[Obstacle] = (),
        self_contact: SelfContact | None = None,
    ) -> None:
        self.body = body
        self.layers = None if self_contact is None else self_contact.bind(body)
        self.contact = ContactForces.of_body(body, obstacles) if obstacles else None
        self._edge = float(body.mesh.edge_lengths().mean())
        self._touching: set[tuple[int, int]] = set()
        self._pressed: set[tuple[int, int]] = set()
        self.damping: tuple[BoundDamping, ...] = tuple(model.bind(body) for model in damping)
        self.free, own = body.free, body.pattern
        self._places: list[Ints] = [np.arange(body.pattern.n_blocks)]
        """Where the blocks of the body, then of each damping of a wider pattern, are in ours."""
        for model in self.damping:
            if model.pattern is not None:
                own, mine, theirs = own.union(model.pattern)
                self._places = [mine[places] for places in self._places] + [theirs]
        self._own_pattern, self._wide_pattern = own, GrowingPattern(own)
        if self.contact is not None:
            self._add_damping_diagonal(self.contact)
        n = body.n_vertices
        self.external = np.zeros((n, 3))
        """Force of the stage at hand [N], (n, 3)."""
        self._frames = np.tile(np.eye(3), (n, 1, 1))
        self._held = np.flatnonzero(~body.free)
        self._held_velocity = np.zeros((n, 3))
        self._held_acceleration = np.zeros((n, 3))
        self._v = np.zeros((n, 3))
        self._shape: Shape | None = None
        self._friction: tuple[Shape, Floats, float, Floats] | None = None  # what ``_damped`` keeps
        self._anchor: Shape | None = None
        self._latest: Floats | None = None
        self._tangent_at: tuple[Shape, Floats] | None = None
        self._start_velocity = self._v
        self._anchor_v = self._v
        # The stiffness of the current shape and that of the anchor.
        self._buffer, self._spare = (np.empty((body.pattern.n_blocks, 3, 3)) for _ in range(2))
        self._matrix = np.empty((body.pattern.n_blocks, 3, 3))
        self._order = 2 if any(model.uses_stiffness_matrix for model in self.damping) else 1
        self.matrix_is_hessian = all(model.matrix_is_hessian for model in self.damping)
        self.has_potential = not any(model.depends_on_shape for model in self.damping)
        if not self.has_potential:
            self.advice = (
                "Damping that follows the shape can keep a buckling body from settling: with "
                "Rayleigh try at=StiffnessAt.REST, with cloth Newton(iterations=3)."
            )

    def _add_damping_diagonal(self, contact: ContactForces) -> None:
        """Let contacts know how damping adds to the matrix of a stage."""
        still = np.zeros_like(self.body.mesh.vertices)
        rest = Shape(self.body, still, order=2)
        for model in self.damping:
            if model.pattern is None:
                values = np.zeros((self.body.pattern.n_blocks, 3, 3))
                model.add_tangent(rest, still, 1.0, values, definite=True, closer=False)
                contact.add_damping_diagonal(values)

    @property
    def pattern(self) -> BlockPattern:  # type: ignore[override]
        return self._wide_pattern.pattern

    @property
    def nonsmooth(self) -> bool:
        return self.contact is not None and self.contact.contacts.pairs.count > 0

    @property
    def has_smoothed_friction(self) -> bool:
        return self.layers is not None and self.layers.has_smoothed_friction

    def begin(
        self,
        stage: Stage,
        external: Floats,
        start: State | None = None,
        latest: Floats | None = None,
    ) -> None:
        """Set what acts during a stage: its external force and the motion of its supports.

        ``start`` is where the step began and ``latest`` (n, 3) where its last stage ended, in
        motion.
        """
        self.external, self._latest = external, latest
        for model in self.damping:
            model.forget()
        if start is not None and latest is not None:
            self._start_velocity = start.v
            if self.layers is not None:
                self.layers.begin(latest)
            if self.contact is not None:
                self.contact.begin(stage, latest, stage.guess, start.time)
        self.body.held.set_velocity(self._held_velocity, stage.time)
        self.body.held.set_acceleration(self._held_acceleration, stage.time)

    def balance(self, stage: Stage, u: Floats, *, with_matrix: bool = False) -> Balance:
        body = self.body
        v = self._v = self._following(stage.velocity(u), self._held_velocity)
        shape = self.shape_at(u, order=2 if with_matrix else self._order, v=v)
        a = self._following(stage.acceleration(u), self._held_acceleration)
        inertia = body.mass_times(a)
        own, friction = self._damped(shape, v)
        # ½ ‖a‖²_M / c_a + U(u) + R(u, v)/c_v − f·u: its gradient by u is the residual
        work = float(np.vdot(self.external, u))
        kinetic = 0.5 * float(np.vdot(a, inertia)) / stage.c_a if stage.c_a else 0.0
        potential, size = shape.energy - work + kinetic, shape.energy + abs(work) + kinetic
        per_velocity = 1 / stage.c_v if stage.c_v else 0.0
        parts = [inertia, friction, shape.gradient, self.external]
        residual = inertia + friction + shape.gradient - self.external
        if self.contact is not None:
            parts.append(self.contact.push(u))
            residual += parts[-1]
            potential += self.contact.potential(u)
        floor = body.rounding_force(u) + self._rounding_inertia(stage, u)
        if self.layers is not None:
            stored, apart = self.layers.energy(u), self.layers.force(u)
            parts += [apart, self.layers.friction(v)]
            residual += apart + parts[-1]
            potential += stored + per_velocity * self.layers.dissipation(v)
            floor += self.layers.rounding_force(u, apart)
        return Balance(
            residual=residual,
            scale=sum(float(np.linalg.norm(part)) for part in parts),
            floor=floor,
            from_anchor=lambda: potential + per_velocity * self._anchored_dissipation(shape, v),
            current_potential=potential + per_velocity * own,
            potential_rounding=_ROUNDINGS * (_EPSILON * size + floor * self._edge),
        )

    def _damped(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        """R [W] of the damping that has one, and ∇₂R [N] of all; the last are kept."""
        kept = self._friction
        if kept is not None and kept[0] is shape and np.array_equal(kept[1], v):
            return kept[2], kept[3]
        total, force = 0.0, np.zeros_like(v)
        for model in self.damping:
            dissipation, share = model.evaluate(shape, v)
            force += share
            total += dissipation if model.is_gradient else 0.0
        self._friction = shape, v, total, force
        return total, force

    def _anchored_dissipation(self, shape: Shape, v: Floats) -> float:
        """R at velocity v [W], or what stands in for it, with damping as it is at the anchor."""
        total = 0.0
        for model in self.damping:
            there = shape if self._anchor is None or not model.depends_on_shape else self._anchor
            if model.is_gradient:
                total += model.evaluate(there, v)[0]
            elif self._anchor is not None:
                total += model.potential(self._anchor, v, self._anchor_v)
        return total

    def remember(self, stage: Stage, step: Floats, length: float) -> None:
        if self._tangent_at is not None:
            for model in self.damping:
                model.remember(*self._tangent_at, stage.c_v * step, length)

    def follow(self, stage: Stage, u: Floats, step: Floats, length: float) -> float:
        return 0.0 if self.contact is None else self.contact.follow(stage, u, step, length)

    def projected_out(self, stage: Stage, u: Floats) -> Floats:
        return u if self.contact is None else self.contact.contacts.projected_out(stage, u)

    def keep_place(self) -> Callable[[], None]:
        return super().keep_place() if self.contact is None else self.contact.keep_place()

    def improve(self, stage: Stage, u: Floats, enough: float) -> bool:
        changed = self.contact is not None and self.contact.improve(stage, u, enough)
        if self.layers is not None:
            v = self._following(stage.velocity(u), self._held_velocity)
            changed |= self.layers.improve(u, v, enough)
        return changed

    def collision_free_step(self, u: Floats, step: Floats) -> float:
        return 1.0 if self.layers is None else self.layers.collision_free_step(u, step)

    def reachable(self, starts: Sequence[Floats]) -> Sequence[Floats]:
        if self.layers is None or self._latest is None:
            return starts
        return self.layers.reachable(self._latest, starts)

    def anchor(self) -> None:
        self._anchor_v = self._v
        if self._shape is not None and self._shape is not self._anchor:
            self._anchor = self._shape
            self._buffer, self._spare = self._spare, self._buffer

    def _rounding_inertia(self, stage: Stage, u: Floats) -> float:
        """Norm of the inertia [N] that rounding of u leaves in c_a M (u − û_a)."""
        heaviest = float(self.body.mass_values.max() * np.sqrt(u.size))
        return _EPSILON * stage.c_a * heaviest * float(np.abs(u).max())

    def _following(self, field: Floats, prescribed: Floats) -> Floats:
        """``field`` with its held components as prescribed."""
        if len(self._held):
            field.reshape(-1)[self._held] = prescribed.reshape(-1)[self._held]
        return field

    def matrix(
        self, stage: Stage, *, definite: bool, closer: bool = False, majorized: bool = False
    ) -> Floats:
        shape = self._shape
        if shape is None:
            raise RuntimeError("ask for a balance first")
        values = self._matrix
        self._tangent_at = shape, self._v
        values[:] = shape.definite_stiffness if definite else shape.stiffness
        add_scaled_identity_blocks(values, self.body.mass_values, stage.c_a)
        if self.contact is not None:
            self.contact.add_matrix(values, majorized=definite)
        wide = []
        for model in self.damping:
            target = values
            if model.pattern is not None:
                target = np.zeros((model.pattern.n_blocks, 3, 3))
                wide.append(target)
            model.add_tangent(shape, self._v, stage.c_v, target, definite=definite, closer=closer)
        total = self._on_own_pattern([values, *wide])
        layers = self.layers
        if layers is None:
            return total
        keys, blocks = layers.matrix(
            shape.u, self._v, stage.c_v, definite=definite, majorized=definite or majorized
        )
        return self._wide_pattern.sum(total, keys, blocks, lambda: layers.nearby_keys(shape.u))

    def frames(self) -> Floats | None:
        if self._shape is not None:
            x = self.body.mesh.vertices + self._shape.u
            pattern = self.body.pattern
            turning.update_rotations(
                pattern.indptr, pattern.cols, self.body.mesh.vertices, x, self._frames
            )
        return self._frames

    def _on_own_pattern(self, shares: Sequence[Floats]) -> Floats:
        """The sum of the body's blocks and those of damping with wider patterns, on all of them."""
        if len(self._places) == 1:
            return shares[0]
        total = np.zeros((self._own_pattern.n_blocks, 3, 3))
        for places, share in zip(self._places, shares, strict=False):
            total[places] += share
        return total

    def led_along(
        self, stage: Stage, start: Floats, solve: Callable[[Floats, Floats], Floats]
    ) -> Floats | None:
        if self._latest is None or np.array_equal(self._latest[~self.free], start[~self.free]):
            return None
        for pieces in _SUPPORT_INCREMENTS:
            u = self._latest
            for left in range(pieces, 0, -1):
                led = np.where(self.free, 0.0, (start - u) / left)
                shape = self.shape_at(u)
                if not np.isfinite(shape.energy):
                    break
                values = shape.definite_stiffness.copy()
                add_scaled_identity_blocks(
                    values, self.body.mass_values, _SUPPORT_INERTIA * stage.c_a
                )
                force = -self.body.pattern.multiply(values, led)
                wide = self._wide_pattern.widened(self._on_own_pattern([values]))
                led = led + solve(wide, force)
                if self.collision_free_step(u, led) < 1.0:
                    break
                u = u + led
            else:
                if np.isfinite(self.shape_at(u).energy):
                    return u
        return None

    def low_rank(self, stage: Stage) -> LowRank | None:
        shape = self._shape
        if shape is None:
            raise RuntimeError("ask for a balance first")
        found = [model.low_rank(shape, self._v) for model in self.damping]
        return joined(found, stage.c_v)

    def shape_at(self, u: Floats, *, order: int | None = None, v: Floats | None = None) -> Shape:
        """The body at u, about to be damped at velocity v; the last shape asked for is kept."""
        if self._shape is None or not np.array_equal(self._shape.u, u):
            direction = v if any(model.uses_stiffness for model in self.damping) else None
            self._shape = Shape(
                self.body,
                u.copy(),
                order=self._order if order is None else order,
                direction=direction,
                buffer=self._buffer,
            )
        return self._shape

    def stored_energy(self, u: Floats) -> float:
        """U [J], with what layers in contact store."""
        energy = self.shape_at(u).energy
        return energy if self.layers is None else energy + self.layers.energy(u)

    def conservative_force(self, u: Floats) -> Floats:
        """∇U [N], with the push of layers in contact, (n, 3)."""
        force = self.shape_at(u).gradient
        return force if self.layers is None else force + self.layers.force(u)

    def damping_force(self, u: Floats, v: Floats) -> Floats:
        """∇₂R [N] of all damping, (n, 3)."""
        return self._damped(self.shape_at(u, v=v), v)[1]

    # -- contact -----------------------------------------------------------------------------

    def record_contacts(self, u: Floats) -> None:
        """Remember what the stage just solved, at u, has touched, until ``end_step``."""
        if self.layers is not None:
            self.layers.sound = u
        if self.contact is not None:
            self._pressed |= self.contact.contacts.touching

    def impact(self, now: State, dt: float) -> Impact | None:
        """The first impact, with restitution, of the step just tried from ``now``."""
        if self.contact is None or not self._pressed - self._touching:
            return None
        fall = float(np.linalg.norm(self.external.sum(axis=0))) / self.body.total_mass
        return first_impact(
            self.contact.contacts,
            self.body.mesh.vertices,
            now,
            dt,
            self._pressed,
            self._touching,
            fall,
        )

    def set_restitution_speeds(self, speeds: dict[tuple[int, int], float]) -> None:
        """Let pairs part at these speeds [m/s] in the stages to come."""
        if self.contact is not None:
            self.contact.contacts.speeds = speeds

    def end_step(self, after: State) -> State:
        """``after``, at rest where it rests on obstacles."""
        if self.contact is None:
            return after
        self._touching, self._pressed = self.contact.contacts.touching, set()
        return self.contact.contacts.with_resting_contacts(after)

    def contact_forces(self) -> Floats:
        """Force of the obstacles on every vertex in the last stage [N], (n, 3)."""
        if self.contact is None:
            return np.zeros_like(self.body.mesh.vertices)
        return self.contact.contacts.on_vertices()

    def contact_state(self) -> dict[str, Floats]:
        """What contacts go on from, for checkpoints."""
        return {} if self.contact is None else self.contact.contacts.state()

    def restore_contact(self, saved: Mapping[str, Floats]) -> None:
        """Go on from what ``contact_state`` gave, its names behind "contact."."""
        if self.contact is not None and saved:
            contacts = self.contact.contacts
            contacts.restore(saved["contact.pairs"], saved["contact.forces"])
            self._touching = contacts.touching

    def friction_power(self, v: Floats) -> float:
        """Power that friction takes from the motion [W] at velocities v (n, 3)."""
        power = 0.0 if self.contact is None else self.contact.contacts.friction_power(v)
        return power if self.layers is None else power + self.layers.friction_power(v)

    def self_contact_forces(self, u: Floats, v: Floats) -> Floats:
        """Force of the body on itself where the last stage ended, at u and v [N], (n, 3)."""
        if self.layers is None:
            return np.zeros_like(u)
        return -(self.layers.force(u) + self.layers.friction(v))

    # -- as a sum of local terms -----------------------------------------------------------

    @cached_property
    def _splitter(self) -> Splitter:
        return Splitter(self.body, self.damping, self._own_pattern, self._places, self.contact)

    def split(self, stage: Stage, starts: Sequence[Floats], options: SplitOptions) -> Splitting:
        u_v = stage.u_v.copy()  # held components as their supports move: v = c_v (u − u_v)
        held = self._held
        if len(held) and stage.c_v:
            prescribed = self._held_velocity.reshape(-1)[held] / stage.c_v
            u_v.reshape(-1)[held] = starts[0].reshape(-1)[held] - prescribed
        return self._splitter.split(
            stage, starts, options, u_v=u_v, start_velocity=self._start_velocity
        )

    def overlooked(self, stage: Stage, u: Floats) -> bool:
        return self.contact is not None and self.contact.contacts.add_penetrating(stage, u)

    def outside(self, stage: Stage, u: Floats) -> Outside:
        v = self._following(stage.velocity(u), self._held_velocity)
        a = self._following(stage.acceleration(u), self._held_acceleration)
        inertia = self.body.mass_times(a)
        friction = self._splitter.outside_damping(u, v)
        bending = self._splitter.outside_elasticity(u)
        parts = (inertia, self.external, friction, bending)
        return Outside(
            inertia + friction + bending - self.external,
            sum(float(np.linalg.norm(part)) for part in parts),
            self.body.rounding_force(u) + self._rounding_inertia(stage, u),
        )
