"""Timing that can be trusted on a noisy machine: warm first, then medians."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any


def median_seconds(
    call: Callable[[], Any], *, repeats: int = 15, warm: int = 2, least: float = 0.3
) -> float:
    """Median wall time [s] of a call, over at least ``repeats`` calls and ``least`` seconds."""
    for _ in range(warm):
        call()
    spans: list[float] = []
    while len(spans) < repeats or sum(spans) < least:
        start = time.perf_counter()
        call()
        spans.append(time.perf_counter() - start)
    return median(spans)


def spans(call: Callable[[], Any], *, least: float = 1.0, repeats: int = 30) -> list[float]:
    """Wall times [s] of many calls. On a shared machine the shortest is the undisturbed one."""
    call()
    times: list[float] = []
    total = 0.0
    while len(times) < repeats or total < least:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
        total += times[-1]
    return times


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows as a Markdown table."""
    cells = [list(headers), *[[_text(value) for value in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    lines.insert(1, "| " + " | ".join("-" * w for w in widths) + " |")
    return "\n".join(lines)


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
