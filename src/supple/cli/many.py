"""One command for several files: each on its own, and a summary of them all."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from supple.cli.failures import DONE, FAILED, INTERRUPTED, MISSED, guarded
from supple.cli.progress import say
from supple.core.errors import InputError

_SUMMARY = {DONE: "done", FAILED: "failed", MISSED: "done, but not as asked"}


def files_of(words: Sequence[str], wanted: Callable[[Path], bool], what: str) -> list[str]:
    """The files that words name: themselves and, of folders, those inside that are wanted.

    ``what`` says in words which those are, for a folder that has none.
    """
    found: list[str] = []
    for word in words:
        if not Path(word).is_dir():
            found.append(word)
            continue
        inside = sorted(str(path) for path in Path(word).iterdir() if wanted(path))
        if not inside:
            raise InputError(f"there is no {what} in the folder {word}")
        found += inside
    return list(dict.fromkeys(found))


def for_each(
    files: Sequence[str],
    name: str,
    command: Callable[[argparse.Namespace], int],
    given: argparse.Namespace,
) -> int:
    """The command for each file, which is the option ``name`` then; the exit code of them all.

    One that fails does not stop the others. An interruption stops all.
    """
    rows = []
    for number, file in enumerate(files):
        if number:
            say("", quiet=given.quiet)
        began = time.perf_counter()
        code = guarded(command, argparse.Namespace(**{**vars(given), name: file}))
        if code == INTERRUPTED:
            return code
        rows.append((file, code, time.perf_counter() - began))
    codes = {code for _, code, _ in rows}
    if len(rows) > 1:
        _summarize(rows, quiet=given.quiet)
    return next((code for code in (FAILED, MISSED) if code in codes), DONE)


def _summarize(rows: Sequence[tuple[str, int, float]], *, quiet: bool) -> None:
    good = sum(code == DONE for _, code, _ in rows)
    say(f"\n{good} of {len(rows)} files done", quiet=quiet)
    width = max(len(file) for file, _, _ in rows)
    for file, code, seconds in rows:
        line = f"  {file:<{width}}  {_SUMMARY[code]}, {seconds:.1f} s"
        say(line, quiet=quiet)
        if quiet and code != DONE:
            print(line, file=sys.stderr)
