"""The command line: ``supple run``, ``demo``, ``design``, ``match``, ``reduce`` and more.

Exit codes: 0 all went well, 1 Supple could not do it (the message says why), 2 wrong usage, 3 it
was done, but the result is not what was asked for, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from supple.cli.options import parser
from supple.cli.values import joined

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code."""
    try:
        given = parser().parse_args(joined(sys.argv[1:] if arguments is None else arguments))
    except SystemExit as stop:  # argparse has said what is wrong, or has shown the help
        return int(stop.code or 0)
    from supple.cli.failures import INTERRUPTED, guarded

    try:
        return guarded(_command, given)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED


def _command(given: argparse.Namespace) -> int:
    """Runs the command with the threads and the plug-ins that were named."""
    from supple.core.registry import load_plugin
    from supple.core.threads import set_thread_count

    if getattr(given, "threads", None) is not None:
        set_thread_count(given.threads)
    for plugin in [*os.environ.get("SUPPLE_PLUGINS", "").split(","), *given.plugin]:
        if plugin.strip():
            load_plugin(plugin.strip())
    return int(import_module(f"supple.cli.{given.command}").command(given))
