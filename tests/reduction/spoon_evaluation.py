"""The evaluation of the subspace StVK paper (§7, Fig. 12): a spoon is struck, with which basis
does its reduced model move like the spoon itself? The tests run it small, the figure in full."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.signal import lsim

import supple as sp
from supple.builtin import Solid, spoon
from supple.core.types import Floats, Progress

LENGTH = 0.25  # [m] of the spoon
PUSHED = 0.1  # [s] how long the tip is pushed
UP, ASIDE = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class Struck:
    """A spoon held at the far end, whose bowl tip is pushed up for a moment.

    ``load`` (n, 3) sums up to 1 N upwards, ``peak`` [N] is the largest force; ``tip`` is the vertex
    in the middle of the end; ``dt`` [s] and ``steps`` are those of every simulation.
    """

    made: Solid
    body: sp.Body
    modes: sp.Modes
    damping: sp.Rayleigh
    load: Floats
    tip: int
    peak: float
    dt: float
    steps: int

    @property
    def times(self) -> Floats:
        return self.dt * np.arange(self.steps + 1)

    def push(self, t: float) -> float:
        """The force on the tip [N]: half a sine."""
        return self.peak * np.sin(np.pi * t / PUSHED) if 0.0 < t < PUSHED else 0.0

    def pushes(self) -> Floats:
        """The force in each step [N], that of its middle, (steps,)."""
        return np.array([self.push(t + 0.5 * self.dt) for t in self.times[:-1]])


def struck_spoon(*, resolution: int, peak: float, dt: float, duration: float) -> Struck:
    made = spoon(resolution=resolution)
    body = sp.Body(made.mesh, made.material, fixed=made.places["far end"])
    modes = sp.vibration_modes(body, 12)
    damping = sp.Rayleigh.from_ratios(modes.frequencies[[0, 2]], (0.005, 0.01))
    end, X = made.places["bowl tip"], made.mesh.vertices
    middle = end[np.lexsort((np.abs(X[end, 1]), -X[end, 0].round(6)))[0]]
    load = body.point_force(end, UP / len(end))
    return Struck(made, body, modes, damping, load, int(middle), peak, dt, round(duration / dt))


# -- the motions -----------------------------------------------------------------------------


def full_motion(case: Struck, progress: Progress | None = None) -> Floats:
    """Displacements of the unreduced spoon, (T, n, 3)."""
    sim = sp.Simulation(case.body, damping=case.damping, integrator=sp.Newmark(), dt=case.dt)
    u = np.zeros((case.steps + 1, *case.load.shape))
    for k, push in enumerate(case.pushes()):
        sim.step(force=push * case.load)
        u[k + 1] = sim.state.u
        if progress is not None:
            progress(k + 1, case.steps, "unreduced simulation")
    return u


def reduced_motion(case: Struck, basis: sp.Basis) -> Floats:
    """Coordinates of the spoon in a basis, (T, r), with the same damping, steps and force."""
    model = sp.reduce(case.body, basis)
    live = model.simulation(damping=case.damping, integrator=sp.Newmark(), dt=case.dt)
    f = model.project(case.load)
    q = np.zeros((case.steps + 1, model.size))
    for k, push in enumerate(case.pushes()):
        live.step(force=push * f)
        q[k + 1] = live.q
    return q


def linear_tip(case: Struck) -> Floats:
    """Height of the tip of the linear model [m], (T,): each mode by itself."""
    t, height = case.times, np.zeros(case.steps + 1)
    push = np.array([case.push(time) for time in t])
    for square, shape in zip(case.modes.squares, case.modes.shapes, strict=True):
        damping = case.damping.mass + case.damping.stiffness * square
        system = ([float(np.vdot(shape, case.load))], [1.0, damping, square])
        height += shape[case.tip, 2] * lsim(system, push, t)[1]
    return height


# -- the bases -------------------------------------------------------------------------------


def strokes_up_and_down(case: Struck, *, reach: float, points: int) -> sp.Sketch:
    """A sketch of the very motion: the tip is dragged up and down, ``points`` a stroke."""
    sketch = sp.Sketch(case.body, modes=case.modes)
    _drag(sketch, case.tip, _to_and_fro(reach * UP, points))
    return sketch


def strokes_all_round(case: Struck, *, reach: float, points: int) -> sp.Sketch:
    """A sketch without a motion in mind: tip and both sides of the bowl are dragged about."""
    sketch = strokes_up_and_down(case, reach=reach, points=points)
    _drag(sketch, case.tip, _to_and_fro(reach * ASIDE, points))
    _drag(sketch, case.tip, _circle(reach, points))
    X = case.made.mesh.vertices
    for y in (0.024, -0.024):
        side = int(np.linalg.norm(X - (0.205, y, 0.0), axis=1).argmin())
        _drag(sketch, side, _to_and_fro(reach * UP, points))
        _drag(sketch, side, _circle(0.7 * reach, points))
    return sketch


def _drag(sketch: sp.Sketch, vertex: int, path: Floats) -> None:
    sketch.drag(vertex, sketch.body.mesh.vertices[vertex] + path)


def _to_and_fro(way: Floats, points: int) -> Floats:
    """From rest one way, through rest the other way, and back."""
    return np.outer(np.interp(np.linspace(0, 4, points), [0, 1, 3, 4], [0, 1, -1, 0]), way)


def _circle(radius: float, points: int) -> Floats:
    angle = np.linspace(0, 2 * np.pi, points)[:, None]
    return radius * (np.cos(angle) * ASIDE + np.sin(angle) * UP)


# -- what is measured ------------------------------------------------------------------------


@dataclass(frozen=True)
class Swing:
    """``crossings`` [s] of the rest height, (c,), and how far it swings up to each [m], (c,)."""

    crossings: Floats
    extremes: Floats

    def frequency(self, crossings: int) -> float:
        """Of the swings up to a crossing [Hz]; two crossings are a cycle."""
        return (crossings - 1) / 2 / float(self.crossings[crossings - 1] - self.crossings[0])


def swing(times: Floats, height: Floats) -> Swing:
    """Measures height (T,) over times (T,), from the end of the push on."""
    k = np.flatnonzero((height[:-1] * height[1:] < 0) & (times[:-1] > PUSHED))
    share = height[k] / (height[k] - height[k + 1])
    extremes = [np.abs(height[a:b]).max() for a, b in pairwise(np.array([0, *(k + 1)]))]
    return Swing(times[k] + share * (times[k + 1] - times[k]), np.array(extremes))


@dataclass(frozen=True)
class Errors:
    """Of a reduced motion against the full one, as shares: frequency, first two extremes, and the
    root mean square of the height relative to that of the full motion."""

    frequency: float
    first: float
    second: float
    height: float


def errors(times: Floats, full: Floats, height: Floats) -> Errors:
    exact, found = swing(times, full), swing(times, height)
    count = min(len(exact.crossings), len(found.crossings))
    up, down = (found.extremes[:2] / exact.extremes[:2] - 1).tolist()
    return Errors(
        frequency=found.frequency(count) / exact.frequency(count) - 1,
        first=up,
        second=down,
        height=float(np.linalg.norm(height - full) / np.linalg.norm(full)),
    )
