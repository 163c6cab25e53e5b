"""Experiments, and their repetition by simulation: held off its rest, let go, followed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.solid import Body
from supple.core.checks import instance, number, vector, vertex_indices
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping import Damping
from supple.design.ringdown.ringdown import RingDown
from supple.dynamics.statics import static_shape
from supple.integrators import Bathe
from supple.reduction.basis import joined_basis, modal_derivative_basis, picked_basis
from supple.reduction.modes import vibration_modes
from supple.reduction.reducing import reduce
from supple.solvers.linear.cholesky import Factorization

_STEPS_A_CYCLE = 80
_MODES, _SIZE = 6, 14  # of the modal derivative basis; half of it makes no difference to see


@dataclass(frozen=True, eq=False)
class Experiment:
    """A measured ring-down, and the body on which it was measured.

    ``vertices`` are those at the place that was followed (their mean counts), ``direction`` (3,) is
    the way in which its displacement was measured, ``gravity`` (3,) [m/s²] what the body hangs or
    stands in. What a body carries, such as a weight hung from its tip, belongs to the body.
    ``held_by`` (n, 3) are the forces, of any size, that held it before it was let go; without them
    a body that swings is taken to swing in its slowest vibration, and one that creeps back to have
    been held at the place that was followed.
    """

    measured: RingDown
    body: Body
    vertices: ArrayLike
    direction: ArrayLike
    gravity: ArrayLike = (0.0, 0.0, 0.0)
    name: str = ""
    held_by: ArrayLike | None = None

    def __post_init__(self) -> None:
        instance("measured", self.measured, RingDown, "RingDown.read_csv(path)")
        instance("body", self.body, Body, "Body(mesh, StVK(young=1e6, poisson=0.4))")
        self.body.require_supports("a ring-down")
        along = vector("direction", self.direction)
        vertices = vertex_indices("vertices", self.vertices, self.body.n_vertices)
        if not len(vertices) or not along.any():
            raise InputError("give at least one vertex, and a direction that is not zero")
        if self.measured.reach > self.body.mesh.diagonal:
            raise InputError(
                f"the recording swings by {self.measured.reach:.3g} m, more than the body's "
                f"size of {self.body.mesh.diagonal:.3g} m; check its units, "
                "RingDown.read_csv(path, scale=1e-3) reads millimetres"
            )
        object.__setattr__(self, "direction", along / np.linalg.norm(along))
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "gravity", vector("gravity", self.gravity))
        if self.held_by is not None:
            load = self.body.checked("held_by", self.held_by)
            if not load.any():
                raise InputError("held_by is zero everywhere; give the forces (n, 3) that held it")
            object.__setattr__(self, "held_by", load / np.abs(load).max())

    def stiffened(self, factor: float) -> Experiment:
        """The experiment on a body with ``factor`` times the Young's modulus."""
        number("factor", factor, above=0)
        given = self.body.material
        by_region = given if isinstance(given, Mapping) else {"": given}
        stiff = {
            region: material.stiffened(factor)
            for region, material in by_region.items()
        }
        material = stiff if isinstance(given, Mapping) else stiff[""]
        return replace(self, body=replace(self.body, material=material))

    @property
    def push(self) -> Floats:
        """1 N on the place that was followed, along the direction, (n, 3)."""
        share = self.direction / np.size(self.vertices)  # type: ignore[operator]
        return self.body.point_force(self.vertices, share)


