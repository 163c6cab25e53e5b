"""The command line: ``supple run``, ``demo``, ``info`` and ``convert``.

Exit codes: 0 all went well, 1 Supple could not do it (the message says why), 2 wrong usage,
130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from supple.cli.options import parser

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    try:
        given = parser().parse_args(arguments)
    except SystemExit as stop:  # argparse has said what is wrong, or has shown the help
        return int(stop.code or 0)
    try:
        return _run(given)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130


def _run(given: argparse.Namespace) -> int:
    from supple.errors import SuppleError

    command = import_module(f"supple.cli.{given.command}").command
    try:
        return int(command(given))
    except (SuppleError, OSError) as error:
        if given.debug:
            traceback.print_exc()
        else:
            lines = [f"supple: {error}", *getattr(error, "__notes__", ())]
            print("\n".join(lines), file=sys.stderr)
        return 1
