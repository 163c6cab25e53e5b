"""An earlier run of a scene: whether a new one may go on with it, replace it or must leave it."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any

from supple.core.errors import InputError, Message, Parameter
from supple.dynamics.recording import read_mesh_of, read_metadata, read_motion
from supple.io.scene.scene import Scene, YarnScene
from supple.mesh import VolumeMesh

_BESIDE = ("title", "output", "targets", "design")
"""Tables of a scene that do not change its motion; nor does [time] duration."""


class _Earlier:
    """What to say about earlier runs."""

    resume, overwrite = Parameter("resume", "True"), Parameter("overwrite", "True")
    output = Parameter("output")

    def both(self) -> Message:
        return Message(
            self.resume, " keeps the earlier run and ", self.overwrite, " drops it; give one"
        )

    def exists(self, path: Path) -> Message:
        return Message(
            f"{path} exists; ", self.resume, " goes on with it, ", self.overwrite,
            " replaces it, and ", self.output, " chooses another folder",
        )  # fmt: skip

    def anew(self, before: str) -> Message:
        return Message(before, self.overwrite, " or another ", self.output)


EARLIER = _Earlier()


def recorded_mesh(path: Path, scene: Path) -> VolumeMesh | None:
    """The mesh of the run to go on with, if it was made from this very scene."""
    if not (path.is_file() and scene.is_file()):
        return None
    try:
        text = scene.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return None  # load_scene tells
    if not _same(read_metadata(path).get("scene", ""), text):
        return None
    mesh = read_mesh_of(path)
    return mesh if isinstance(mesh, VolumeMesh) else None  # only solids are filled


def texts_of(
    scene: Scene | YarnScene, path: Path, *, resume: bool, overwrite: bool, asked: str
) -> dict[str, str]:
    """The texts that the motion file keeps; stops where it was made from another scene."""
    if path.exists() and not (resume or overwrite):
        raise InputError(EARLIER.exists(path))
    if not (path.exists() and resume):
        return {"scene": scene.text} | ({"options": asked} if asked else {})
    kept = read_metadata(path)
    before, options = kept.get("scene", ""), kept.get("options", "")
    if not _same(before, scene.text):
        raise InputError(_changed(path, before, scene.text))
    if options != asked:
        start = (
            f"{path} was recorded with {options or 'the scene as it is'}, and this says "
            f"{asked or 'nothing of the kind'}; give the same to go on with it, or start anew with "
        )
        raise InputError(EARLIER.anew(start))
    return {name: kept[name] for name in ("scene", "options") if name in kept}


def kept_frames(path: Path) -> str:
    """What there is of a run that was stopped, in words."""
    try:
        motion = read_motion(path)
    except (InputError, OSError):
        return "Nothing was recorded yet."
    return f"{len(motion)} frames, up to t = {motion.times[-1]:.4g} s, are kept in {path}."


def _changed(path: Path, before: str, now: str) -> Message:
    changes = [
        f"  {line}"
        for line in difflib.unified_diff(before.splitlines(), now.splitlines(), n=0)
        if line[:1] in "+-" and line[:3] not in ("+++", "---") and line[1:].strip()
    ]
    more = f"\n  … and {len(changes) - 12} more lines" if len(changes) > 12 else ""
    shown = "\n".join(changes[:12]) + more
    return EARLIER.anew(
        f"{path} was recorded from another scene; since then (- before, + now):\n{shown}\n"
        "Undo that to go on with it, or start anew with "
    )


def _same(before: str, now: str) -> bool:
    """Whether two scenes move alike: they differ in comments, exports and the duration at most."""
    try:
        return _moving(tomllib.loads(before)) == _moving(tomllib.loads(now))
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def _moving(tables: dict[str, Any]) -> dict[str, Any]:
    made = {name: table for name, table in tables.items() if name not in _BESIDE}
    if isinstance(made.get("time"), dict):
        made["time"] = {name: v for name, v in made["time"].items() if name != "duration"}
    return made