class Release:
    """A body in reduced space that is held off its rest and let go.

    ``rest`` are the displacements (n, 3) of the body at rest in gravity, ``frequency`` [Hz] that of
    its slowest vibration there.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        body, gravity = experiment.body, experiment.gravity
        self.rest: Floats = static_shape(body, gravity=gravity)
        swings = vibration_modes(body, 2, at=self.rest)
        self.frequency = float(swings.frequencies[0])
        # what modal derivatives of the rest shape do not tell well: the body as it hangs
        near = [self.rest, *swings.shapes] if self.rest.any() else [*swings.shapes]
        if experiment.held_by is not None:
            near.append(_yielded(body, np.asarray(experiment.held_by), self.rest))
        basis = modal_derivative_basis(body, modes=_MODES, size=_SIZE)
        self.model = reduce(body, joined_basis(body, picked_basis(body, near), basis))
        self._along: Floats = self.model.project(experiment.push)
        self._weight = self.model.weight(gravity)
        self._load: Floats = self._along
        if experiment.held_by is not None:
            self._load = self.model.project(np.asarray(experiment.held_by))
        self._middle = self._held(self.model.coordinates(self.rest), None)
        self._start = self._middle
        self._off = 0.0

    def place(self, off: float) -> None:
        """Hold the place that was followed ``off`` its rest [m]."""
        self._off, self._start = off, self._middle
        middle = float(self._along @ self._middle)
        for part in (0.25, 0.5, 0.75, 1.0):
            self._start = self._held(self._start, middle + part * off)

    def _held(self, q: Floats, place: float | None) -> Floats:
        """Coordinates at rest in gravity, with the place that was followed held at ``place``."""
        force = 0.0
        for _ in range(50):  # Newton's method on the balance and on the place together
            _, R, K = self.model.evaluate(q)
            step = np.linalg.solve(K, self._weight + force * self._load - R)
            if place is not None:
                yielding = np.linalg.solve(K, self._load)
                more = float((place - self._along @ (q + step)) / (self._along @ yielding))
                step, force = step + more * yielding, force + more
            q = q + step
            if np.linalg.norm(step) <= 1e-9 * np.linalg.norm(q):
                return q
        raise InputError(
            "no shape was found in which the body could be held off its rest by the measured "
            f"amplitude of {abs(self._off):.3g} m; check the recording, and the body's stiffness"
        )

    def reach(self, example: Floats | None) -> float:
        """How far off its rest the body starts, as a curve counts it.

        The excitation of an example (n, 3), or without one the root of the mean square over the
        body's mass [m].
        """
        x, M = self._start - self._middle, self.model.mass
        if example is None:
            return float(np.sqrt(x @ M @ x / self.experiment.body.total_mass))
        along = self.model.coordinates(example)
        return float(abs(along @ M @ x) / (along @ M @ along))

    def follow(self, damping: Damping | None, dt: float, steps: int) -> Floats:
        """Where the place that was followed is, now and after every step of dt, (steps + 1,) [m].

        Measured from the rest shape of the body without gravity.
        """
        live = self.model.simulation(
            damping=damping, integrator=Bathe(), dt=dt, gravity=self.experiment.gravity
        )
        live.q = self._start
        places: Floats = live.trace(steps)[0] @ self._along
        return places


class Trial(Release):
    """An experiment that swings, ready to be simulated with one damping after another.

    The body starts without velocity, with the place that was followed off its rest by the measured
    amplitude, to the side of the first turning point. Unless it is told what held it, forces in
    proportion to the inertia of its slowest swing would hold it there, so that it swings in that
    vibration.
    """

    def __init__(self, experiment: Experiment, *, seconds: float) -> None:
        super().__init__(experiment)
        self.seconds = seconds
        measured = experiment.measured
        first, second = measured.turns[1][:2]
        if experiment.held_by is None:
            yielding = np.linalg.solve(self.model.stiffness(self._middle), self._along)
            self._load = self.model.mass @ yielding / (yielding @ self._along)
        self._dt = 1 / (_STEPS_A_CYCLE * measured.frequency)
        self.place(float(np.sign(first - second)) * measured.amplitude)

    def calibrate(self, simulated: RingDown) -> None:
        """Start nearer or farther, so that what was simulated begins with the right amplitude."""
        self.place(self._off * self.experiment.measured.amplitude / simulated.amplitude)

    def run(self, damping: Damping | None) -> RingDown:
        """The simulated ring-down, long enough to be compared over the trial's seconds."""
        steps = round(self.seconds / self._dt) + int(1.5 * _STEPS_A_CYCLE)
        times = self._dt * np.arange(steps + 1, dtype=np.float64)
        return RingDown(times, self.follow(damping, self._dt, steps), 1e-6)


def _yielded(body: Body, load: Floats, rest: Floats) -> Floats:
    """How the body yields to a small load where it rests, (n, 3)."""
    factors = Factorization(body.pattern, body.free)
    factors.factorize(body.evaluate(rest, order=2, definite=True).stiffness)
    moved: Floats = factors.solve(load)
    moved /= np.abs(moved).max()
    return moved
