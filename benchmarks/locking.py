"""What ``reduce`` warns of against the true error of a motion that swings far.

The bodies, loads, bases and motions are those of ``model_error``, in three sizes: each model is
pushed so that it swings by a quarter of the body's size, and compared with the full body. A model
should warn where that error is large, more than 30 %, and not where it is small, less than 10 %.

``python -m benchmarks locking FOLDER [BODY …] [--keep CACHE]``, as ``model_error``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import supple as sp
from benchmarks.keeping import Kept, fingerprint, told_rows
from benchmarks.model_error import BODIES, Case, bases, kept_case
from supple.core.types import Floats
from supple.reduction.errors.frequencies import compared_vibrations, frequencies_note
from supple.reduction.errors.locking import locking_note, swing_energies

SIZES = ("5", "10", "20")
LARGE, SMALL = 0.3, 0.1


def rows_of(folder: Path, name: str, kept: Kept) -> Iterator[dict[str, Any]]:
    """Of one body: what every model warns of, and how wrong its motion is."""
    case, full, _ = kept_case(folder, name, kept)
    code = Path(sp.__file__).parent / "reduction"
    mark = fingerprint(BODIES[name], files=[*code.rglob("*.py"), Path(__file__)])
    for label, make in bases(case, kept, name):
        if label.split()[-1] in SIZES:
            key = f"{name} · {label} · {mark}"
            row = kept.row("locking", key, lambda m=make: measured(case, full, m))
            yield {**row, "body": name, "basis": label}


def measured(case: Case, full: Floats, make: Callable[[], sp.Basis]) -> dict[str, Any]:
    try:
        basis = make()
    except sp.InputError:  # too few shapes, of a sketch
        return {"failed": "no such basis"}
    start = time.process_time()
    model = sp.reduce(case.body, basis)
    whole = time.process_time() - start
    slowest = compared_vibrations(case.body, 6, None)
    assert slowest is not None
    assert slowest.rest is not None
    start = time.process_time()
    swing_energies(case.body, slowest.rest, slowest.modes, basis.vectors)
    check = time.process_time() - start
    try:
        moved = case.moved(model)
    except sp.StepFailed:
        return {"failed": "cannot be stepped"}
    return {
        "true": float(case.sizes(moved - full).max() / case.sizes(full).max()),
        "locking": model.locking,
        "locks": locking_note(model) is not None,
        "vibrates": frequencies_note(model) is None,
        "whole": whole,
        "check": check,
    }


def verdict(row: dict[str, Any]) -> str:
    """Whether the warnings are right, where there is something to be right about."""
    warned = row["locks"] or not row["vibrates"]
    if row["true"] > LARGE and not warned:
        return "missed"
    if row["true"] < SMALL and row["locks"]:
        return "false alarm"
    return ""


def cells(row: dict[str, Any]) -> list[str]:
    """A row as it is shown."""
    if "failed" in row:
        return [row["body"], row["basis"], row["failed"], *5 * [""]]
    return [
        row["body"],
        row["basis"],
        f"{100 * row['true']:.1f} %",
        f"{100 * row['locking']:.3g} %",
        "warns" if row["locks"] else "",
        "" if row["vibrates"] else "warns",
        verdict(row),
        f"{100 * row['check'] / row['whole']:.0f} % of {1e3 * row['whole']:.0f} ms",
    ]


def main(arguments: list[str]) -> int:
    head = ["body", "basis", "true error", "locking", "", "frequencies", "", "takes"]
    rows = told_rows(
        arguments,
        of="locking",
        about=__doc__,
        bodies=BODIES,
        rows_of=rows_of,
        cells=cells,
        head=head,
    )
    known = [row for row in rows if "true" in row]
    large = [row for row in known if row["true"] > LARGE]
    small = [row for row in known if row["true"] < SMALL]
    costs = [row["check"] / row["whole"] for row in known]
    print(
        f"\n{len(large)} motions are off by more than {100 * LARGE:.0f} %: "
        f"{sum(row['locks'] for row in large)} models warn of locking, "
        f"{sum(verdict(row) == 'missed' for row in large)} of nothing. {len(small)} are off by "
        f"less than {100 * SMALL:.0f} %: {sum(row['locks'] for row in small)} warn of locking. "
        f"The check takes {100 * np.median(costs):.0f} % of the reduction in the median, "
        f"{100 * max(costs):.0f} % at most."
    )
    return 0
