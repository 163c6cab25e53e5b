"""How far a command is: a bar on a terminal, a few lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

_PAUSE = 10.0  # [s] between lines where there is no terminal


class Reporter(AbstractContextManager["Reporter"]):
    """Shows progress on standard error; call it as ``progress(done, total, what)``."""

    def __init__(self, label: str, *, quiet: bool = False) -> None:
        self._label, self._quiet = label, quiet
        self._bar: Any = None
        self._what = ""
        self._said = time.monotonic()

    def __call__(self, done: int, total: int, what: str) -> None:
        if self._quiet:
            return
        if not sys.stderr.isatty():
            self._line(done, total, what)
            return
        from tqdm import tqdm

        if self._bar is None or what != self._what:
            self.close()
            # A run that is resumed starts with what was done before.
            self._bar = tqdm(
                total=total,
                initial=max(0, done - 1),
                desc=self._label,
                unit=" " + what,
                leave=False,
                dynamic_ncols=True,
            )
            self._what = what
        self._bar.update(done - self._bar.n)

    def _line(self, done: int, total: int, what: str) -> None:
        now = time.monotonic()
        if now - self._said >= _PAUSE and done < total:
            print(f"{self._label}: {done} of {total} {what}", file=sys.stderr, flush=True)
            self._said = now

    def close(self) -> None:
        """Takes the bar away, before something is said; the next call shows it again."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def __exit__(self, *_: object) -> None:
        self.close()


class TargetReporter(Reporter):
    """Progress that also shows the target at hand, which follows a semicolon."""

    def __call__(self, done: int, total: int, what: str) -> None:
        unit, _, detail = what.partition("; ")
        super().__call__(done, total, unit if sys.stderr.isatty() else what)
        if self._bar is not None:
            self._bar.set_postfix_str(detail)


def say(text: str, *, quiet: bool = False) -> None:
    """A line on standard output."""
    if not quiet:
        print(text, flush=True)


def rows_text(rows: Sequence[tuple[str, str]]) -> str:
    """Names and values as lines, the values below each other."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in rows)
