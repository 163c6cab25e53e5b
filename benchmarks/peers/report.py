"""From what the engines wrote to a table."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks.peers.measuring import CYCLES
from benchmarks.peers.problem import Problem


@dataclass(frozen=True)
class Row:
    """One engine with one choice of settings, or why there is nothing to tell about it."""

    engine: str
    settings: str = ""
    steps_per_second: int | None = None
    wall: float | None = None
    """Seconds that one second of motion takes."""
    cpu: float | None = None
    """Processor seconds of all threads; fewer than wall seconds: something else was running."""
    amplitude_left: float | None = None
    """Share of the amplitude that is left after five cycles of the motion."""
    frequency: float | None = None
    """Of the motion [Hz]."""
    note: str = ""


def summarize(result: dict[str, Any], problem: Problem) -> Row:
    """The row for what an engine wrote."""
    left, frequency = amplitude_and_frequency(
        np.array(result["times"]),
        np.array(result["q"]),
        np.array(result["q_rate"]) / (2 * np.pi * problem.frequency),
    )
    return Row(
        engine=result["engine"],
        settings=result["settings"],
        steps_per_second=result["steps_per_second"],
        wall=median(result["wall"]),
        cpu=median(result["cpu"]),
        amplitude_left=left,
        frequency=frequency,
        note=result["note"],
    )


def amplitude_and_frequency(
    times: np.ndarray, q: np.ndarray, p: np.ndarray
) -> tuple[float | None, float | None]:
    """Share of the amplitude after five cycles and frequency of q(t), with p = q̇/ω.

    √(q² + p²) is compared at equal phases, so an ω that is not quite that of the motion does no
    harm.
    """
    phase = -np.unwrap(np.arctan2(p, q))
    turns = (phase - phase[0]) / (2 * np.pi)
    if turns[-1] < CYCLES:
        return None, None
    end = float(np.interp(CYCLES, turns, times))
    amplitude = np.hypot(q, p)
    return float(np.interp(end, times, amplitude) / amplitude[0]), CYCLES / end


def table(rows: list[Row], problem: Problem) -> str:
    """The rows as text, wall seconds also as multiples of the first row's."""
    head = [
        "engine",
        "settings",
        "steps/s",
        "wall s",
        "cpu s",
        "× first",
        "left",
        "Hz",
        "of ref.",
        "",
    ]
    ours = rows[0].wall
    lines = [head]
    for row in rows:
        ratio = row.wall / ours if row.wall and ours else None
        shift = row.frequency / problem.frequency - 1 if row.frequency else None
        lines.append(
            [
                row.engine,
                row.settings,
                _text(row.steps_per_second, "d"),
                _text(row.wall, ".2f"),
                _text(row.cpu, ".2f"),
                _text(ratio, ".1f"),
                _text(row.amplitude_left, ".2%"),
                _text(row.frequency, ".4f"),
                _text(shift, "+.2%"),
                row.note,
            ]
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    left = {0, 1, len(head) - 1}
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _text(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
