"""The parts of a design: what it starts from, the model, the check in full space, the motions."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from supple.bodies.solid import Body
from supple.core.errors import InputError, StepFailed
from supple.core.threads import run_all
from supple.core.types import Floats, Progress
from supple.damping import ExampleDamping, Rayleigh
from supple.design import DesignReport, Unloading, UnloadingTest
from supple.design.testbed import Testbed, Watch
from supple.dynamics.motion import Motion
from supple.io.scene.design import DesignOptions
from supple.io.scene.scene import Scene
from supple.reduction import (
    MotionError,
    ReducedModel,
    ReducedSimulation,
    joined_basis,
    modal_derivative_basis,
    motion_error,
    picked_basis,
    reduce,
)

_DAMPING = """\
[damping]
mass = 0.5                  # 1/s, for all other motion
"""
_EXAMPLE = """\
[[damping.examples]]
name = "swing"
mode = 1                    # the slowest vibration
"""
_TARGET = """\
[[targets]]
example = "{name}"
start = 1.0                 # let it go from the example itself
wish = "down to 50 % after one cycle"
"""
_MODES, _SIZE = 20, 30
LEAST_STEPS = 4
"""That a cycle of a design must take."""


def damping_to_design(scene: Scene) -> ExampleDamping:
    """The damping of a scene that is fit to be designed; stops with what is missing."""
    damping = scene.damping
    if isinstance(damping, tuple) and scene.by_example is not None:
        raise InputError(
            f"{scene.path} has {len(damping)} dampings; a design is for one: leave the table with "
            "the examples, and add the others after"
        )
    if not isinstance(damping, ExampleDamping) or not damping.examples:
        base = "" if damping is not None else _DAMPING + "\n"
        lines = f"{base}{_EXAMPLE}\n{_TARGET.format(name='swing')}"
        raise InputError(
            f"{scene.path} has no examples: it does not say which motion should die away how. "
            f"Add, for instance:\n\n{lines}"
        )
    if not scene.targets:
        name = damping.examples[0].name
        raise InputError(
            f"{scene.path} has no targets: it does not say how its examples should die away. Add, "
            f"for instance:\n\n{_TARGET.format(name=name)}"
        )
    if "surface" in tomllib.loads(scene.text)["mesh"]:
        raise InputError(
            f"{scene.path}: mesh.surface: it is filled anew by each run, and a damping designed "
            "for one filling fits no other; fill it once with supple convert, and give [mesh] file"
        )
    if scene.body.free_rigid_motions:
        raise InputError(
            f"{scene.path}: to design a damping the body is let go from its examples again and "
            "again, for which it must be held; add [[supports]]"
        )
    if any(scene.gravity) and damping.about is None:
        raise InputError(
            f"{scene.path}: damping.about: under gravity the body swings about its equilibrium; "
            'give about = "equilibrium", or leave it out'
        )
    return damping


def body_at_rest(scene: Scene) -> Body:
    """The body of a scene with supports that stay where they are at the start."""
    body = scene.solid
    if not body.held.moving:
        return body
    placed = np.zeros_like(body.mesh.vertices)
    body.held.place(placed, 0.0)
    if placed.any():
        raise InputError(
            f"{scene.path}: supports: a damping is designed with supports at rest, but some are "
            "displaced at time 0; let them start where the mesh is"
        )
    return Body(body.mesh, body.material, fixed=~body.free, mass_model=body.mass_model)


def reduced_model(
    body: Body, damping: ExampleDamping, options: DesignOptions, progress: Progress | None = None
) -> ReducedModel:
    """A model that has the examples, and the shape they are counted from, in its basis."""
    free = int(body.free.sum())
    modes = options.modes or min(_MODES, free - 1)
    size = options.size or min(_SIZE, modes + modes * (modes + 1) // 2, max(1, free // 2))
    base = damping.base
    named: list[str] = []
    if isinstance(base, Rayleigh):
        by_region = [given for given in (base.mass, base.stiffness) if isinstance(given, Mapping)]
        named = list(dict.fromkeys(name for given in by_region for name in given))
    shapes = [np.where(body.free, example.shape, 0.0) for example in damping.examples]
    parts = [picked_basis(body, shapes)]
    if damping.about is not None and damping.about.any():
        parts.append(picked_basis(body, [np.where(body.free, damping.about, 0.0)]))
    try:
        parts.append(modal_derivative_basis(body, modes=modes, size=size, progress=progress))
    except InputError as error:
        raise InputError(f"[design]: {error}") from error
    return reduce(body, joined_basis(body, *parts), regions=named, progress=progress)


def check_periods(bed: Testbed, targets: Sequence[Unloading]) -> None:
    """Stop where a target's example vibrates too fast for the steps to see a cycle."""
    for target in targets:
        period = bed.linear_period(bed.damping.index(target.example))
        if period < LEAST_STEPS * bed.dt:
            raise InputError(
                f"{target}: a small vibration along this example takes {1e3 * period:.3g} ms, less "
                f"than {LEAST_STEPS} steps of {1e3 * bed.dt:.3g} ms; give smaller steps in [time] "
                "or, if it should be slower, a smoother shape: one that ends at the border of a "
                "region is stiff there, and blend softens it"
            )


