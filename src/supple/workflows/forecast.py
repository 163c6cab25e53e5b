"""What can be told of a scene before it runs: how fast it swings, and what damping can reach.

Swings are those of the body at rest, or about its equilibrium, and small; what a design can reach
is that of one oscillator with the frequency and damping of an example, stepped as the scene is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, inf

import numpy as np

from supple.bodies.shape import Shape
from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.damping import ExampleDamping
from supple.damping.example import examples_on
from supple.design.search.root import HIGHEST, LOWEST
from supple.design.testbeds import FullTestbed
from supple.design.unloading import cycle_end
from supple.integrators import ExplicitIntegrator, ImplicitIntegrator, Integrator, State
from supple.io.scene.base import AnyScene
from supple.io.scene.scene import Scene
from supple.reduction import vibration_modes
from supple.workflows.design_parts import LEAST_STEPS, body_at_rest

_MODES = 4
_FEW = 12.0  # steps a period: below, the integrator changes the swing visibly
_GOOD = 24
_LONGEST = 12  # periods in which an oscillator may come back
_RELEASES = 6  # that a target takes, as a rule
_LINEAR_RELEASES = 16  # that the best linear damping takes for each


@dataclass(frozen=True)
class Swing:
    """A small vibration: its period [s], and how many steps that is."""

    name: str
    period: float
    steps: float


@dataclass(frozen=True)
class Reach:
    """A target, and what about can be left after a cycle, at most and at least, as excitations."""

    target: str
    wanted: float
    least: float
    most: float


@dataclass(frozen=True)
class DesignSteps:
    """Roughly how many steps a design takes: to find it, to check it, and for its report."""

    space: str
    releases: int
    find: int
    check: int
    report: int


@dataclass(frozen=True)
class Forecast:
    """What can be told of a scene before it runs."""

    steps: int
    frames: int
    modes: tuple[Swing, ...] = ()
    examples: tuple[Swing, ...] = ()
    reach: tuple[Reach, ...] = ()
    design: DesignSteps | None = None
    warnings: tuple[str, ...] = ()


def forecast(scene: AnyScene) -> Forecast:
    """How fast the body of a scene swings, in how many steps, and what a design can reach."""
    steps = max(1, round(scene.duration / scene.dt))
    frames = 1 + ceil(steps / scene.every)
    if not (isinstance(scene, Scene) and isinstance(scene.body, Body)):
        return Forecast(steps, frames)
    modes = _modes(scene, scene.body)
    damping = scene.by_example
    bed = None if damping is None else _bed(scene, damping)
    if damping is None or bed is None:
        return Forecast(steps, frames, modes, warnings=tuple(_slow(scene, modes[:1])))
    names = [each.name or f"example {i + 1}" for i, each in enumerate(damping.examples)]
    examples = tuple(
        Swing(name, bed.linear_period(i), bed.linear_period(i) / scene.dt)
        for i, name in enumerate(names)
    )
    reach, slow = _reach(scene, damping, examples), tuple(_slow(scene, examples))
    told = (*(slow or _slow(scene, modes[:1])), *_out_of_reach(reach))
    design = _design_steps(scene, damping, examples)
    return Forecast(steps, frames, modes, examples, reach, design, told)


def _modes(scene: Scene, body: Body) -> tuple[Swing, ...]:
    rigid = body.free_rigid_motions
    count = min(rigid + _MODES, int(body.free.sum()) - 1)
    if count <= rigid:
        return ()
    try:
        frequencies = vibration_modes(body, count).frequencies[rigid:]
    except InputError:  # the rest shape is no stable one
        return ()
    return tuple(
        Swing(f"mode {rigid + i + 1}", 1 / f, 1 / (f * scene.dt)) for i, f in enumerate(frequencies)
    )


def _bed(scene: Scene, damping: ExampleDamping) -> FullTestbed | None:
    """Releases of the body from its examples; None where it cannot be released."""
    try:
        rule = {"integrator": scene.integrator, "dt": scene.dt, "gravity": scene.gravity}
        return FullTestbed(body_at_rest(scene), damping, **rule)
    except InputError:
        return None


def _slow(scene: Scene, swings: tuple[Swing, ...]) -> Iterator[str]:
    """Words for swings of few steps."""
    for swing in swings:
        if swing.steps < _FEW:
            better = ceil(max(1, scene.every) * _GOOD / swing.steps)
            design = f"; a design needs {LEAST_STEPS}" if swing.steps < LEAST_STEPS else ""
            yield (
                f"{swing.name} swings in {swing.steps:.2g} steps{design}: the steps shape its "
                f"motion more than the damping does; [time] substeps = {better} with fps, or dt = "
                f"{swing.period / _GOOD:.2g}, gives it {_GOOD}"
            )


def _reach(scene: Scene, damping: ExampleDamping, examples: tuple[Swing, ...]) -> tuple[Reach, ...]:
    ratios = _damping_ratios(scene, damping, examples)
    found = []
    for target in scene.targets:
        i = damping.index(target.example)
        w = 2 * np.pi / examples[i].period
        most, least = (
            target.start * share_left(scene.integrator, w, gamma * ratios[i], scene.dt)
            for gamma in (LOWEST, HIGHEST)
        )
        found.append(Reach(str(target), target.wanted(examples[i].period), least, most))
    return tuple(found)


def _out_of_reach(reach: tuple[Reach, ...]) -> Iterator[str]:
    for each in reach:
        if not each.least <= each.wanted <= each.most:
            cure = "shorter steps, or an integrator that damps less, leave more"
            if each.wanted < each.least:
                cure = "a stronger base damping reaches farther"
            yield (
                f"{each.target}: {each.wanted:.3g} should be left, and about {each.least:.3g} to "
                f"{each.most:.3g} can be; {cure}"
            )


def _damping_ratios(
    scene: Scene, damping: ExampleDamping, examples: tuple[Swing, ...]
) -> list[float]:
    """ζ of the base damping along each example: xᵀCx / (2 ω xᵀMx)."""
    body = body_at_rest(scene)
    shapes, _ = examples_on(body, damping)
    about = np.zeros_like(body.mesh.vertices) if damping.about is None else damping.about
    at, bases = Shape(body, about, order=2), [base.bind(body) for base in damping.bases]
    ratios = []
    for x, swing in zip(shapes, examples, strict=True):
        resisted = sum(float(np.vdot(x, base.evaluate(at, x)[1])) for base in bases)
        ratios.append(resisted * swing.period / (4 * np.pi * float(np.vdot(x, body.mass_times(x)))))
    return ratios


def _design_steps(
    scene: Scene, damping: ExampleDamping, examples: tuple[Swing, ...]
) -> DesignSteps | None:
    if not scene.targets:
        return None
    cycles = [examples[damping.index(target.example)].steps for target in scene.targets]
    once, options = 1.15 * sum(cycles), scene.design
    space = options.space_for(body_at_rest(scene))
    report = 2.0 * scene.duration / scene.dt
    report += _LINEAR_RELEASES * once if options.compare_linear else 0.0
    return DesignSteps(
        space=space,
        releases=_RELEASES * len(cycles),
        find=round(_RELEASES * once),
        check=round(once) if options.verify and space == "reduced" else 0,
        report=round(report) if scene.report else 0,
    )


def share_left(integrator: Integrator, w: float, zeta: float, dt: float) -> float:
    """What an oscillator of angular frequency w [1/s] and ratio ζ has left after one cycle.

    Stepped by ``integrator`` with steps of ``dt`` [s]; 0 where it does not come back.
    """
    c = 2 * zeta * w

    def acceleration(_: float, u: Floats, v: Floats) -> Floats:
        return -w * w * u - c * v

    now, before = State(0.0, np.ones(1), np.zeros(1), np.full(1, -w * w)), None
    x, v = [1.0], [0.0]
    longest = ceil(_LONGEST * 2 * np.pi / (w * dt))
    while len(x) <= longest:
        if isinstance(integrator, ExplicitIntegrator):
            after = integrator.advance(now, dt, acceleration)
        else:
            assert isinstance(integrator, ImplicitIntegrator)
            after = _stepped(integrator, now, before, dt, w, c)
        now, before = after, now
        x.append(float(now.u[0]))
        v.append(float(now.v[0]))
        if abs(x[-1]) == inf:
            return 0.0
        if len(x) > 4 and (end := cycle_end(np.array(x), np.array(v), dt)) is not None:
            return max(0.0, end[1])
    return 0.0


def _stepped(
    integrator: ImplicitIntegrator, now: State, before: State | None, dt: float, w: float, c: float
) -> State:
    """One step of u'' + c u' + w² u = 0."""
    stages = integrator.stages(now, before, dt)
    stage = next(stages)
    while True:
        known = stage.c_a * stage.u_a + c * stage.c_v * stage.u_v
        state = stage.state(known / (stage.c_a + c * stage.c_v + w * w))
        try:
            stage = stages.send(state)
        except StopIteration:
            return state
