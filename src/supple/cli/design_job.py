"""A design from the scene to the report: what ``supple design`` and ``supple demo`` do."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from supple import Body, ExampleDamping, ReducedModel, StepFailed
from supple.cli.designing import (
    TargetReporter,
    check_periods,
    count,
    failing,
    has_motion,
    motions,
    reduced_model,
    table,
    verified,
)
from supple.cli.facts import facts
from supple.cli.progress import Reporter, say
from supple.core.types import Floats
from supple.design import Fit, UnloadingTest, best_linear_damping, design_damping
from supple.io.report.design_report import write_design_report
from supple.io.report.run_report import Run, floor_under
from supple.io.scene.scene import Scene

_OFF = 0.02  # share by which full space may differ from the model before it is worth a word


@dataclass
class Design:
    """A design from the first simulation to the report."""

    scene: Scene
    before: ExampleDamping
    body: Body
    quiet: bool
    linear: Fit | None = None
    also_shown: Sequence[tuple[str, ExampleDamping]] = ()
    """Dampings whose motions are shown too, between the one before and the one designed."""
    start: Floats | None = None
    """Displacements (n, 3) [m] that the motions to show are let go from, if not the scene's."""
    summary: str = ""
    """Sentences for the top of the report, if not the usual ones."""
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
                shown = [("Before", self.before), *self.also_shown, ("Designed", self.fit.damping)]
                made = motions(
                    self.scene,
                    self.subject,
                    [damping for _, damping in shown],
                    self.fit.report,
                    reporter,
                    start=self.start,
                )
            pairs = zip(shown, made, strict=True)
            self.runs = [Run(name, motion) for (name, _), motion in pairs]
            self._took("Motions to show", began)
        except StepFailed as failure:
            self.notes.append(f"the report has no motion: {failure}")

    def write_report(self, path: Path) -> None:
        scene = self.scene
        summary = self.summary or f"Designed in {scene.design.space_for(self.body)} space."
        if self.runs and not self.summary:
            own = "that of the scene" if has_motion(scene) else "the release from the largest start"
            summary += f" The motion is {own}, before and after."
        listed = facts(scene)
        if self.checks:
            listed.append(("In full space", "; ".join(self._checked())))
        write_design_report(
            path,
            title=scene.title,
            summary=summary,
            mesh=scene.solid.mesh,
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
            if abs(test.residual - result.reached) > _OFF * max(result.reached, result.wanted):
                self.notes.append(
                    f"{result.target}: in full space {test.residual:.4g} is left, not "
                    f"{result.reached:.4g}; a larger [design] size brings the model nearer, and "
                    'space = "full" needs none'
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
