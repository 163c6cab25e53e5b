"""An earlier run of a scene: whether a new one may go on with it, replace it or must leave it."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any

from supple.core.errors import InputError, Message, Parameter
from supple.dynamics.recording import read_mesh_of, read_metadata, read_motion
from supple.io.scene.base import AnyScene
from supple.mesh import Mesh

_BESIDE = ("title", "output", "targets", "design")
"""Tables of a scene that do not change its motion; nor does [time] duration."""


_RESUME, _OVERWRITE = Parameter("resume", "True"), Parameter("overwrite", "True")
_OUTPUT = Parameter("output")
_ANEW = Message("start anew with ", _OVERWRITE, " or another ", _OUTPUT)
BOTH = Message(_RESUME, " keeps the earlier run and ", _OVERWRITE, " drops it; give one")
"""What is wrong with both."""


def recorded_mesh(path: Path, scene: Path) -> Mesh | None:
    """The mesh of the run to go on with, if it was made from this very scene."""
    if not (path.is_file() and scene.is_file()):
        return None
    try:
        text = scene.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return None  # load_scene tells
    if not _same(read_metadata(path).get("scene", ""), text):
        return None
    return read_mesh_of(path)


def texts_of(
    scene: AnyScene, path: Path, *, resume: bool, overwrite: bool, asked: str
) -> dict[str, str]:
    """The texts that the motion file keeps; stops where it was made from another scene."""
    if path.exists() and not (resume or overwrite):
        raise InputError(
            f"{path} exists; ", _RESUME, " goes on with it, ", _OVERWRITE, " replaces it, and ",
            _OUTPUT, " chooses another folder",
        )  # fmt: skip
    if not (path.exists() and resume):
        return {"scene": scene.text} | ({"options": asked} if asked else {})
    kept = read_metadata(path)
    before, options = kept.get("scene", ""), kept.get("options", "")
    if not _same(before, scene.text):
        raise InputError(
            f"{path} was recorded from another scene; since then (- before, + now):\n"
            f"{_changes(before, scene.text)}\nUndo that to go on with it, or ",
            _ANEW,
        )
    if options != asked:
        raise InputError(
            f"{path} was recorded with {options or 'the scene as it is'}, and this says "
            f"{asked or 'nothing of the kind'}; give the same to go on with it, or ",
            _ANEW,
        )
    return {name: kept[name] for name in ("scene", "options") if name in kept}


def kept_frames(path: Path) -> str:
    """What there is of a run that was stopped, in words."""
    try:
        motion = read_motion(path)
    except (InputError, OSError):
        return "Nothing was recorded yet."
    return f"{len(motion)} frames, up to t = {motion.times[-1]:.4g} s, are kept in {path}."


def _changes(before: str, now: str) -> str:
    """The lines that differ, the first dozen of them."""
    changes = [
        f"  {line}"
        for line in difflib.unified_diff(before.splitlines(), now.splitlines(), n=0)
        if line[:1] in "+-" and line[:3] not in ("+++", "---") and line[1:].strip()
    ]
    more = f"\n  … and {len(changes) - 12} more lines" if len(changes) > 12 else ""
    return "\n".join(changes[:12]) + more


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
