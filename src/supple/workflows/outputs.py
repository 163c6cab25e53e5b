"""Where results are written, looked at before the work begins; and how long that takes."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from supple.core.errors import InputError, Parameter
from supple.io.scene.base import AnyScene


def folder_of(
    scene: str | os.PathLike[str] | AnyScene,
    output: str | os.PathLike[str] | None,
    ending: str = "",
) -> Path:
    """The folder for results of a scene: as said, or by the scene's name in the current folder."""
    path = scene.path if isinstance(scene, AnyScene) else Path(scene)
    return Path(f"{path.stem}{ending}" if output is None else output)


def make_folder(folder: Path) -> None:
    """Makes the folder to write to, or says what stands in its way."""
    for place in (folder, *folder.parents):
        if place.exists():
            if not place.is_dir():
                raise InputError(f"{place} is a file; ", Parameter("output"), " names a folder")
            break
    folder.mkdir(parents=True, exist_ok=True)


def check_file(
    parameter: str, path: Path, endings: Sequence[str], what: str, *, read: Sequence[object] = ()
) -> None:
    """Stops where a file cannot be written: its ending, its folder, or one of those read."""
    given = Parameter(parameter, str(path))
    if path.suffix.lower() not in endings:
        raise InputError(given, f": the name of {what} ends in {', '.join(endings)}")
    if not path.parent.is_dir():
        raise InputError(given, f": there is no folder {path.parent}")
    if path.is_dir():
        raise InputError(given, ": it is a folder; give a file name")
    for other in read:
        both = other is not None and path.exists() and Path(str(other)).exists()
        if both and path.samefile(str(other)):
            raise InputError(given, f" would replace {other}, which is read; give another name")


class Stopwatch:
    """How long each part of the work took [s]."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def note(self, part: str) -> None:
        """This part ends now; it began where the one before ended."""
        now = time.perf_counter()
        self.seconds[part] = now - self._last
        self._last = now
