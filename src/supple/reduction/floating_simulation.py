"""A free reduced body in motion: thrown, tumbling and wobbling (subspace StVK, App. D)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .._kernels import floating as kernels
from .._kernels.floating_newton import correct_floating
from .._kernels.frame import L, P, R_NOW, V, begin_rigid
from .._kernels.stepping import DONE, NOT_CONVERGED, NOT_DEFINITE, NOT_FINITE, begin_stage
from ..checks import instance, number, numbers, vector, whole_number
from ..damping import Damping, Rayleigh
from ..errors import InputError, StepFailed
from ..integrators import ImplicitIntegrator, Integrator, Newmark
from ..types import Floats
from .damping import reduced_damping
from .floating import FloatingLoad
from .model import ReducedModel, expand
from .newton import DenseNewton
from .stage_table import StageTable

_REASONS = {
    NOT_FINITE: "the forces are not finite",
    NOT_CONVERGED: "the Newton iteration did not converge",
    NOT_DEFINITE: "the matrix of the step is not positive definite",
}


class FloatingSimulation:
    """A reduced model of a body without supports, in steps of ``dt`` [s].

    The body deforms in a frame that moves with it; its turns may be of any size. Momentum changes
    by forces alone, and by the α of Rayleigh damping, which is a drag on all motion as in full
    space. Damping by stiffness acts on the deformation and leaves rigid motion alone, which that of
    the full space does not quite. ``gravity`` is an acceleration (3,) [m/s²].

    Assign ``q``, ``v``, ``position``, ``rotation``, ``velocity`` and ``spin`` for initial
    conditions; each leaves the others as they are.
    """

    def __init__(
        self,
        model: ReducedModel,
        *,
        damping: Damping | None = None,
        integrator: Integrator | None = None,
        dt: float = 1e-3,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        solver: DenseNewton | None = None,
    ) -> None:
        instance("model", model, ReducedModel, "reduce(body, basis)")
        if model.floating is None:
            raise InputError(
                "this model is of a body that is held; use model.simulation(), or make a model of "
                "a body without supports"
            )
        self.model = model
        self.solver = solver if solver is not None else DenseNewton()
        instance("solver", self.solver, DenseNewton, "DenseNewton(max_iterations=1)")
        self.integrator = integrator if integrator is not None else Newmark()
        self.dt = number("dt", dt, above=0, unit="s")
        self.gravity = vector("gravity", gravity)
        self.damping = damping
        self._start_table = StageTable.of(self.integrator, self.dt, start=True)
        self._table = StageTable.of(self.integrator, self.dt, start=False)
        assert isinstance(self.integrator, ImplicitIntegrator)
        self._looks_back = self.integrator.looks_back
        self._alpha = _mass_coefficient(damping)
        if isinstance(damping, Rayleigh):
            damping = replace(damping, mass=0.0)
        self._damping = reduced_damping(damping, model)
        self._inertia = model.floating
        self._time, self._steps = 0.0, 0
        self._settled = self._has_past = False
        self._load = self._no_load = FloatingLoad(np.zeros(3), np.zeros((model.size + 1, 3, 3)))
        self._make_arrays(max(self._table.vectors, self._start_table.vectors))
        self.position = self._inertia.centre

    def _make_arrays(self, vectors: int) -> None:
        r = self.model.size
        self._history: Floats = np.zeros((vectors, r))
        self._rigid: Floats = np.zeros((vectors // 3, 8, 3))
        self._frame: Floats = np.zeros((7, 3, 3))
        self._frame[R_NOW] = np.eye(3)
        self._x, self._x_v, self._x_a, self._v, self._a, self._delta = np.zeros((6, r))
        self._K, self._A, self._R = np.zeros((r, r)), np.zeros((r, r)), np.zeros(r)
        self._Z, self._H, self._W = np.zeros((3, 9, r)), np.zeros((3, 3, r)), np.zeros((3, 3, r))
        self._hats, self._small = np.zeros((2, 3)), np.zeros((4, 3))
        inertia = self._inertia
        self._moments = inertia.rest_moments, inertia.mixed_moments, inertia.shape_moments

    # -- where it is -----------------------------------------------------------------------

    @property
    def time(self) -> float:
        """[s]"""
        return self._time + self._steps * self.dt

    @time.setter
    def time(self, value: float) -> None:
        self._time, self._steps = number("time", value, unit="s"), 0

    @property
    def q(self) -> Floats:
        """Coordinates of the deformation, (r,)."""
        return _still(self._history[0])

    @q.setter
    def q(self, value: ArrayLike) -> None:
        spin = self.spin
        self._history[0] = self.model.checked("q", value)
        self.spin = spin

    @property
    def v(self) -> Floats:
        """Their rates, (r,)."""
        return _still(self._history[1])

    @v.setter
    def v(self, value: ArrayLike) -> None:
        spin = self.spin
        self._history[1] = self.model.checked("v", value)
        self.spin = spin

    @property
    def position(self) -> Floats:
        """Where the centre of mass is [m], (3,)."""
        return _still(self._rigid[0, P])

    @position.setter
    def position(self, value: ArrayLike) -> None:
        self._rigid[0, P] = vector("position", value)
        self._settled = False

    @property
    def rotation(self) -> Floats:
        """The rotation R of the body's frame, (3, 3)."""
        return _still(self._frame[R_NOW])

    @rotation.setter
    def rotation(self, value: ArrayLike) -> None:
        R = numbers("rotation", value, ((3, 3),))
        if np.abs(R.T @ R - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
            raise InputError(
                f"rotation={R.tolist()} is not a rotation; give an orthonormal matrix with "
                "determinant 1, e.g. scipy.spatial.transform.Rotation.as_matrix()"
            )
        spin = self.spin
        left, _, right = np.linalg.svd(R)
        self._frame[R_NOW] = left @ right
        self.spin = spin

    @property
    def velocity(self) -> Floats:
        """Of the centre of mass [m/s], (3,)."""
        return _still(self._rigid[0, V])

    @velocity.setter
    def velocity(self, value: ArrayLike) -> None:
        self._rigid[0, V] = vector("velocity", value)
        self._settled = False

    @property
    def spin(self) -> Floats:
        """Angular velocity of the body's frame in the world [1/s], (3,)."""
        return _still(self._frame[R_NOW] @ self._body_spin())

    @spin.setter
    def spin(self, value: ArrayLike) -> None:
        R, q, v = self._frame[R_NOW], self._history[0], self._history[1]
        omega = R.T @ vector("spin", value)
        h = self._inertia.inner_momentum(q, v)
        self._rigid[0, L] = R @ (self._inertia.inertia(q) @ omega + h)
        self._settled = False

    def _body_spin(self) -> Floats:
        """ω, from Jω + h = RᵀL."""
        R, q, v = self._frame[R_NOW], self._history[0], self._history[1]
        h = self._inertia.inner_momentum(q, v)
        return np.linalg.solve(self._inertia.inertia(q), R.T @ self._rigid[0, L] - h)

    # -- what it looks like ----------------------------------------------------------------

    def displacements(self, *, out: Floats | None = None) -> Floats:
        """Displacements of the volume mesh in the world, from rest [m], (n, 3)."""
        arms = expand(self._history[0], self.model.vectors)
        arms += self._inertia.arms
        return self._placed(arms, self._rigid[0, P] - self.model.mesh.vertices, out)

    def velocities(self, *, out: Floats | None = None) -> Floats:
        """Velocities of the volume mesh in the world [m/s], (n, 3)."""
        arms = expand(self._history[0], self.model.vectors)
        arms += self._inertia.arms
        relative = expand(self._history[1], self.model.vectors)
        relative += np.cross(self._body_spin(), arms)
        return self._placed(relative, self._rigid[0, V], out)

    def skin_vertices(self, *, out: Floats | None = None) -> Floats:
        """Where the vertices of the model's skin are in the world [m], (s, 3)."""
        skin = self.model.skin
        if skin is None:
            raise InputError(
                "this model has no skin; make it with reduce(body, basis, skin=Embedding(...))"
            )
        arms = expand(self._history[0], skin.vectors)
        arms += skin.vertices
        return self._placed(arms - self._inertia.centre, self._rigid[0, P], out)

    def _placed(self, arms: Floats, shift: Floats, out: Floats | None) -> Floats:
        result = np.matmul(arms, self._frame[R_NOW].T, out=out)
        result += shift
        return result

    # -- energy and momentum ---------------------------------------------------------------

    @property
    def kinetic(self) -> float:
        """Kinetic energy [J]."""
        q, v, V_ = self._history[0], self._history[1], self._rigid[0, V]
        omega, h = self._body_spin(), self._inertia.inner_momentum(q, v)
        turning = omega @ self._inertia.inertia(q) @ omega + 2 * omega @ h
        deforming = v @ self._inertia.reduced_mass @ v
        return 0.5 * float(self._inertia.mass * V_ @ V_ + turning + deforming)

    @property
    def elastic(self) -> float:
        """Elastic energy [J]."""
        return self.model.evaluate(self._history[0])[0]

    @property
    def linear_momentum(self) -> Floats:
        """[kg m/s], (3,)."""
        return _still(self._inertia.mass * self._rigid[0, V])

    @property
    def angular_momentum(self) -> Floats:
        """About the origin of the world [kg m²/s], (3,)."""
        orbit = np.cross(self._rigid[0, P], self._inertia.mass * self._rigid[0, V])
        return _still(orbit + self._rigid[0, L])

    # -- stepping --------------------------------------------------------------------------

    def step(self, *, force: FloatingLoad | None = None) -> None:
        """One step, with the forces of the world that ``model.pull`` or ``project`` give.

        They act in full from the start of the step to its end. Raises StepFailed where the step
        cannot be solved; the state is then as it was.
        """
        self.run_steps(1, force=force)

    def run_steps(self, steps: int, *, force: FloatingLoad | None = None) -> None:
        """Many steps in one compiled loop, with the same forces on the same vertices."""
        load = self._no_load if force is None else force
        instance("force", load, FloatingLoad, "model.pull(vertex, (0, 0, 1))")
        if load.moments.shape != self._no_load.moments.shape:
            raise InputError(
                f"this load is of a model with {len(load.moments) - 1} coordinates, not "
                f"{self.model.size}; make it with pull or project of this model"
            )
        if not whole_number("steps", steps, at_least=0):
            return
        self._settle(load)
        if self._looks_back and not self._has_past:
            self._take(1, self._start_table)
            steps -= 1
        if steps:
            self._take(steps, self._table)

    def _push(self) -> Floats:
        return self._load.force / self._inertia.mass + self.gravity

    def _settle(self, load: FloatingLoad) -> None:
        """Accelerations that belong to the state and the load; one that jumps ends the past."""
        steady = load is self._load or (
            np.array_equal(load.moments, self._load.moments)
            and np.array_equal(load.force, self._load.force)
        )
        if self._settled and steady:
            return
        scratch = self._history, self._rigid, self._frame, self._Z, self._H
        q, v, inner = self._history[0], self._history[1], self._R
        if self._settled:
            kernels.find_inner_force(
                self._load.moments, self._alpha, *self._moments, *scratch, inner
            )
        else:
            _, R, K = self.model.evaluate(q)
            inner[:] = R + (self._damping_matrix(q) + self._damping.factor * K) @ v
        self._load, self._has_past = load, False
        self._settled = kernels.find_accelerations(
            inner, load.moments, self._push(), self._alpha, *self._moments, *scratch,
            self._small, self._A, self._delta,
        )  # fmt: skip
        if not self._settled:
            raise StepFailed(
                "the forces are not finite at the start of the step",
                time=self.time,
                residual=float("inf"),
                advice="Check the coordinates that were set; they may be far too large.",
            )

    def _damping_matrix(self, q: Floats) -> Floats:
        """What of the damping is not a multiple of the current stiffness, (r, r)."""
        by_region = self._damping.by_region
        if by_region is None:
            return self._damping.constant
        return self._damping.constant + by_region.compiled.evaluate(q)[1]

    def _take(self, steps: int, table: StageTable) -> None:
        exact = self.model.quartic is not None and self._damping.by_region is None
        done, reason = (self._run_compiled if exact else self._run_interpreted)(steps, table)
        self._steps += done
        self._has_past |= done > 0
        if reason != DONE:
            raise StepFailed(
                _REASONS[reason],
                time=self.time + self.dt,
                residual=float("nan"),
                advice="Try a smaller dt, TRBDF2() or more damping.",
            )

    def _run_compiled(self, steps: int, table: StageTable) -> tuple[int, int]:
        assert self.model.quartic is not None
        quartic = self.model.quartic.compiled
        done, reason = kernels.run_floating_steps(
            steps, self._load.moments, self._push(),
            table.c_v, table.c_a, table.w_v, table.w_a, table.w_guess,
            *self._moments, self._damping.constant, self._damping.factor, self._alpha,
            quartic.P, quartic.Q, quartic.S, quartic.starts, quartic.rows,
            self.solver.max_iterations, self.solver.tolerance,
            self._history[: table.vectors], self._rigid, self._frame,
            quartic.qq, quartic.F, quartic.G2, quartic.G3, self._K, self._R, self._A,
            self._x, self._x_v, self._x_a, self._v, self._a, self._delta,
            self._hats, self._Z, self._H, self._small, self._W,
        )  # fmt: skip
        return int(done), int(reason)

    def _run_interpreted(self, steps: int, table: StageTable) -> tuple[int, int]:
        """The same loop, for energies and damping that are not one polynomial."""
        x, history, rigid, frame = self._x, self._history[: table.vectors], self._rigid, self._frame
        load, alpha, push = self._load.moments, self._alpha, self._push()
        state = self._x_v, self._x_a, x, self._v, self._a, self._hats
        scratch = frame, self._Z, self._H, self._small
        for step in range(steps):
            for s, (c_v, c_a) in enumerate(zip(table.c_v, table.c_a, strict=True)):
                weights = table.w_v, table.w_a
                begin_stage(s, *weights, table.w_guess, history, self._x_v, self._x_a, x)
                begin_rigid(s, table.c_v, table.c_a, *weights, push, alpha, rigid, self._hats)
                converged = self.solver.max_iterations == 1
                for _ in range(self.solver.max_iterations):
                    _, R, K = self.model.evaluate(x)
                    size = correct_floating(
                        K, R, self._damping_matrix(x), self._damping.factor, alpha, c_v, c_a,
                        load, *self._moments, *state, rigid[s + 2], *scratch,
                        self._W, self._A, self._delta,
                    )  # fmt: skip
                    if size < 0:
                        return step, NOT_DEFINITE if size == -1 else NOT_CONVERGED
                    if not np.isfinite(size):
                        return step, NOT_FINITE
                    scale = max(np.abs(x).max(), np.abs(x - history[0]).max())
                    if size <= self.solver.tolerance * scale:
                        converged = True
                        break
                if not converged:
                    return step, NOT_CONVERGED
                if not kernels.end_stage(
                    s, history, load, alpha, c_v, c_a, *self._moments, *state, rigid, *scratch
                ):
                    return step, NOT_FINITE
            kernels.end_step(s, history, rigid, frame)
        return steps, DONE


def _mass_coefficient(damping: Damping | None) -> float:
    """α [1/s], one for the whole body."""
    if not isinstance(damping, Rayleigh):
        return 0.0
    if isinstance(damping.mass, dict) or np.ndim(damping.mass):
        raise InputError(
            f"mass={damping.mass!r}: a free reduced body takes one number, e.g. Rayleigh(mass=0.1)"
        )
    return float(damping.mass)  # type: ignore[arg-type]


def _still(array: Floats) -> Floats:
    """A copy that says so when someone tries to change the state in place."""
    copy = array.copy()
    copy.setflags(write=False)
    return copy
