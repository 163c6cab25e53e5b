"""Flesh on a rig in full: what reduced models are measured against (pose space, Eq. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.character.full_pose import balance
from supple._kernels.linear_algebra.node_rotations import update_rotations
from supple.bodies.solid import Body
from supple.character.runtime.rig import RigSampler, Sample
from supple.character.tissue.posed_body import PosedCells
from supple.character.tissue.posed_damping import PosedDamping, listed
from supple.character.tissue.tet_rig import TetRig
from supple.core.checks import instance, number, numbers
from supple.core.errors import InputError, StepFailed
from supple.core.guarded import Timed
from supple.core.sparse import LowRank, joined
from supple.core.types import Bools, Floats
from supple.damping import Damping, Rayleigh
from supple.damping.base import DampingTangent
from supple.integrators import BackwardEuler, ImplicitIntegrator, Stage, State
from supple.mesh import TetMesh
from supple.solvers import AutomaticSolver, Cholesky, Newton
from supple.solvers.interface import LinearSolver, NotPositiveDefinite

_FEW = 300  # free vertices whose matrix is factorized sooner than iterated with
_CLOSE = 1e-3  # relative residual of the linear solves where their number is fixed
_HALVINGS = 12  # of a correction that turns cells inside out


@dataclass(frozen=True, eq=False)
class FullPoseSnapshot:
    """A moment of flesh in full space: all that the steps after it depend on."""

    cells: PosedCells
    turns: Floats
    linear: Any
    values: dict[str, Any]


_VALUES = ("_flesh", "_bones", "_before", "_pose", "_integrator", "_dt", "_gravity", "_weight")
"""What a simulation keeps from step to step; none of it changes once it is made."""


class FullPoseSimulation(Timed):
    """M ü + D u̇ + f_int(Φ(p), u) = f_ext − M ẍ(p): every vertex of the tet mesh is free to move.

    Each step takes the pose as a new rest shape. ``body`` is the neutral one, its mass lumped.
    ``damping``, one or several, is of the flesh relative to the rig: examples and matrices turn
    with the frames of the rig, fibres go with it. ``mass`` and ``stiffness`` are short for
    Rayleigh damping. ``held`` (n, 3) are components that follow the rig beside those that the body
    fixes; cells ``without`` (cells,), such as those that the rig presses flat, weigh but exert no
    force. The integrator is one with a single stage. With ``solver=Newton(iterations=1)`` a step is
    one Newton iteration: the fastest.
    """

    def __init__(
        self,
        body: Body,
        tet_rig: TetRig,
        *,
        damping: Damping | Sequence[Damping] | None = None,
        mass: float = 0.0,
        stiffness: float = 0.0,
        integrator: ImplicitIntegrator | None = None,
        dt: float = 1 / 60,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        held: Bools | None = None,
        without: Bools | None = None,
        pose: ArrayLike | None = None,
        solver: Newton | None = None,
    ) -> None:
        _check(body, tet_rig)
        self._body, self._tet_rig = body, tet_rig
        self.integrator = integrator if integrator is not None else BackwardEuler()
        self.dt = dt
        alpha = number("mass", mass, at_least=0)
        beta = number("stiffness", stiffness, at_least=0)
        self._given = damping
        given = listed(damping)
        if alpha or beta:
            given.append(Rayleigh(mass=alpha, stiffness=beta))
        self._newton = solver if solver is not None else Newton(tolerance=1e-8, max_iterations=30)
        instance("solver", self._newton, Newton, "Newton(iterations=1)")
        free: Bools = np.asarray(body.free, dtype=bool)
        if held is not None:
            free = free & ~_mask("held", held, free.shape)
        left_out = None if without is None else _mask("without", without, (body.n_cells,))
        self._cells = PosedCells(body, free, left_out)
        self._vertices = self._cells.vertices
        n, k = body.n_vertices, len(self._vertices)
        self._masses = body.mass_times(np.ones((n, 3)))[self._vertices, 0].copy()
        self.gravity = gravity
        self._follower = RigSampler(tet_rig, self._vertices)
        self._damping = PosedDamping(given, body, self._cells)
        self._take(self._follower.sample(tet_rig.rig.neutral))
        bound, own = self._damping.bound, self._cells.pattern
        self._pattern = own
        if bound is not None and bound.pattern is not None:
            self._pattern = own.with_keys(bound.pattern.keys)
        self._linear = _chosen(self._newton.linear, self._cells.free).bind(
            self._pattern, self._cells.free
        )
        self._guards = not all(part.material.survives_inversion for part in body.parts)
        self._rest_shape = np.ascontiguousarray(body.mesh.vertices[self._vertices])
        self._low_rank: LowRank | None = None
        self._turns = np.tile(np.eye(3), (k, 1, 1))
        self._rest = np.empty((k, 3))
        self.reset(pose)

    # -- what can be changed between two steps ---------------------------------------------

    _fixed = dict.fromkeys(
        ("body", "tet_rig", "held", "without", "solver", "mass", "stiffness", "damping"),
        "start another simulation",
    ) | {"pose": "use step(pose) or reset(pose)"}

    @property
    def body(self) -> Body:
        """The body in the neutral pose."""
        return self._body

    @property
    def tet_rig(self) -> TetRig:
        """What poses it."""
        return self._tet_rig

    @property
    def damping(self) -> Damping | Sequence[Damping] | None:
        """The damping, beside what ``mass`` and ``stiffness`` say."""
        return self._given

    @property
    def pose(self) -> Floats:
        """The pose that it is in, (d,)."""
        return self._pose.copy()

    @property
    def integrator(self) -> ImplicitIntegrator:
        """The rule of the steps, of a single stage; assign another and go on."""
        return self._integrator

    @integrator.setter
    def integrator(self, integrator: ImplicitIntegrator) -> None:
        instance("integrator", integrator, ImplicitIntegrator, "BackwardEuler()")
        self._integrator = integrator

    def _note_gravity(self) -> None:
        self._weight = self._masses[:, None] * self._gravity

    def snapshot(self) -> FullPoseSnapshot:
        """The moment, to ``restore``: bit for bit, the motion after it is the same again."""
        values = {name: getattr(self, name) for name in _VALUES}
        return FullPoseSnapshot(self._cells, self._turns.copy(), self._linear.memory(), values)

    def restore(self, snapshot: FullPoseSnapshot) -> None:
        """Go back to a snapshot of this simulation, with the settings that it had."""
        instance("snapshot", snapshot, FullPoseSnapshot, "simulation.snapshot()")
        if snapshot.cells is not self._cells:
            raise InputError(
                "this snapshot is of another simulation; restore it in the one that it was taken of"
            )
        self._turns[:] = snapshot.turns
        self._linear.recall(snapshot.linear)
        for name, value in snapshot.values.items():
            setattr(self, name, value)

    def __copy__(self) -> Self:
        raise InputError(
            "a copy would share its state with this simulation; keep snapshot() and restore it, or "
            "start another simulation"
        )

    # -- motion ----------------------------------------------------------------------------

    def reset(self, pose: ArrayLike | None = None) -> None:
        """At rest in a pose, the neutral one unless given."""
        given = self.tet_rig.rig.neutral if pose is None else pose
        self._pose = numbers("pose", given, (self.tet_rig.rig.neutral.shape,))
        x = self._follower.sample(self._pose).x
        still = np.zeros_like(x)
        self._flesh = State(0.0, still, still, still)
        self._bones = State(0.0, x, still, still)
        self._before = still

    @property
    def displacements(self) -> Floats:
        """From the rig's shape [m], (n, 3)."""
        u = np.zeros((self.body.n_vertices, 3))
        u[self._vertices] = self._flesh.u
        return u

    def step(
        self, pose: ArrayLike, dt: float | None = None, *, force: ArrayLike | None = None
    ) -> None:
        """On to a pose (d,), ``dt`` [s] later; ``force`` (n, 3) [N] at the vertices.

        Where it raises, the state is as before.
        """
        h = self._dt if dt is None else number("dt", dt, above=0, unit="s")
        p = numbers("pose", pose, (self._pose.shape,))
        sample = self._follower.sample(p)
        x = sample.x
        self._take(sample)
        flesh, bones = self._stage(self._flesh, h), self._stage(self._bones, h)
        f = self._weight - self._masses[:, None] * bones.acceleration(x)
        if force is not None:
            f = f + numbers("force", force, ((self.body.n_vertices, 3),))[self._vertices]
        u = self._solved(flesh, x, f)
        if not np.isfinite(u).all():
            raise _failed("the displacements are not finite", flesh, np.inf)
        self._before = self._flesh.u
        self._flesh, self._bones, self._pose = flesh.state(u), bones.state(x), p

    def _take(self, sample: Sample) -> None:
        """The rest shape from now on."""
        self._cells.take_pose(sample.x)
        self._damping.take_pose(sample.x, sample.frames)
        if self._damping.bound is not None:
            self._damping.bound.reset_duals()

    def _solved(self, stage: Stage, x: Floats, f: Floats) -> Floats:
        """The displacements at which forces balance, or so many Newton iterations towards them."""
        newton, fixed = self._newton, self._newton.iterations
        u = 2 * self._flesh.u - self._before  # on as in the last step
        if self._inside_out(u):
            u = self._flesh.u.copy()
        size = np.inf
        for _ in range(fixed or newton.max_iterations):
            size, largest = self._balance(stage, u, f)
            if not size < np.inf:
                raise _failed("the forces are not finite", stage, size)
            target = newton.tolerance * largest
            if not fixed and size <= target:
                return u
            accuracy = _CLOSE if fixed else min(0.1, max(1e-3, 0.3 * target / size))
            step = self._correction(stage, u, x, f, accuracy)
            u += step
            for _ in range(_HALVINGS):
                if not self._inside_out(u):
                    break
                step *= 0.5
                u -= step
        if fixed:
            return u
        raise _failed("the Newton iteration did not converge", stage, size)

    def _inside_out(self, u: Floats) -> bool:
        """Whether a cell is inside out that its material does not let be so."""
        return self._guards and not np.isfinite(self._cells.energy(u))

    def _balance(
        self, stage: Stage, u: Floats, f: Floats, *, definite: bool = False
    ) -> tuple[float, float]:
        """The rest of the forces and the matrix at u; how large that is, and what it is made of."""
        v = np.ascontiguousarray(stage.c_v * (u - stage.u_v))
        shape, bound = self._cells.shape(self._damping.body, u), self._damping.bound
        force, self._low_rank = np.zeros_like(u), None
        self._matrix = np.zeros((self._pattern.n_blocks, 3, 3))
        if bound is not None:
            force = bound.evaluate(shape, v)[1]
            own = bound.pattern or self._cells.pattern
            values = self._matrix
            if own is not self._pattern:
                values = np.zeros((own.n_blocks, 3, 3))
            bound.add_tangent(shape, v, DampingTangent(stage.c_v, definite), values)
            if own is not self._pattern:
                self._matrix[np.searchsorted(self._pattern.keys, own.keys)] += values
            self._low_rank = joined([bound.low_rank(shape, v)], stage.c_v)
        K = shape.definite_stiffness if definite else shape.stiffness
        if self._pattern is self._cells.pattern:
            self._matrix += K
        else:
            self._matrix[np.searchsorted(self._pattern.keys, self._cells.pattern.keys)] += K
        rates = stage.u_a, stage.c_a
        diagonal = self._pattern.indptr
        size, largest = balance(
            u, rates, self._masses, f, shape.gradient, force, diagonal, self._matrix,
            self._cells.free, self._rest,
        )  # fmt: skip
        return float(size), float(largest)

    def _correction(self, stage: Stage, u: Floats, x: Floats, f: Floats, accuracy: float) -> Floats:
        """One Newton correction, with a definite stand-in where the matrix is not."""

        def frames() -> Floats:
            pattern = self._cells.pattern  # which cells share
            update_rotations(pattern.indptr, pattern.cols, self._rest_shape, x + u, self._turns)
            return self._turns

        rest = self._rest.copy()
        for definite in (False, True):
            if definite:
                self._balance(stage, u, f, definite=True)
            try:
                self._linear.take(self._matrix, self._low_rank, frames)
                return self._linear.solve(rest, accuracy)
            except NotPositiveDefinite:
                continue
        size = float(np.abs(rest).max())
        raise _failed("the matrix of the step is not positive definite", stage, size)

    def _stage(self, state: State, h: float) -> Stage:
        stage = next(self.integrator.stages(state, None, h))
        if abs(stage.time - state.time - h) > 1e-9 * h:
            raise InputError(
                f"integrator={self.integrator!r} has several stages; give BackwardEuler() or "
                "Newmark()"
            )
        return stage


