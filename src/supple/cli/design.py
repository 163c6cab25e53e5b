"""``supple design``: the dampings with which scenes do what their targets ask."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from supple.cli.failures import DONE, INTERRUPTED, MISSED
from supple.cli.many import for_each
from supple.cli.progress import TargetReporter, say
from supple.cli.run import own_folder, scenes_of
from supple.design import DesignInterrupted, DesignReport
from supple.workflows.designing import DesignResult, design, open_design
from supple.workflows.outputs import folder_of


def command(given: argparse.Namespace) -> int:
    scenes = scenes_of(given)
    return for_each(scenes, "scene", partial(_one, several=len(scenes) > 1), given)


def _one(given: argparse.Namespace, *, several: bool) -> int:
    given.output = own_folder(given, several, "_design")
    folder = folder_of(given.scene, given.output, "_design")
    known: list[DesignResult] = []

    def found(result: DesignResult) -> None:
        reporter.close()
        known.append(result)
        say(table(result), quiet=given.quiet)
        if not result.checks:
            say(f"  {result.damping_file}", quiet=given.quiet)

    with TargetReporter("design", quiet=given.quiet) as reporter:
        scene = open_design(given.scene, body=given.body, progress=reporter)
        examples = 0 if scene.by_example is None else len(scene.by_example.examples)
        asked = f"{count(len(scene.targets), 'target')} for {count(examples, 'example')}"
        space = scene.design.space_for(scene.solid)
        say(f"{scene.title}: {scene.mesh!r}\n{asked}, {space} space", quiet=given.quiet)
        try:
            result = design(
                scene,
                folder,
                overwrite=given.overwrite,
                resume=given.resume,
                report=False if given.no_report else None,
                progress=reporter,
                found=found,
            )
        except KeyboardInterrupt as interrupt:
            kept = "Nothing was written."
            if (folder / "design.journal").exists():
                kept = _interrupted(given, folder, interrupt)
            if known:
                whole = known[0].damping_file
                kept = f"The damping is whole, in {whole}. For the rest: {_go_on(given, folder)}"
            print(f"\nInterrupted. {kept}", file=sys.stderr)
            return INTERRUPTED
    _advise(result, quiet=given.quiet)
    return DONE if result.met else unmet(result.fit.report)


def _interrupted(given: argparse.Namespace, folder: Path, interrupt: KeyboardInterrupt) -> str:
    """What there is of a design that was interrupted, and how to go on."""
    best = "The releases made so far are kept"
    if isinstance(interrupt, DesignInterrupted) and interrupt.fit is not None:
        report = interrupt.fit.report
        met = sum(result.met for result in report.results)
        best = (
            f"The best so far, {met} of {count(len(report.results), 'target')} met, is in "
            f"{folder / 'damping.toml'}"
        )
    return f"{best}. Go on with: {_go_on(given, folder)}"


def _go_on(given: argparse.Namespace, folder: Path) -> str:
    words = ["supple", "design", given.scene, "--output", str(folder), "--resume"]
    return shlex.join(words + ([] if given.body is None else ["--body", given.body]))


def table(result: DesignResult) -> str:
    """Targets against results, in columns; once that is known, against full space."""
    head = ["target", "wanted", "before", "now", "off by", "γ", "simulations"]
    rows = [
        [
            str(each.target),
            f"{each.wanted:.4g}",
            "fails" if each.before.is_failed else f"{each.left_by(each.before):.4g}",
            "fails" if each.after.is_failed else f"{each.reached:.4g}",
            "" if each.after.is_failed else f"{100 * each.error:+.2f} %",
            f"{each.gamma:.4g}",
            f"{each.simulations}",
        ]
        for each in result.fit.report.results
    ]
    if result.checks:
        head = ["target", "wanted", "now", "full space"]
        rows = [
            [row[0], row[1], row[3], "fails" if test is None else f"{each.left_by(test):.4g}"]
            for row, each, test in zip(rows, result.fit.report.results, result.checks, strict=True)
        ]
    return _columns([head, *rows])


def count(number: int, what: str) -> str:
    """'1 target', '2 targets'."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def unmet(report: DesignReport) -> int:
    """Says which targets were not met and why; the exit code."""
    missed = [result for result in report.results if not result.met]
    text = f"supple: {len(missed)} of {count(len(report.results), 'target')} not met:"
    for result in missed:
        reached = "a step fails" if result.after.is_failed else f"{result.reached:.4g}"
        text += f"\n  {result.target}: {reached} instead of {result.wanted:.4g}"
        text += f"; {result.reason}"
    print(text, file=sys.stderr)
    return MISSED


def _columns(rows: Sequence[Sequence[str]]) -> str:
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = []
    for name, *cells in rows:
        right = (cell.rjust(width) for cell, width in zip(cells, others, strict=True))
        lines.append("  ".join([name.ljust(first), *right]).rstrip())
    return "\n".join(lines)


def _advise(result: DesignResult, *, quiet: bool) -> None:
    """What to look at and to do next."""
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
    if result.report is not None:
        say(f"  {result.report}\nLook: open {result.report} in a browser.", quiet=quiet)
    scene, alone = result.scene.path, result.scene.alone
    table = f"[bodies.{alone}.damping]" if alone else "[damping]"
    named = Path(os.path.relpath(result.damping_file, scene.parent)).as_posix()
    say(f"Then: put this in place of {table} and its examples in {scene}, and run it:\n"
        f'\n  {table}\n  file = "{named}"\n\n  {shlex.join(["supple", "run", str(scene)])}',
        quiet=quiet)  # fmt: skip
