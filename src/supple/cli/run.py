"""``supple run``: a scene file, from reading it to the report."""

from __future__ import annotations

import argparse
import difflib
import shlex
import sys
import time
import tomllib
from pathlib import Path

from supple import InputError, Motion, StepFailed, read_motion, set_thread_count
from supple.cli.changes import changes_of, same_options, words_of
from supple.cli.facts import facts
from supple.cli.progress import Reporter, say
from supple.cli.simulate import export, make_folder, record
from supple.cli.values import default_folder
from supple.core.types import Floats
from supple.dynamics.recording import read_mesh_of, read_metadata
from supple.io.obstacle_surfaces import floor_of
from supple.io.report.run_report import Run, write_report
from supple.io.scene.scene import Scene, YarnScene, load_scene
from supple.mesh import VolumeMesh

_IN_SCENE_WORDS = (
    "In the scene, that is: [time] substeps = 4 (with fps; or a smaller dt), or [integrator] "
    'name = "BackwardEuler".'
)
_IN_YARN_WORDS = "In the scene, that is: [time] substeps = 4 (with fps; or a smaller dt)."


def command(given: argparse.Namespace) -> int:
    if given.resume and given.overwrite:
        raise InputError("--resume keeps the earlier run and --overwrite drops it; give one")
    if given.threads is not None:
        set_thread_count(given.threads)
    folder = Path(given.output or default_folder(given))
    path = folder / "motion.motion"
    with Reporter("examples", quiet=given.quiet) as reporter:
        scene = load_scene(
            given.scene,
            recorded=_recorded(path, given),
            changes=changes_of(given),
            progress=reporter,
        )
    make_folder(folder)
    metadata = _metadata(scene, path, given)
    duration = given.duration if given.duration is not None else scene.duration
    if given.resume and not path.exists():
        say(f"There is no {path}: nothing to resume; starting.", quiet=given.quiet)
    say(f"{scene.title}: {scene.mesh!r}, {duration:g} s", quiet=given.quiet)
    began = time.perf_counter()
    try:
        with Reporter(scene.path.name, quiet=given.quiet) as reporter:
            motion, steps = record(
                scene,
                path,
                reporter,
                metadata=metadata,
                duration=duration,
                resume=given.resume,
                overwrite=given.overwrite,
            )
    except KeyboardInterrupt:
        print(f"\nInterrupted. {_kept(path)}", file=sys.stderr)
        print(f"Go on with: {_again(given, folder)}", file=sys.stderr)
        return 130
    except StepFailed as failure:
        failure.add_note(_kept(path))
        failure.add_note(_IN_YARN_WORDS if isinstance(scene, YarnScene) else _IN_SCENE_WORDS)
        raise
    except OSError as error:
        error.add_note(f"{_kept(path)} {_onward(given, folder)}")
        raise
    taken = time.perf_counter() - began
    _tell(motion, steps, duration, taken, given)
    try:
        _write(scene, motion, steps, folder, given.quiet)
    except OSError as error:
        error.add_note(f"The motion is whole, in {path}. {_onward(given, folder)}")
        raise
    return 0


def _recorded(path: Path, given: argparse.Namespace) -> VolumeMesh | None:
    """The mesh of the run to go on with, if it was made from this very scene."""
    if not (given.resume and path.is_file() and Path(given.scene).is_file()):
        return None
    try:
        text = Path(given.scene).read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return None  # load_scene tells
    if not _same(read_metadata(path).get("scene", ""), text):
        return None
    mesh = read_mesh_of(path)
    return mesh if isinstance(mesh, VolumeMesh) else None  # only solids are filled


def _same(before: str, now: str) -> bool:
    """Whether two scenes are the same but for comments and spaces."""
    try:
        return tomllib.loads(before) == tomllib.loads(now)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def _metadata(scene: Scene | YarnScene, path: Path, given: argparse.Namespace) -> dict[str, str]:
    """The texts that the motion file keeps; stops where it was made from another scene."""
    if path.exists() and not (given.resume or given.overwrite):
        raise InputError(
            f"{path} exists; --resume goes on with it, --overwrite replaces it, and --output "
            "chooses another folder"
        )
    if not (path.exists() and given.resume):
        words = words_of(given)
        return {"scene": scene.text} | ({"options": shlex.join(words)} if words else {})
    kept = read_metadata(path)
    before = kept.get("scene", "")
    if _same(before, scene.text):
        same_options(kept.get("options", ""), given, path)
        return kept
    changes = [
        f"  {line}"
        for line in difflib.unified_diff(before.splitlines(), scene.text.splitlines(), n=0)
        if line[:1] in "+-" and line[:3] not in ("+++", "---") and line[1:].strip()
    ]
    more = f"\n  … and {len(changes) - 12} more lines" if len(changes) > 12 else ""
    shown = "\n".join(changes[:12]) + more
    raise InputError(
        f"{path} was recorded from another scene; since then (- before, + now):\n{shown}\n"
        "Undo that to go on with it, or start anew with --overwrite or another --output."
    )


def _tell(
    motion: Motion, steps: Floats, duration: float, taken: float, given: argparse.Namespace
) -> None:
    if len(steps):
        say(
            f"{len(steps)} steps in {taken:.1f} s ({1e3 * taken / len(steps):.0f} ms each); "
            f"{len(motion)} frames",
            quiet=given.quiet,
        )
    elif motion.times[-1] < 0.999 * duration:
        say(
            f"This run was finished at {motion.times[-1]:g} s; --overwrite --duration "
            f"{duration:g} runs it again for longer.",
            quiet=given.quiet,
        )
    else:
        say(f"This run was finished before; {len(motion)} frames", quiet=given.quiet)


def _write(
    scene: Scene | YarnScene, motion: Motion, steps: Floats, folder: Path, quiet: bool
) -> None:
    made = [folder / "motion.motion"]
    for ending in scene.formats:
        made.append(folder / f"motion.{ending}")
        export(scene, motion, made[-1], quiet=quiet)
    if scene.report:
        made.append(folder / "report.html")
        floor = floor_of(scene.obstacles, scene.up)
        run = Run(scene.title, motion, steps=steps if len(steps) else None)
        write_report(
            made[-1],
            [run],
            title=scene.title,
            summary=f"{motion.duration:.3g} s of motion in {len(motion)} frames.",
            facts=facts(scene),
            skin=scene.skin,
            colors=scene.colors,
            free=scene.is_free,
            floor=scene.floor if floor is None else floor,
            up=scene.up,
            source=scene.text,
            obstacles=scene.obstacles,
        )
    for file in made:
        say(f"  {file}", quiet=quiet)


def _kept(path: Path) -> str:
    try:
        motion = read_motion(path)
    except (InputError, OSError):
        return "Nothing was recorded yet."
    return f"{len(motion)} frames, up to t = {motion.times[-1]:.4g} s, are kept in {path}."


def _onward(given: argparse.Namespace, folder: Path) -> str:
    return f"Once that is mended, go on with: {_again(given, folder)}"


def _again(given: argparse.Namespace, folder: Path) -> str:
    words = ["supple", "run", given.scene, "--output", str(folder), "--resume"]
    if given.duration is not None:
        words += ["--duration", f"{given.duration:g}"]
    words += words_of(given)
    return shlex.join(words)
