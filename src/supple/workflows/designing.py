"""``supple design`` from Python: the damping with which a scene does what its targets ask."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from supple.bodies.solid import Body
from supple.core.errors import InputError, Parameter, StepFailed
from supple.core.types import Floats, Progress
from supple.damping import ExampleDamping, save_damping
from supple.design import (
    DesignInterrupted,
    Fit,
    UnloadingTest,
    best_linear_damping,
    design_damping,
)
from supple.design.testbeds import make_testbed
from supple.io.report.design_report import write_design_report
from supple.io.report.run_report import Run, floor_under
from supple.io.scene.scene import Scene, WorldScene, load_scene
from supple.reduction import MotionError, ReducedModel
from supple.reduction.errors.told import error_text, known_of
from supple.workflows.design_parts import (
    body_at_rest,
    check_periods,
    damping_to_design,
    has_motion,
    motions,
    reduced_model,
    shown_error,
    verified,
)
from supple.workflows.outputs import folder_of, make_folder
from supple.workflows.words import facts

_JOURNAL = "design.journal"
_OFF = 0.02  # share by which full space may differ from the model before it is worth a word


@dataclass(frozen=True, eq=False)
class Shown:
    """What the report of a design shows besides, and in which words."""

    also: tuple[tuple[str, ExampleDamping], ...] = ()
    """Dampings whose motions are shown between the one before and the one designed, by name."""
    start: Floats | None = None
    """Displacements (n, 3) [m] that the motions are let go from, if not the scene's."""
    summary: str = ""
    """Sentences for the top, if not the usual ones."""


@dataclass(frozen=True, eq=False)
class DesignResult:
    """A designed damping, how well it does what was asked, and the files it is in.

    What comes after the damping is empty until it is known, or where it was not wanted.
    """

    scene: Scene
    before: ExampleDamping
    fit: Fit
    """``fit.damping`` and ``fit.report``."""
    subject: Body | ReducedModel
    """What the damping was designed with."""
    damping_file: Path
    checks: tuple[UnloadingTest | None, ...] = ()
    """The targets' tests in full space, after a reduced design; None where a step fails."""
    linear: Fit | None = None
    """The best that one number an example can do; only for a report."""
    runs: tuple[Run, ...] = ()
    """Motions before and after; only for a report."""
    motion_error: MotionError | None = None
    """How far the last of these is from that of the body, where it is reduced and was asked for."""
    report: Path | None = None
    notes: tuple[str, ...] = ()
    timings: tuple[tuple[str, float], ...] = ()
    """What took how long [s]."""

    @property
    def met(self) -> bool:
        """Whether all targets were."""
        return self.fit.report.met


def design(
    scene: str | os.PathLike[str] | Scene,
    output: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    resume: bool = False,
    file: str = "damping.toml",
    report: bool | None = None,
    shown: Shown | None = None,
    body: str | None = None,
    progress: Progress | None = None,
    found: Callable[[DesignResult], None] | None = None,
) -> DesignResult:
    """Designs the damping of a scene for its [[targets]], into a folder.

    The damping is written as soon as it is found; the check in full space, the comparison with
    linear damping, motions and ``report.html`` come after, the latter three only for a report.
    Until all of this is there, releases are kept beside it in ``design.journal``; where the search
    is interrupted, the damping is the best that was found until then.

    Args:
        scene: The scene file, or a scene that was read.
        output: The folder; by default the scene's name and _design, in the current folder.
        overwrite: Replace an earlier design.
        resume: Go on with a design that was interrupted, to the same bytes.
        file: The name of the damping file.
        report: Whether to write the report, instead of what [output] report says.
        shown: What the report shows besides.
        body: Of several bodies the one to design for, by its name; it is let go alone.
        progress: Called as ``progress(done, total, what)``; details of ``what`` follow a semicolon.
        found: Hears of the result each time that there is more: once the damping is written, and
            after the check in full space.
    """
    folder = folder_of(scene, output, "_design")
    target, journal = folder / file, folder / _JOURNAL
    _check_earlier(target, journal, overwrite=overwrite, resume=resume)
    scene = open_design(scene, body=body, progress=progress)
    before, solid = damping_to_design(scene), body_at_rest(scene)
    fresh = not folder.exists()
    make_folder(folder)
    try:
        if not resume:
            journal.unlink(missing_ok=True)
        try:
            result = _find(scene, before, solid, target, journal, progress)
        except DesignInterrupted as interrupt:
            if interrupt.fit is not None:
                save_damping(interrupt.fit.damping, target)
            raise
        save_damping(result.fit.damping, target)
        (folder / "report.html").unlink(missing_ok=True)  # that of an earlier design
        if found is not None:
            found(result)
        if scene.design.verify and result.subject is not solid:
            result = _verify(result, solid, progress)
            if found is not None:
                found(result)
        if scene.report if report is None else report:
            result = _report(result, shown or Shown(), folder / "report.html", progress)
        journal.unlink(missing_ok=True)
    finally:
        if fresh and not any(folder.iterdir()):
            folder.rmdir()
    return result


