"""Where results are written, looked at before the work begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from supple.core.errors import InputError, Message, Parameter


def make_folder(folder: Path) -> None:
    """Makes the folder to write to, or says what stands in its way."""
    for place in (folder, *folder.parents):
        if place.exists():
            if not place.is_dir():
                raise InputError(
                    Message(f"{place} is a file; ", Parameter("output"), " names a folder")
                )
            break
    folder.mkdir(parents=True, exist_ok=True)


def check_file(
    parameter: str, path: Path, endings: Sequence[str], what: str, *, read: Sequence[object] = ()
) -> None:
    """Stops where a file cannot be written: its ending, its folder, or one of those read."""
    given = Parameter(parameter, str(path))
    if path.suffix.lower() not in endings:
        raise InputError(Message(given, f": the name of {what} ends in {', '.join(endings)}"))
    if not path.parent.is_dir():
        raise InputError(Message(given, f": there is no folder {path.parent}"))
    if path.is_dir():
        raise InputError(Message(given, ": it is a folder; give a file name"))
    for other in read:
        both = other is not None and path.exists() and Path(str(other)).exists()
        if both and path.samefile(str(other)):
            raise InputError(
                Message(given, f" would replace {other}, which is read; give another name")
            )
