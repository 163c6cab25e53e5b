"""How woven cloth moves in a world: all of it that is no stored energy.

The body has U and a constant mass M₀; all else of ``StepPotential``, by which ``YarnSimulation``
takes a stage, is one term here: the mass that follows the yarns, in place of M₀, damping by strain
rates, friction between yarns, and what of the weight changes as yarns slide. A rule for v and a is
one for p = M v and p' as well (``stages.py``); p and p' of past states are kept by the term, as
states have them not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.bodies.group import BodyGroup
from supple.bodies.shape import Shape
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats
from supple.dynamics.terms.base import BlockSum, Point, Share, StageStart, Term
from supple.integrators import Stage, State
from supple.solvers.interface import Tangent
from supple.yarns.inertia import momentum_rate
from supple.yarns.material import YarnDamping, YarnRayleigh
from supple.yarns.stages import Spans, YarnStage, YarnState
from supple.yarns.step import StepPotential

if TYPE_CHECKING:
    from supple.yarns.body import WovenBody

_KEPT = 4  # states: where a step and the one before began, and the ends of two stages
_EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class _Known:
    """A state of the cloth, (n, 5) each, with what its rates do not tell."""

    q: Floats
    v: Floats
    a: Floats
    momentum: Floats
    """p"""
    force: Floats
    """p'"""
    power: Floats
    """What damping and friction took in the stage [W], ()."""