def open_design(
    scene: str | os.PathLike[str] | Scene,
    *,
    body: str | None = None,
    progress: Progress | None = None,
) -> Scene:
    """Reads a scene to design for it; stops where it is not of a solid.

    Of several bodies it is that of ``body``, or of the only one that has targets, alone.
    """
    read = scene if isinstance(scene, Scene) else load_scene(scene, body=body, progress=progress)
    if isinstance(read, WorldScene):
        if len(read.with_targets) != 1:
            found = ", ".join(read.with_targets) or "none"
            raise InputError(
                f"{read.path} has {len(read.bodies)} bodies, and a damping is designed for one, "
                "let go alone; name it by ", Parameter("body"),
                f". With targets, [[bodies.….targets]]: {found}",
            )  # fmt: skip
        read = load_scene(read.path, body=read.with_targets[0], progress=progress)
    if not (isinstance(read, Scene) and isinstance(read.body, Body)):
        raise InputError(f"{read.path} is a scene of cloth; dampings are designed for solids")
    return read


def _check_earlier(target: Path, journal: Path, *, overwrite: bool, resume: bool) -> None:
    """Stops where an earlier design would be lost that was not said to be."""
    go_on, anew = Parameter("resume", "True"), Parameter("overwrite", "True")
    if overwrite and resume:
        raise InputError(go_on, " keeps the earlier design and ", anew, " drops it; give one")
    if overwrite or (resume and journal.exists()):
        return
    if journal.exists():
        raise InputError(
            f"{journal} is of a design that was interrupted; ", go_on, " goes on with it, and ",
            anew, " starts anew",
        )  # fmt: skip
    if target.exists():
        raise InputError(
            f"{target} exists; ", anew, " replaces it, and ", Parameter("output"),
            " chooses another folder",
        )  # fmt: skip


def _find(
    scene: Scene,
    before: ExampleDamping,
    body: Body,
    target: Path,
    journal: Path,
    progress: Progress | None,
) -> DesignResult:
    subject: Body | ReducedModel = body
    timings: tuple[tuple[str, float], ...] = ()
    if scene.design.space_for(body) == "reduced":
        began = time.perf_counter()
        subject = reduced_model(body, before, scene.design, progress)
        name = f"Reduced model, {subject.size} coordinates"
        timings = ((name, time.perf_counter() - began),)
    check_periods(make_testbed(subject, before, **_stepping(scene)), scene.targets)
    limits = _limits(scene) | {"checkpoint": journal, "progress": progress}
    fit = design_damping(subject, before, scene.targets, keep_checkpoint=True, **limits)
    return DesignResult(scene, before, fit, subject, target, timings=timings)


