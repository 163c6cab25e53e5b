"""The command line: ``supple run``, ``demo``, ``design``, ``reduce`` and more.

Exit codes: 0 all went well, 1 Supple could not do it (the message says why), 2 wrong usage,
130 interrupted.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from supple.cli.options import parser
from supple.cli.values import default_folder, joined

__all__ = ["main"]

_READ = ("scene", "file", "source", "skin", "mesh", "model", "basis")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    try:
        given = parser().parse_args(joined(sys.argv[1:] if arguments is None else arguments))
    except SystemExit as stop:  # argparse has said what is wrong, or has shown the help
        return int(stop.code or 0)
    try:
        return _run(given)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130


def _run(given: argparse.Namespace) -> int:
    from supple.core.errors import SuppleError
    from supple.core.registry import load_plugin

    try:
        for plugin in [*os.environ.get("SUPPLE_PLUGINS", "").split(","), *given.plugin]:
            if plugin.strip():
                load_plugin(plugin.strip())
        command = import_module(f"supple.cli.{given.command}").command
        return int(command(given))
    except (SuppleError, OSError, MemoryError) as error:
        if given.debug:
            traceback.print_exc()
        else:
            lines = [f"supple: {_told(error, given)}", *getattr(error, "__notes__", ())]
            print("\n".join(lines), file=sys.stderr)
        return 1


def _told(error: Exception, given: argparse.Namespace) -> str:
    """What went wrong, in words and names that the user gave."""
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
    if given.command == "reduce":
        return Path(given.output or ".").parent
    if given.command == "enrich":
        return Path(given.output or ".").parent
    if given.command == "play":
        return Path(given.output or given.model).parent
    if getattr(given, "output", None) is not None:
        return Path(given.output)
    return default_folder(given) if given.command in ("run", "design") else None


def _beside(name: object, place: Path) -> bool:
    """Whether an error without a name, or with this one, is about the folder ``place``."""
    if not isinstance(name, str | os.PathLike):
        return True
    found, folder = Path(os.path.realpath(name)), Path(os.path.realpath(place))
    return found.is_relative_to(folder) or folder.is_relative_to(found)