def verified(
    bed: Testbed, report: DesignReport, progress: Progress | None
) -> list[UnloadingTest | None]:
    """The targets' unloading tests in full space; None where a step fails."""
    tests: list[UnloadingTest | None] = []
    for number, result in enumerate(report.results):
        if progress is not None:
            progress(number, len(report.results), f"targets in full space; {result.target}")
        watch = Watch.of(result.target, bed.linear_period(result.example))
        test = bed.try_unloading(bed.damping, result.example, result.target.start, watch)
        tests.append(None if test.is_failed else test)
    return tests


def has_motion(scene: Scene) -> bool:
    """Whether anything happens in a scene by itself."""
    start = scene.initial
    bent = start.mode is not None or start.example is not None
    pushed = scene.loads or scene.body.held.moving
    falls = any(scene.gravity) and not start.equilibrium
    return bool(bent or pushed or falls or any(start.velocity) or any(start.rotation))


def motions(
    scene: Scene,
    subject: Body | ReducedModel,
    dampings: Sequence[ExampleDamping],
    report: DesignReport,
    progress: Progress | None,
    *,
    start: Floats | None = None,
    beside: Sequence[Callable[[Progress | None], None]] = (),
) -> list[Motion]:
    """The scene with each damping or, where nothing happens in it, the release from a target.

    That is the one with the largest start. ``start`` (n, 3) [m] is another shape to let go from.
    Reduced models are used where they can follow. What is ``beside`` is done too, also where a
    motion fails, and meanwhile if it can be; then it is given no one to tell how far it is.
    """
    try:
        simulations = _let_go(scene, subject, dampings, report, progress, start)
    except StepFailed:
        for task in beside:
            task(progress)
        raise
    return _run_together(simulations, scene.duration, scene.every, progress, beside)


def shown_error(
    scene: Scene,
    subject: Body | ReducedModel,
    damping: ExampleDamping,
    report: DesignReport,
    progress: Progress | None,
    *,
    start: Floats | None = None,
) -> MotionError | None:
    """How far the motion with a damping is from that of the body; None where it is the body's."""
    (simulation,) = _let_go(scene, subject, [damping], report, None, start)
    if not isinstance(simulation, ReducedSimulation):
        return None
    return motion_error(simulation, scene.duration, progress=progress)


def _let_go(
    scene: Scene,
    subject: Body | ReducedModel,
    dampings: Sequence[ExampleDamping],
    report: DesignReport,
    progress: Progress | None,
    start: Floats | None,
) -> list[Any]:
    """The simulations of ``motions``, at their start."""
    if start is not None:
        u, v = start, np.zeros_like(start)
    elif has_motion(scene):
        begun = scene.simulation(progress=progress)
        u, v = begun.state.u.copy(), begun.state.v.copy()
    else:
        largest = max(report.results, key=lambda result: result.target.start)
        u = largest.target.start * dampings[0].examples[largest.example].shape
        u = u if dampings[0].about is None else u + dampings[0].about
        v = np.zeros_like(u)
    reducible = not scene.loads and not scene.body.held.moving
    simulations: list[Any] = []
    for damping in dampings:
        simulation: Any
        if isinstance(subject, ReducedModel) and reducible:
            simulation = subject.simulation(
                damping=damping, integrator=scene.integrator, dt=scene.dt, gravity=scene.gravity
            )
            simulation.q, simulation.v = subject.coordinates(u), subject.coordinates(v)
        else:
            simulation = dataclasses.replace(scene, damping=damping).simulation(at_start=False)
            simulation.state.u, simulation.state.v = u.copy(), v.copy()
        simulations.append(simulation)
    return simulations


def _run_together(
    simulations: Sequence[Any],
    duration: float,
    every: int,
    progress: Progress | None,
    beside: Sequence[Callable[[Progress | None], None]],
) -> list[Motion]:
    """The motions of simulations that know nothing of each other, as many at once as threads.

    And whatever else is to be done ``beside`` them.
    """
    moved: list[Motion | None] = [None] * len(simulations)
    done = [0] * len(simulations)
    one_at_a_time = Lock()

    def run(k: int) -> None:
        def count(steps: int, of: int, what: str) -> None:
            if progress is not None:
                with one_at_a_time:
                    done[k] = steps
                    progress(sum(done), of * len(simulations), what)

        moved[k] = simulations[k].run(duration, every=every, progress=count)

    tasks = [partial(run, k) for k in range(len(simulations))]
    if all(isinstance(each, ReducedSimulation) and each.is_compiled for each in simulations):
        run_all([*(partial(task, None) for task in beside), *tasks])
    else:  # these share their own work among threads, or hold the interpreter
        for task in [*(partial(task, progress) for task in beside), *tasks]:
            task()
    return [motion for motion in moved if motion is not None]
