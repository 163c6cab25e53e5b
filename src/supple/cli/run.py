"""``supple run``: scene files, and what comes of them."""

from __future__ import annotations

import argparse
import shlex
import sys
from functools import partial
from pathlib import Path

from supple.cli.changes import changes_of, words_of
from supple.cli.failures import DONE, INTERRUPTED, MISSED
from supple.cli.many import files_of, for_each
from supple.cli.progress import Reporter, say
from supple.core.errors import InputError
from supple.damping.files.damping_file import is_damping_file
from supple.dynamics.recording import is_finished
from supple.workflows.earlier_run import kept_frames
from supple.workflows.outputs import folder_of
from supple.workflows.running import RunResult, open_scene, run


def command(given: argparse.Namespace) -> int:
    scenes = scenes_of(given)
    return for_each(scenes, "scene", partial(_one, several=len(scenes) > 1), given)


def scenes_of(given: argparse.Namespace) -> list[str]:
    """The scenes that are named, themselves or by their folders."""
    scenes = files_of(given.scene, _is_scene, "scene (*.toml)")
    stems = [Path(scene).stem for scene in scenes]
    for scene, stem in zip(scenes, stems, strict=True):
        if stems.count(stem) > 1:
            raise InputError(
                f"several scenes are called {stem}, and would be written to one folder; run "
                f"{scene} by itself, with its own --output"
            )
    return scenes


def _is_scene(path: Path) -> bool:
    """Whether a file in a folder is a scene, by its name and by not being a damping."""
    return path.suffix.lower() == ".toml" and path.is_file() and not is_damping_file(path)


def own_folder(given: argparse.Namespace, several: bool, ending: str = "") -> Path | None:
    """The folder that is asked for; several scenes have one each inside."""
    if given.output is None or not several:
        return None if given.output is None else Path(given.output)
    return Path(given.output) / f"{Path(given.scene).stem}{ending}"


def _one(given: argparse.Namespace, *, several: bool) -> int:
    given.output = own_folder(given, several)
    folder = folder_of(given.scene, given.output)
    path = folder / "motion.motion"
    with Reporter(Path(given.scene).name, quiet=given.quiet) as reporter:
        changes, words = changes_of(given), words_of(given)
        scene = open_scene(
            given.scene, given.output, resume=given.resume, changes=changes, progress=reporter
        )
        duration = scene.duration if given.duration is None else given.duration
        if given.resume and not path.exists():
            say(f"There is no {path}: nothing to resume; starting.", quiet=given.quiet)
        say(f"{scene.title}: {scene.mesh!r}, {duration:g} s", quiet=given.quiet)
        try:
            result = run(
                scene,
                folder,
                duration=duration,
                resume=given.resume,
                overwrite=given.overwrite,
                asked=shlex.join(words),
                formats=given.formats,
                fps=given.fps,
                report=False if given.no_report else None,
                progress=reporter,
                found=partial(_tell, reporter=reporter, quiet=given.quiet),
            )
        except KeyboardInterrupt:
            print(f"\nInterrupted. {kept_frames(path)}", file=sys.stderr)
            print(f"Go on with: {_again(given, folder)}", file=sys.stderr)
            return INTERRUPTED
        except OSError as error:
            error.add_note(
                f"{_left(path)} Once that is mended, go on with: {_again(given, folder)}"
            )
            raise
    for each in result.exports:
        about = "" if each.gltf is None else f": {each.gltf}"
        say(f"  {each.path}{about}", quiet=given.quiet)
    if result.report is not None:
        say(f"  {result.report}", quiet=given.quiet)
    return DONE if result.met else MISSED


def _tell(result: RunResult, *, reporter: Reporter, quiet: bool) -> None:
    reporter.close()
    motion, count = result.motion, len(result.steps)
    if count:
        each = 1e3 * result.seconds / count
        text = f"{count} steps in {result.seconds:.1f} s ({each:.0f} ms each); {len(motion)} frames"
    else:
        text = f"This run was finished before, at {motion.times[-1]:g} s; {len(motion)} frames"
    say(f"{text}\n  {result.motion_file}", quiet=quiet)


def _left(path: Path) -> str:
    if path.is_file() and is_finished(path):
        return f"The motion is whole, in {path}."
    return kept_frames(path)


def _again(given: argparse.Namespace, folder: Path) -> str:
    words = ["supple", "run", given.scene, "--output", str(folder), "--resume"]
    if given.duration is not None:
        words += ["--duration", f"{given.duration:g}"]
    return shlex.join([*words, *words_of(given)])