def _check(body: Body, tet_rig: TetRig) -> None:
    """Stop where the body is not one that the rig moves."""
    instance("body", body, Body, "Body(mesh, material, fixed=bones)")
    if type(body.mesh) is not TetMesh:
        raise InputError(f"body has a {type(body.mesh).__name__}; a rig moves a TetMesh")
    instance("tet_rig", tet_rig, TetRig, "TetRig.of(rig, mesh)")
    if body.n_vertices != len(tet_rig.near):
        raise InputError(
            f"body has {body.n_vertices} vertices and tet_rig {len(tet_rig.near)}; make both of "
            "one mesh"
        )


def _mask(name: str, given: Bools, shape: tuple[int, ...]) -> Bools:
    if np.shape(given) != shape or np.asarray(given).dtype != bool:
        raise InputError(f"{name} has shape {np.shape(given)}; give a mask {shape} of booleans")
    return np.asarray(given)


def _chosen(linear: LinearSolver, free: Bools) -> LinearSolver:
    """A factorization of every matrix instead of the automatic choice where there is little."""
    few = int(free.any(axis=1).sum()) <= _FEW
    return Cholesky() if few and isinstance(linear, AutomaticSolver) else linear


def _failed(reason: str, stage: Stage, residual: float) -> StepFailed:
    return StepFailed(reason, time=stage.time, residual=residual, advice="Take shorter steps.")
