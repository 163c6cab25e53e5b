"""``supple design``: the damping with which a scene does what its targets ask."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from supple import Body, ExampleDamping, InputError, ReducedModel, StepFailed, set_thread_count
from supple.cli.designing import (
    TargetReporter,
    body_at_rest,
    check_periods,
    count,
    failing,
    has_motion,
    motions,
    reduced_model,
    table,
    verified,
)
from supple.cli.progress import Reporter, say
from supple.cli.simulate import facts, make_folder
from supple.cli.values import default_folder
from supple.damping import save_damping
from supple.design import DesignReport, Fit, UnloadingTest, design_damping
from supple.design.linear import best_linear_damping
from supple.io.design_report import write_design_report
from supple.io.report import Run, floor_under
from supple.io.scene import Scene, load_scene

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
_OFF = 0.02  # share by which full space may differ from the model before it is worth a word


def command(given: argparse.Namespace) -> int:
    if given.threads is not None:
        set_thread_count(given.threads)
    folder = Path(given.output or default_folder(given))
    target = folder / "damping.toml"
    if target.exists() and not given.overwrite:
        raise InputError(
            f"{target} exists; --overwrite replaces it, and --output chooses another folder"
        )
    with Reporter("examples", quiet=given.quiet) as reporter:
        scene = load_scene(given.scene, progress=reporter)
    damping = _examples(scene)
    made = _Design(scene, damping, body_at_rest(scene), given.quiet)
    fresh, saved = not folder.exists(), False
    make_folder(folder)
    try:
        made.find()
        save_damping(made.fit.damping, target)
        saved = True
        (folder / "report.html").unlink(missing_ok=True)  # that of an earlier design
        made.examine()
        made.write_report(folder / "report.html")
    except KeyboardInterrupt:
        kept = f"The damping is whole, in {target}; there is no report."
        print(f"\nInterrupted. {kept if saved else 'Nothing was written.'}", file=sys.stderr)
        return 130
    finally:
        if fresh and not any(folder.iterdir()):
            folder.rmdir()
    made.tell(target)
    return 0 if made.fit.report.met else _unmet(made.fit.report)


def _examples(scene: Scene) -> ExampleDamping:
    """The damping of a scene that is fit to be designed; stops with what is missing."""
    damping = scene.damping
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


@dataclass
class _Design:
    """A design from the first simulation to the report."""

    scene: Scene
    before: ExampleDamping
    body: Body
    quiet: bool
    linear: Fit | None = None
    checks: list[UnloadingTest | None] = field(default_factory=list)
    timings: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def find(self) -> None:
        """Designs the damping."""
        scene, options = self.scene, self.scene.design
        space = options.space_for(self.body)
        examples, targets = len(self.before.examples), len(scene.targets)
        self._say(f"{scene.title}: {scene.body.mesh!r}")
        self._say(f"{count(targets, 'target')} for {count(examples, 'example')}, {space} space")
        self.subject: Body | ReducedModel = self.body
        began = time.perf_counter()
        if space == "reduced":
            model = reduced_model(self.body, self.before, options, quiet=self.quiet)
            self.subject = model
            self._took(f"Reduced model, {model.size} coordinates", began)
        check_periods(self.subject, self.before, scene.targets, self._stepping())
        with TargetReporter("design", quiet=self.quiet) as reporter:
            try:
                self.fit = design_damping(
                    self.subject, self.before, scene.targets, **self._limits(), progress=reporter
                )
            except StepFailed as failure:
                for name in failing(self.subject, self.before, scene.targets, self._stepping()):
                    failure.add_note(f"That is {name}, with the damping of the scene.")
                failure.add_note("A smaller start, or smaller steps in [time], may do.")
                raise

    def examine(self) -> None:
        """Compares with linear damping, checks in full space, and makes motions to show."""
        options = self.scene.design
        if options.compare_linear:
            began = time.perf_counter()
            with TargetReporter("best linear damping", quiet=self.quiet) as reporter:
                self.linear = best_linear_damping(
                    self.subject,
                    self.before,
                    self.scene.targets,
                    **self._limits(),
                    progress=reporter,
                )
            self._took("Best linear damping", began)
        if options.verify and self.subject is not self.body:
            began = time.perf_counter()
            with TargetReporter("check in full space", quiet=self.quiet) as reporter:
                self.checks = verified(
                    self.body, self.fit.damping, self.fit.report, self._stepping(), reporter
                )
            self._took("Check in full space", began)
            self._note_differences()
        began = time.perf_counter()
        self.runs: list[Run] = []
        try:
            with Reporter("motion to show", quiet=self.quiet) as reporter:
                dampings = [self.before, self.fit.damping]
                made = motions(self.scene, self.subject, dampings, self.fit.report, reporter)
            self.runs = [Run("Before", made[0]), Run("Designed", made[1])]
            self._took("Motions to show", began)
        except StepFailed as failure:
            self.notes.append(f"the report has no motion: {failure}")

    def write_report(self, path: Path) -> None:
        scene = self.scene
        summary = f"Designed in {scene.design.space_for(self.body)} space."
        if self.runs:
            own = "that of the scene" if has_motion(scene) else "the release from the largest start"
            summary += f" The motion is {own}, before and after."
        listed = facts(scene)
        if self.checks:
            listed.append(("In full space", "; ".join(self._checked())))
        write_design_report(
            path,
            title=scene.title,
            summary=summary,
            mesh=scene.body.mesh,
            before=self.before,
            fit=self.fit,
            linear=self.linear,
            skin=scene.skin,
            colors=scene.colors,
            floor=floor_under(scene.body, up=scene.up),
            up=scene.up,
            facts=listed,
            timings=self.timings,
            runs=self.runs,
            source=scene.text,
        )

    def tell(self, target: Path) -> None:
        """Says what came of it, and what to do next."""
        for line in table(self.fit.report, self.checks):
            self._say(line)
        for note in self.notes:
            print(f"note: {note}", file=sys.stderr)
        for file in (target, target.with_name("report.html")):
            self._say(f"  {file}")
        scene = self.scene.path
        named = Path(os.path.relpath(target, scene.parent)).as_posix()
        self._say(f"Look: open {target.with_name('report.html')} in a browser.")
        self._say(f"Then: put this in place of [damping] and its examples in {scene}, and run it:")
        self._say(f'\n  [damping]\n  file = "{named}"\n')
        self._say(f"  {shlex.join(['supple', 'run', str(scene)])}")

    def _checked(self) -> list[str]:
        """What each target comes to in full space."""
        pairs = zip(self.fit.report.results, self.checks, strict=True)
        return [
            f"{result.target}, {'a step fails' if test is None else f'{test.residual:.4g} is left'}"
            for result, test in pairs
        ]

    def _note_differences(self) -> None:
        for result, test in zip(self.fit.report.results, self.checks, strict=True):
            if test is None:
                self.notes.append(
                    f"{result.target}: a step of the check in full space fails; the release is "
                    "too far for it, or give smaller steps"
                )
                continue
            off = test.residual / result.reached - 1
            if abs(off) > _OFF:
                self.notes.append(
                    f"{result.target}: in full space {100 * off:+.1f} % of that is left; a larger "
                    '[design] size brings the model nearer, and space = "full" needs none'
                )

    def _stepping(self) -> dict[str, Any]:
        scene = self.scene
        return {"integrator": scene.integrator, "dt": scene.dt, "gravity": scene.gravity}

    def _limits(self) -> dict[str, Any]:
        options = self.scene.design
        limits = {name: getattr(options, name) for name in ("tolerance", "rounds", "simulations")}
        return self._stepping() | limits

    def _took(self, what: str, began: float) -> None:
        self.timings.append((what, f"{time.perf_counter() - began:.2f} s"))

    def _say(self, text: str) -> None:
        say(text, quiet=self.quiet)


def _unmet(report: DesignReport) -> int:
    """Says which targets were not met and why; the exit code."""
    missed = [result for result in report.results if not result.met]
    text = f"supple: {len(missed)} of {count(len(report.results), 'target')} not met:"
    for result in missed:
        text += f"\n  {result.target}: {result.reached:.4g} instead of {result.wanted:.4g}"
        text += f"; {result.reason}"
    print(text, file=sys.stderr)
    return 1