class WovenMotion(Term):
    """Inertia, damping and friction of a woven cloth, and how its weight follows its yarns."""

    why_implicit = "move yarns, which are too stiff for it"
    _begun: Stage  # since ``begin``

    def __init__(
        self,
        body: WovenBody,
        rows: slice,
        n_vertices: int,
        damping: YarnDamping | YarnRayleigh | None,
    ) -> None:
        self._body, self._cloth = body, body.cloth
        self._rows, self._n = rows, n_vertices
        self._damping = damping
        self.dissipates = damping is not None or body.cloth.friction > 0
        self._free = body.gathered(body.free.astype(float)) > 0
        self._spans = Spans(body.cloth.net.segments)
        self._gravity, self._weight = np.zeros(3), np.zeros_like(body.mesh.vertices)
        self._known: list[_Known] = []
        self._ended: State | None = None
        self._stage: YarnStage | None = None
        self._potential: StepPotential | None = None
        mass = body.cloth.mass_values(body.cloth.rest_state)
        self._heaviest = float(np.abs(mass).max() * np.sqrt(5 * body.cloth.n_nodes))

    def set_gravity(self, gravity: Floats) -> None:
        self._gravity, self._weight = gravity, self._body.weight(gravity)

    @property
    def has_smoothed_friction(self) -> bool:
        """Where yarns rub; full steps alone lead them astray."""
        return self._cloth.friction > 0

    # -- what was before -----------------------------------------------------------------

    def _q(self, u: Floats) -> Floats:
        return self._body.q_of(u[self._rows])

    def _rates(self, v: Floats) -> Floats:
        return self._body.gathered(v[self._rows])

    def _whole(self, field: Floats) -> Floats:
        """A field (n, 5) as one on all vertices of the world, (vertices, 3)."""
        whole = np.zeros((self._n, 3))
        whole[self._rows] = self._body.spread(field)
        return whole

    def _find(self, q: Floats, v: Floats) -> _Known | None:
        for known in reversed(self._known):
            if np.array_equal(known.q, q) and np.array_equal(known.v, v):
                return known
        return None

    def _yarn_state(self, state: State) -> YarnState:
        """A state of the world as one of yarns, with p and p'."""
        q, v = self._q(state.u), self._rates(state.v)
        a = None if state.a is None else self._rates(state.a)
        known = self._find(q, v)
        p = self._cloth.kinetic(q, v)[1] if known is None else known.momentum
        force = None
        if a is not None:
            same = known is not None and np.array_equal(known.a, a)
            force = known.force if known is not None and same else self._force(q, v, a)
        return YarnState(state.time, q, v, p, 0.0, a, force)

    def _force(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """p' = M a + Ṁ v, (n, 5)."""
        return self._cloth.kinetic(q, a)[1] + momentum_rate(self._cloth, q, v)

    # -- a stage -------------------------------------------------------------------------

    def begin(self, start: StageStart) -> None:
        now = start.start
        if now is None or start.latest is None:
            raise InputError(
                "woven cloth comes to rest by friction and damping; run a Simulation of it until "
                "it does, for it has no static shape of its own"
            )
        latest, ended = now, self._ended
        if start.latest is not now.u and ended is not None and ended.u is start.latest:
            latest = ended
        self._begun = start.stage
        self._stage = self._yarn_stage(start.stage, self._yarn_state(latest))
        self._potential = StepPotential(self._cloth, self._damping, self._gravity, self._stage)

    def _yarn_stage(self, stage: Stage, latest: YarnState) -> YarnStage:
        """The stage as yarns see it."""
        past = {id(s): self._yarn_state(s) for _, _, s in (*stage.memory, *stage.velocity_memory)}
        momentum = np.zeros_like(latest.q)
        for share, of_force, state in stage.velocity_memory:
            known = past[id(state)]
            momentum += share * known.momentum
            if of_force and known.force is not None:
                momentum += of_force * known.force
        motion = Stage(
            stage.time,
            stage.c_v,
            self._q(stage.u_v),
            stage.c_a,
            self._q(stage.u_a),
            self._q(stage.guess),
            tuple((p, q, past[id(state)].motion()) for p, q, state in stage.memory),
        )
        at, rates = latest.q, latest.v
        if not _is_backward_euler(stage):
            ahead = stage.time - latest.time
            at = latest.q + ahead * latest.v
            at = at if self._spans.keep(at, latest.q) else latest.q
            rates = latest.v if latest.a is None else latest.v + ahead * latest.a
        return YarnStage(motion, stage.c_a / stage.c_v, momentum, at, rates)

    @property
    def _step(self) -> StepPotential:
        assert self._potential is not None
        return self._potential

    @property
    def _with_strains(self) -> bool:
        """Whether the potential of the stage has damping that goes with the strains of U."""
        return isinstance(self._damping, YarnDamping)

    def _shape(self, shape: Shape) -> Shape:
        """The cloth at a shape of all bodies."""
        whole = shape.body
        if isinstance(whole, BodyGroup):
            return whole.shape_of(shape, whole.number_of(self._body))
        return shape

    def evaluate(self, at: Point) -> Share:
        q, g = self._q(at.u), np.zeros((self._cloth.n_nodes, 5))
        potential = self._step.evaluate(q, g, stored=self._with_strains)
        if not np.isfinite(potential):
            return Share(np.zeros((self._n, 3)), np.inf)
        force, scale = self._body.spread(g), self._step.scale
        magnitude = abs(potential)
        if self._with_strains:  # U is that of another term
            shape = self._shape(at.shape)
            potential -= shape.energy
            force -= shape.gradient
        a = np.ascontiguousarray(at.a[self._rows])
        constant = self._body.mass_times(a)
        force += self._weight - constant
        kinetic = 0.5 * float(np.vdot(a, constant)) / at.stage.c_a
        lifted = float(np.vdot(self._weight, at.u[self._rows]))
        whole = np.zeros((self._n, 3))
        whole[self._rows] = force
        return Share(
            whole,
            potential - kinetic + lifted,
            magnitude=magnitude + kinetic + abs(lifted),
            floor=_EPSILON * at.stage.c_a * self._heaviest * float(np.abs(q).max()),
            scale=scale,
        )

    def add_matrix(self, at: Point, share: Share, tangent: Tangent, to: BlockSum) -> None:
        q, values = self._q(at.u), np.zeros((self._cloth.pattern.n_blocks, 5, 5))
        stored, definite = self._with_strains, tangent.definite or tangent.majorized
        self._step.evaluate(q, np.zeros_like(q), values, definite=definite, stored=stored)
        blocks = self._body.blocks_of(values)
        if stored:
            shape = self._shape(at.shape)
            blocks -= shape.definite_stiffness if tangent.definite else shape.stiffness
        blocks -= (at.stage.c_a * self._body.mass_values)[:, None, None] * np.eye(3)
        to.values[self._blocks(at.shape)] += blocks

    def _blocks(self, shape: Shape) -> slice:
        whole = shape.body
        if isinstance(whole, BodyGroup):
            return whole.blocks[whole.number_of(self._body)]
        return slice(None)

    def projected_out(self, stage: Stage, u: Floats) -> Floats:
        assert self._stage is not None
        q = self._q(u)
        out = self._spans.unfolded(q, self._stage.at[:, 3:])
        return u if out is q else u + self._whole(out - q)

    def end_stage(self, solution: State) -> State:
        """Note p and p' at the end, also of what contacts have done to v and a."""
        stage, step = self._stage, self._step
        assert stage is not None
        q, v = self._q(solution.u), self._rates(solution.v)
        a = self._rates(solution.acceleration)
        p = step.momentum(v)
        plain, of_rule = (
            np.where(self._free, self._rates(field), held)
            for field, held in (
                (self._begun.velocity(solution.u), v),
                (self._begun.acceleration(solution.u), a),
            )
        )
        force = stage.c_p * (step.momentum(plain) - stage.momentum)
        if not np.array_equal(a, of_rule):
            force += step.momentum(a - of_rule)
        power = np.array(stage.motion.c_v * step.taken(q))
        self._known = [*self._known[1 - _KEPT :], _Known(q, v, a, p, force, power)]
        self._ended = solution
        return solution

    # -- outside of stages ---------------------------------------------------------------

    def kinetic(self, u: Floats, v: Floats) -> float:
        own = np.ascontiguousarray(v[self._rows])
        constant = 0.5 * float(np.vdot(own, self._body.mass_times(own)))
        return self._cloth.kinetic(self._q(u), self._rates(v))[0] - constant

    def momentum(self, u: Floats, v: Floats) -> Floats:
        q, rates = self._q(u), self._rates(v)
        known = self._find(q, rates)
        p = self._cloth.kinetic(q, rates)[1] if known is None else known.momentum.copy()
        p[:, 3:] = 0.0  # that of slides is no momentum in space
        whole = self._whole(p)
        whole[self._rows] -= self._body.mass_times(np.ascontiguousarray(v[self._rows]))
        return whole

    def inertia(self, state: State) -> Floats:
        known = self._yarn_state(state)
        assert known.force is not None
        by_position = self._cloth.kinetic(known.q, known.v)[2]
        whole = self._whole(known.force - by_position)
        own = np.ascontiguousarray(state.acceleration[self._rows])
        whole[self._rows] -= self._body.mass_times(own)
        return whole

    def accelerated(self, u: Floats, v: Floats, force: Floats, a: Floats) -> Floats:
        """M a = f + ∇T − Ṁ v."""
        from scipy.sparse import linalg  # slow to import

        cloth, q, rates = self._cloth, self._q(u), self._rates(v)
        held = np.where(self._free, 0.0, self._rates(a))
        right = self._rates(force) + cloth.kinetic(q, rates)[2] - momentum_rate(cloth, q, rates)
        right -= cloth.kinetic(q, held)[1]
        free = np.flatnonzero(self._free)
        M = cloth.pattern.full(cloth.mass_values(q))[free][:, free]
        found = held
        try:
            found.ravel()[free] = linalg.splu(M.tocsc()).solve(right.ravel()[free])
        except RuntimeError as error:  # warp and weft of a crossing are in one line
            raise StepFailed(
                "two yarns that cross lie along each other",
                time=0.0,
                residual=float("inf"),
                advice="Set state.u to a shape in which warp and weft cross.",
            ) from error
        out = a.copy()
        out[self._rows] = self._body.spread(found)
        return out

    def gravitational(self, u: Floats) -> float:
        lifted = self._body.mesh.vertices + u[self._rows]
        weight = float(np.vdot(self._weight, lifted))
        return weight + self._cloth.gravity_potential(self._q(u), self._gravity)

    def stored_energy(self, shape: Shape) -> float:
        return self.gravitational(shape.u)

    def free_force(self, shape: Shape, v: Floats) -> Floats:
        q, rates = self._q(shape.u), self._rates(v)
        total = self._lost(q, rates)
        self._cloth.gravity_potential(q, self._gravity, total)
        whole = self._whole(total)
        whole[self._rows] += self._weight
        return whole

    def power(self, shape: Shape, v: Floats) -> float:
        q, rates = self._q(shape.u), self._rates(v)
        known = self._find(q, rates)
        if known is not None:  # by strains, which turns leave alone however long the step
            return float(known.power)
        return float(np.vdot(rates, self._lost(q, rates)))

    def _lost(self, q: Floats, v: Floats) -> Floats:
        """∇_v of what damping and friction take at q and v, (n, 5)."""
        cloth, total = self._cloth, np.zeros_like(q)
        if isinstance(self._damping, YarnDamping):
            total -= cloth.dissipation(q, v, self._damping)[1]
        elif isinstance(self._damping, YarnRayleigh) and self._damping.stiffness > 0:
            K = cloth.stiffness_values(q)
            total += self._damping.stiffness * cloth.pattern.multiply(K, v)
        if cloth.friction > 0:
            given = q, q - v, cloth.slopes(q), cloth.pressure(q), 1.0
            cloth.friction_potential(*given, total)
        return total

    # -- what is kept --------------------------------------------------------------------

    def state(self) -> dict[str, Floats]:
        """The states that are known, in the order that they were reached in."""
        at = self._rows.start
        return {
            f"woven.{at}.{field.name}": np.array(
                [getattr(each, field.name) for each in self._known]
            )
            for field in fields(_Known)
            if self._known
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        self._ended, at = None, self._rows.start
        found = [saved.get(f"woven.{at}.{each.name}", ()) for each in fields(_Known)]
        self._known = [_Known(*(np.array(a) for a in each)) for each in zip(*found, strict=True)]

    def memory(self) -> Any:
        return tuple(self._known)

    def recall(self, memory: Any) -> None:
        self._known, self._ended = list(memory), None

    def go_on_from(self, before: Term) -> None:
        if not isinstance(before, WovenMotion) or before._body is not self._body:
            return
        self._known = list(before._known)
        if before._damping is not self._damping:
            self._known = [
                replace(each, power=np.array(np.vdot(each.v, self._lost(each.q, each.v))))
                for each in self._known
            ]


def _is_backward_euler(stage: Stage) -> bool:
    """Whether v = (u − u₀)/h: then weights are those of the start, as the rule is of first order.

    The first stage of others has a share of the velocity or of the acceleration there too.
    """
    if len(stage.memory) != 1 or len(stage.velocity_memory) != 1:
        return False
    return stage.memory[0][:2] == stage.velocity_memory[0][:2] == (1.0, 0.0)