def _verify(result: DesignResult, body: Body, progress: Progress | None) -> DesignResult:
    fit = result.fit
    began = time.perf_counter()
    bed = make_testbed(body, fit.damping, **_stepping(result.scene))
    tests = verified(bed, fit.report, progress)
    timings = (*result.timings, ("Check in full space", time.perf_counter() - began))
    notes = list(result.notes)
    for each, test in zip(fit.report.results, tests, strict=True):
        if test is None:
            notes.append(
                f"{each.target}: a step of the check in full space fails; the release is too far "
                "for it, or give smaller steps"
            )
        elif abs(each.left_by(test) - each.reached) > _OFF * max(each.reached, each.wanted):
            notes.append(
                f"{each.target}: in full space {each.left_by(test):.4g} is left, not "
                f"{each.reached:.4g}; a larger [design] size brings the model nearer, and "
                'space = "full" needs none'
            )
    return replace(result, checks=tuple(tests), notes=tuple(notes), timings=timings)


def _report(
    result: DesignResult, shown: Shown, path: Path, progress: Progress | None
) -> DesignResult:
    scene, before, subject = result.scene, result.before, result.subject
    dampings = [("Before", before), *shown.also, ("Designed", result.fit.damping)]
    shapes, report = [damping for _, damping in dampings], result.fit.report
    compared: list[Fit] = []

    def compare(told: Progress | None) -> None:
        limits = _limits(scene) | {"progress": told}
        compared.append(best_linear_damping(subject, before, scene.targets, **limits))

    beside = [compare] if scene.design.compare_linear else []
    names = ("Best linear damping and motions to show", "Motions to show")
    began, moved = time.perf_counter(), None
    try:
        moved = motions(scene, subject, shapes, report, progress, start=shown.start, beside=beside)
    except StepFailed as failure:
        notes = (*result.notes, f"the report has no motion: {failure}")
        result = replace(result, notes=notes)
    timings = (*result.timings, (names[not beside], time.perf_counter() - began))
    result = replace(result, linear=compared[0] if compared else None, timings=timings)
    if moved is not None:
        runs = tuple(Run(name, motion) for (name, _), motion in zip(dampings, moved, strict=True))
        result = replace(result, runs=runs)
        if scene.design.motion_error:
            began = time.perf_counter()
            error = shown_error(scene, subject, shapes[-1], report, progress, start=shown.start)
            timings = (*result.timings, ("Error of the motion", time.perf_counter() - began))
            result = replace(result, motion_error=error, timings=timings)
    result = replace(result, report=path)
    _write_report(result, shown.summary)
    return result


def _write_report(result: DesignResult, summary: str) -> None:
    assert result.report is not None
    scene = result.scene
    if not summary:
        space = "reduced" if isinstance(result.subject, ReducedModel) else "full"
        summary = f"Designed in {space} space."
        if result.runs:
            own = "that of the scene" if has_motion(scene) else "the release from the largest start"
            summary += f" The motion is {own}, before and after."
    listed = facts(scene)
    if isinstance(result.subject, ReducedModel):
        known = known_of(result.subject)
        listed += [(f"{name}, reduced", text) for name, text in known]
    if result.motion_error is not None:
        listed.append(("Motion, reduced", error_text(result.motion_error)))
    if result.checks:
        both = zip(result.fit.report.results, result.checks, strict=True)
        left = [
            f"{each.target}, "
            + ("a step fails" if test is None else f"{each.left_by(test):.4g} is left")
            for each, test in both
        ]
        listed.append(("In full space", "; ".join(left)))
    write_design_report(
        result.report,
        title=scene.title,
        summary=summary,
        mesh=scene.solid.mesh,
        before=result.before,
        fit=result.fit,
        linear=result.linear,
        skin=scene.skin,
        colors=scene.colors,
        floor=floor_under(scene.body, up=scene.up),
        up=scene.up,
        facts=listed,
        timings=[(name, f"{seconds:.2f} s") for name, seconds in result.timings],
        runs=list(result.runs),
        source=scene.text,
    )


def _stepping(scene: Scene) -> dict[str, Any]:
    return {
        "integrator": scene.integrator,
        "dt": scene.dt,
        "gravity": scene.gravity,
        "relaxed": scene.design.relaxed,
    }


def _limits(scene: Scene) -> dict[str, Any]:
    names = ("tolerance", "rounds", "simulations")
    return _stepping(scene) | {name: getattr(scene.design, name) for name in names}
