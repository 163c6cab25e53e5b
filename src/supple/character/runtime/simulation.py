"""A rigged character whose flesh moves: reduced dynamics along a path of poses (pose space, §5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from supple._kernels.character.frame import ON_TIME
from supple._kernels.reduction import newton as reasons
from supple._kernels.reduction.stepping import Stages
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.rigs.base import turned
from supple.character.runtime.among import CharacterAmongObstacles
from supple.character.runtime.arrays import StepArrays
from supple.character.runtime.attempts import WHOLE, Attempt, Attempts, step_failed
from supple.character.runtime.live import stages_of
from supple.character.runtime.rig import Path, RigSampler, Sample
from supple.character.runtime.shape import Pull, SkinShape, Wind
from supple.character.runtime.solver import StepSolver
from supple.character.runtime.stats import (
    CUTS,
    GAINED,
    IN_PARTS,
    SETTLED,
    STEPS,
    STOPPED,
    PoseStats,
)
from supple.contact import Obstacle
from supple.core.checks import instance, number, numbers, several, vector, whole_number
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats
from supple.damping import Damping
from supple.integrators import BackwardEuler, Integrator
from supple.reduction.runtime.contact.among import several_obstacles
from supple.reduction.runtime.newton import DenseNewton

Pose = ArrayLike | Callable[[float], ArrayLike]


class PoseSimulation(CharacterAmongObstacles):
    """Flesh on a rig, in steps of ``dt`` [s].

    ``q`` (r,) are the coordinates of the displacement from the rig's shape and ``v`` their rates.
    Each frame is cut into ``substeps``; in between the rig is taken along smooth cubics through the
    frames. ``gravity`` is an acceleration (3,) [m/s²]. A step of
    ``solver=DenseNewton(iterations=1)`` is one Newton iteration, as in the paper: the fastest.

    Jumps are no motion. A frame that is further than ``cut_distance`` [m] from where the rig would
    be at the speed it had, root of the mean square by mass, is a cut: it exerts no force, and the
    frame after it tells the speed. ``max_acceleration`` [m/s²], from frame to frame, bounds what a
    vertex feels of any other. Unless given, they are a fifth of the body's diagonal, and what
    throws the slowest vibration a quarter of it away, at once or by and by. So is a frame that
    changes the speeds of vertices against each other by more than ``cut_speed`` [m/s], unless given
    2.5 diagonals a second.

    A step that leaves more energy in the flesh than it had and the rig, gravity and forces put in,
    and more than its rule may gain, is taken otherwise, and ``stats`` tells how often; obstacles
    are not reckoned with.

    ``dtype`` is that of the stored bases; numpy.float32 needs half the memory, and keeps seven
    digits. ``obstacles`` keep the surface out, with friction, as far as flesh can give way.
    """

    def __init__(
        self,
        model: PoseSpaceModel,
        *,
        pose: ArrayLike | None = None,
        damping: Damping | Sequence[Damping] | None = None,
        integrator: Integrator | None = None,
        dt: float = 1 / 60,
        substeps: int = 1,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        solver: DenseNewton | None = None,
        cut_distance: float | None = None,
        max_acceleration: float | None = None,
        cut_speed: float | None = None,
        dtype: DTypeLike = np.float64,
        obstacles: Obstacle | Sequence[Obstacle] = (),
    ) -> None:
        instance("model", model, PoseSpaceModel, "a PoseSpaceModel")
        self._model = model
        self._integrator = integrator if integrator is not None else BackwardEuler()
        self.dt, self.substeps = dt, substeps
        newton = solver if solver is not None else DenseNewton()
        instance("solver", newton, DenseNewton, "DenseNewton(iterations=1)")
        if dtype not in (np.float32, np.float64, "float32", "float64"):
            raise InputError(f"dtype={dtype!r}: give numpy.float32 or numpy.float64")
        self._given_bounds = cut_distance, max_acceleration, cut_speed
        self._rules: dict[tuple[float, bool], Stages] = {}
        arrays = StepArrays.of(model, np.dtype(dtype))
        self._solver = StepSolver(
            model, arrays, damping=damping, newton=newton, gravity=vector("gravity", gravity),
            bounds=self._bounds, **self._of_rule(),
        )  # fmt: skip
        self._follower = RigSampler(model.tet_rig, arrays.needed)
        self._skin = SkinShape(model, np.dtype(dtype))
        self._unpushed: Floats = np.zeros(model.n_coordinates)
        self._take_obstacles(several_obstacles(obstacles))
        self.reset(pose)
        self._untold = Sample(*(np.empty((0, *each.shape)) for each in self._path.end))

    def copy(self) -> PoseSimulation:
        """Another character of the same model and with the same options, at rest in this pose."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__, _rules={})
        other._solver = self._solver.copy()
        other._follower, other._skin = self._follower.copy(), self._skin.copy()
        other._around = None if self._around is None else self._around.copy()
        other.reset(self._pose)
        return other

    def __copy__(self) -> PoseSimulation:
        """Another character in the same state, with a state of its own."""
        other = self.copy()
        other.restore(self.snapshot())
        return other

    # -- where it is and how its flesh moves -----------------------------------------------

    @property
    def q(self) -> Floats:
        """Coordinates, (r,); assign them for initial conditions."""
        return np.array(self._solver.workspace.history[0])

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._set(0, "q", value)

    @property
    def v(self) -> Floats:
        """Their rates, (r,)."""
        return np.array(self._solver.workspace.history[1])

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._set(1, "v", value)

    def _set(self, row: int, name: str, value: ArrayLike) -> None:
        history = self._solver.workspace.history
        history[row] = numbers(name, value, (history[0].shape,))
        self._solver.drop_history()
        self._has_past = self._settled = False

    @property
    def stats(self) -> PoseStats:
        """What it took to get here."""
        return PoseStats(*map(int, self._solver.workspace.counts))

    @property
    def pose(self) -> Floats:
        """The pose that it is in, (d,)."""
        return self._pose.copy()

    @property
    def force(self) -> Floats:
        """What wind and pulls of the last step were on the coordinates, (r,)."""
        return self._pushed.copy()

    @property
    def kinetic(self) -> float:
        """Kinetic energy of the motion relative to the rig [J]."""
        v = self._solver.workspace.history[1]
        return 0.5 * float(v @ self._solver.workspace.balance.M @ v)

    @property
    def elastic(self) -> float:
        """Elastic energy [J]."""
        workspace = self._solver.workspace
        q = workspace.history[0]
        self._solver.forces(q)
        return float(workspace.volumes @ workspace.cells.psi[:, 0] + 0.5 * q @ workspace.gap @ q)

    @property
    def damping_force(self) -> Floats:
        """What damping takes on at q and v, on the coordinates, (r,)."""
        q, v = self._solver.workspace.history[:2]
        self._solver.forces(q)
        return self._solver.damping_force(q, v)

    @property
    def damping_power(self) -> float:
        """Power that damping takes from the motion relative to the rig [W]."""
        return float(self._solver.workspace.history[1] @ self.damping_force)

    @property
    def elastic_force(self) -> Floats:
        """U(p)ᵀ f_int at q, by cubature (Eq. 21), (r,)."""
        self._solver.forces(self._solver.workspace.history[0])
        return np.array(self._solver.workspace.balance.R)

    @property
    def stiffness(self) -> Floats:
        """U(p)ᵀ K U(p) at q, by cubature (Eq. 22), (r, r)."""
        self._solver.forces(self._solver.workspace.history[0])
        return np.array(self._solver.workspace.balance.K)

    @property
    def mass(self) -> Floats:
        """U(p)ᵀ M U(p), (r, r)."""
        return np.array(self._solver.workspace.balance.M)

    def surface_displacements(self) -> Floats:
        """A U(p) q: how far the surface is from the rig's [m], (surface vertices, 3)."""
        workspace = self._solver.workspace
        q = workspace.scale * workspace.history[0]
        return self._skin.displacements(self._pose, q, workspace.w)

    def vertices(self) -> Floats:
        """The surface, Φ̄(p) + A U(p) q [m], (surface vertices, 3)."""
        return self.model.tet_rig.rig.vertices(self._pose) + self.surface_displacements()

    def displacements(self) -> Floats:
        """U(p) q at all vertices of the tet mesh [m], (n, 3)."""
        workspace = self._solver.workspace
        scaled = np.multiply.outer(workspace.w, workspace.scale * workspace.history[0])
        u: Floats = np.einsum("mnir,mr->ni", self.model.bases, scaled)
        return turned(self.model.tet_rig.frames(self._pose), u)

    # -- jumping -------------------------------------------------------------------------

    def reset(self, pose: ArrayLike | None = None, *, time: float = 0.0) -> None:
        """At rest in a pose, the neutral one unless given."""
        rig = self.model.tet_rig.rig
        self._pose = self._checked(rig.neutral if pose is None else pose)
        self._path = Path.standing(self._follower.sample(self._pose))
        self._restart_surface(Path.standing)
        self._solver.come_to_rest()
        self._solver.rest_rig(self._path.end)
        self._solver.take_pose(self._path.end)
        self._pushed = self._unpushed
        self._time = float(time)
        self._last = 0.0  # the length of the last substep
        # time and surface at the start of the last step, if it had wind
        self._shown: tuple[float, Floats] | None = None
        self._has_past = self._settled = False

    def teleport(self, pose: ArrayLike) -> None:
        """To another pose at once: nothing is felt, what swings goes on swinging.

        The frame after it tells the speed of the rig. Where flesh is stiffer in the other pose it
        swings less far, with the energy that it had.
        """
        settled = self._settled
        self._settle()  # which tells the energy that there is
        self._settled = settled
        self._pose = self._checked(pose)
        self._path = Path.jumped(self._follower.sample(self._pose))
        self._restart_surface(Path.jumped)
        self._solver.rest_rig(self._path.end)
        self._solver.jump_to(self._path.end)
        self._shown = None
        self._has_past = False

    def ease(self, pose: ArrayLike) -> None:
        """To another pose at once, at half of its way from the rig, and at rest.

        For a frame that flesh cannot follow, whatever is tried.
        """
        self.teleport(pose)
        self.q, self.v = 0.5 * self.q, np.zeros(self.model.n_coordinates)

    # -- stepping ------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """[s]"""
        return self._time

    def pull(self, vertex: int, force: ArrayLike, *, inside: bool = False) -> Pull:
        """A force (3,) [N] at a vertex of the surface, or of the tet mesh where ``inside``."""
        model = self.model
        count = len(model.tet_rig.mesh.vertices) if inside else len(model.skin_cells)
        at = whole_number("vertex", vertex, at_least=0)
        if at >= count:
            raise InputError(f"vertex={vertex!r}: there are vertices 0 to {count - 1}")
        if inside:
            return Pull(np.array([at]), np.ones(1), vector("force", force))
        cell = model.tet_rig.mesh.cells[model.skin_cells[at]]
        return Pull(cell, model.skin_weights[at], vector("force", force))

    def step(
        self,
        pose: Pose,
        dt: float | None = None,
        *,
        force: ArrayLike | Pull | Sequence[Pull] | None = None,
        wind: Wind | None = None,
    ) -> None:
        """On to a pose (d,), ``dt`` [s] later.

        A function of time [s] as ``pose`` gives the poses in between too, where a rule has several
        stages or a step several substeps. ``force`` are pulls, or a reduced force (r,).
        A step that cannot be solved is tried again in 2, 4, … up to 256 parts, then with backward
        Euler, whole and in as many, and one that gains energy in up to 4; with a given number of
        iterations in 2, then by backward Euler in 1 and 4, with up to 8 iterations each. Where that
        fails too, flesh is brought to rest at half of its way from the rig. StepFailed is raised
        for forces without bounds alone; the state is then as it was.
        """
        span = self.dt if dt is None else number("dt", dt, above=0, unit="s")
        end = self._checked(pose(self._time + span) if callable(pose) else pose)
        new = self._follower.sample(end)
        self._settle()
        shown = None if wind is None else (self._time, self.vertices())
        f = self._external(end, new, force, wind, shown)
        path = self._path.on(new, span)
        if self._around is None:
            cut = self._advance(path, pose, f)
        else:
            cut = self._advance_among(path, pose, end, f)
        self._shown = None if cut or not self._settled else shown
        self._pushed, self._pose = f, end
        self._time += span
        counts = self._solver.workspace.counts
        counts[STEPS] += 1
        counts[CUTS] += cut

    def _settle(self) -> None:
        """Finds the acceleration that goes with the state, where it was set."""
        if not self._settled:
            self._solver.find_acceleration(self._pushed)
            self._settled = True

    def _advance(self, path: Path, pose: Pose, f: Floats) -> bool:
        """On to the end of the path; whether it is a cut."""
        attempts = Attempts(self._solver.newton.is_best_effort)
        for attempt in attempts:
            failure, cut = self._try_frame(path, pose, f, attempt)
            if attempts.went(failure):
                if attempt is not WHOLE:
                    self._count_attempt(attempts, attempt)
                return cut
        self._stop(path, f, attempts)
        return False

    def _count_attempt(self, attempts: Attempts, attempt: Attempt) -> None:
        counts = self._solver.workspace.counts
        counts[GAINED] += attempts.gained
        counts[SETTLED if attempt.settling else IN_PARTS] += 1

    def _stop(self, path: Path, f: Floats, attempts: Attempts) -> None:
        """Into the pose at the end of the path, at half of the way from the rig, and at rest."""
        with np.errstate(over="ignore"):
            bounded = np.isfinite(f @ f)
        if not bounded:
            raise self._failure(path, *attempts.failure)
        counts = self._solver.workspace.counts
        counts[GAINED] += attempts.gained
        counts[STOPPED] += 1
        self._solver.rest_rig(path.end)
        self._solver.rest_in(path.end)
        self._path, self._has_past, self._settled = Path.jumped(path.end), False, False

    def _try_frame(
        self,
        path: Path,
        pose: Pose,
        f: Floats,
        attempt: Attempt,
        contacts: Callable[[Floats, Pose | None], Any] | None = None,
    ) -> tuple[tuple[int, float], bool]:
        """A frame, taken in one way.

        Returns how it went, at which share of the frame that was, and whether it is a cut. Contacts
        are made for the times of all stages, and for poses that a function tells.
        """
        jumps = f is not self._pushed and bool((f != self._pushed).any())
        settling, parts, thorough = attempt
        span, count = path.spans[2], parts * self.substeps
        h = span / count
        rule = self._stages(h, start=True), self._stages(h)
        if settling:
            euler = BackwardEuler()
            rule = stages_of(euler, h, start=True), stages_of(euler, h, start=False)
        # a force that jumps makes the past useless
        has_past = self._has_past and not jumps and h == self._last
        substeps = [rule[has_past], *[rule[1]] * (count - 1)]
        stage_samples = self._untold
        if callable(pose):
            stage_samples = self._sampled(pose, path, substeps)
        met: Any = None
        if contacts is not None:
            after = np.concatenate([k * h + each.times for k, each in enumerate(substeps)])
            met = contacts(after, pose if callable(pose) else None)
        given = count, *rule, has_past, jumps, f, self._pushed
        reason, share, cut = self._solver.run(
            path, self._path.moving, stage_samples, *given, contacts=met, settling=settling,
            thorough=thorough,
        )  # fmt: skip
        if reason == reasons.DONE:
            self._path = Path.jumped(path.end) if cut else path
            self._last, self._has_past = h, not settling
        return (reason, share), cut

    def _failure(self, path: Path, reason: int, share: float) -> StepFailed:
        return step_failed(self.model, reason, self._time + share * path.spans[2])

    def _sampled(
        self, pose: Callable[[float], ArrayLike], path: Path, substeps: list[Stages]
    ) -> Sample:
        """The rig at every stage of every substep, one above the other."""
        samples = []
        span = path.spans[2]
        for k, stages in enumerate(substeps):
            for after in k * span / len(substeps) + stages.times:
                sample = path.end
                if after <= (1 - ON_TIME) * span:
                    sample = self._follower.sample(self._checked(pose(self._time + after)))
                samples.append(sample)
        return Sample(*(np.array(each) for each in zip(*samples, strict=True)))

    def _external(
        self,
        pose: Floats,
        sample: Sample,
        force: Any,
        wind: Wind | None,
        shown: tuple[float, Floats] | None,
    ) -> Floats:
        """The reduced force from outside, (r,); ``shown`` are time and surface now."""
        if force is None and wind is None:
            return self._unpushed
        solver = self._solver
        f: Floats = np.zeros(self.model.n_coordinates)
        reduced: Floats | None = None
        pulls: tuple[Pull, ...] = ()
        if isinstance(force, np.ndarray) or _are_numbers(force):
            reduced = numbers("force", force, (f.shape,))
        elif force is not None:
            pulls = several("force", force, Pull, "simulation.pull(vertex, (0, 0, 1))")
        blown: Floats | None = None
        if wind is not None and shown is not None:
            instance("wind", wind, Wind, "Wind(velocity=(5, 0, 0))")
            time, now = shown
            before, x = (time - self.dt, now) if self._shown is None else self._shown
            blown = self._skin.wind_force(wind, now, x, time - before)
        solver.interpolation_weights(sample)
        for pull in pulls:
            f += self._skin.pulled(pull, pose, solver.workspace.w)
        if blown is not None:
            f += self._skin.gathered(blown, pose, solver.workspace.w)
        f *= solver.workspace.scale
        return f if reduced is None else f + reduced

    def _checked(self, pose: Any) -> Floats:
        wanted = self.model.tet_rig.rig.neutral.shape
        return numbers("pose", pose, (wanted,))


def _are_numbers(force: Any) -> bool:
    """Whether it is a list of them."""
    listed = isinstance(force, list | tuple) and len(force) > 0
    return listed and all(isinstance(each, int | float) for each in force)
