"""What went wrong, in words and names that the user gave; and the exit codes."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from supple.core.errors import InputError, Parameter, Spelling, SuppleError, spelled

DONE, FAILED, USAGE, MISSED, INTERRUPTED = 0, 1, 2, 3, 130
"""All went well; it could not be done; wrong usage; done, but not as asked; interrupted."""

_READ = ("scene", "file", "source", "skin", "mesh", "model", "basis")


def guarded(command: Callable[[argparse.Namespace], int], given: argparse.Namespace) -> int:
    """Runs a command; what it cannot do is told, and the exit code is 1."""
    try:
        with speaking(given):
            return int(command(given))
    except (SuppleError, OSError, MemoryError) as error:
        if given.debug:
            traceback.print_exc()
        else:
            lines = [f"supple: {told(error, given)}", *getattr(error, "__notes__", ())]
            print("\n".join(lines), file=sys.stderr)
        return FAILED


def in_options(given: argparse.Namespace) -> Spelling:
    """Parameters as the options of this command: ``young=-1`` is ``--young -1``.

    An option that switches something off is that of what it switches: ``skull=`` is --no-skull.
    """
    options = {
        action.dest.removeprefix("no_"): action
        for action in given.parser._actions
        if action.option_strings
    }

    def spelling(parameter: Parameter) -> str:
        option = options.get(parameter.name)
        if option is None:
            return str(parameter)
        value = parameter.value if option.nargs != 0 else ""  # flags have none
        return f"{max(option.option_strings, key=len)}{parameter.index} {value or ''}".rstrip()

    return spelling


@contextmanager
def noting(given: argparse.Namespace) -> Iterator[None]:
    """Tells what is warned of once the work is done, or has failed: it may say why."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            yield
    finally:
        for each in caught:
            _note(each.message, given)


@contextmanager
def speaking(given: argparse.Namespace) -> Iterator[None]:
    """Tells what is warned of when it is, without the line of code; ``noting`` keeps it for later.

    Other warnings than those meant for users are shown as before.
    """
    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, UserWarning):
            _note(message, given)
        else:
            before(message, category, *where, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


def _note(message: Warning | str, given: argparse.Namespace) -> None:
    text = message.args[0] if isinstance(message, Warning) else message
    print(f"note: {spelled(text, in_options(given))}", file=sys.stderr)


def told(error: Exception, given: argparse.Namespace) -> str:
    """What went wrong."""
    if isinstance(error, InputError):
        return error.told(in_options(given))
    if isinstance(error, MemoryError):
        why = f" ({error})" if str(error) else ""
        return f"not enough memory{why}; a coarser mesh or fewer frames need less"
    if not isinstance(error, OSError) or error.errno is None:
        return str(error)
    named = [str(getattr(given, name, None) or "") for name in _READ]
    if isinstance(error.filename, str | os.PathLike) and str(error.filename) in named:
        return f"cannot read {error.filename}: {error.strerror}"
    place = _place(given)
    if place is None or not _beside(error.filename, place):
        return str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space is left on the disk of {place}; free some, or write to another disk"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"files may not be written in {place}; allow it, or write to another folder"
    return f"cannot write to {place}: {error.strerror}"


def _place(given: argparse.Namespace) -> Path | None:
    """The folder that a command writes to."""
    if getattr(given, "target", None) is not None:
        return Path(given.target).parent
    if given.command in ("reduce", "enrich"):
        return Path(given.output or ".").parent
    if given.command == "play":
        return Path(given.output or given.model).parent
    if getattr(given, "output", None) is not None:
        return Path(given.output)
    if given.command not in ("run", "design"):
        return None
    scene = given.scene if isinstance(given.scene, str) else given.scene[0]
    return Path(Path(scene).stem + ("_design" if given.command == "design" else ""))


def _beside(name: object, place: Path) -> bool:
    """Whether an error without a name, or with this one, is about the folder ``place``."""
    if not isinstance(name, str | os.PathLike):
        return True
    found, folder = Path(os.path.realpath(name)), Path(os.path.realpath(place))
    return found.is_relative_to(folder) or folder.is_relative_to(found)
