"""Two columns of a table of numbers, as instruments write it."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..types import Floats

_SEPARATORS = (",", ";", "\t")


def read_columns(
    path: str | os.PathLike[str], time: str | None, value: str | None
) -> tuple[Floats, Floats]:
    """The columns named ``time`` and ``value``, the first and the second if not named, (T,) each.

    Columns are separated by commas, semicolons, tabs or blanks; lines that begin with # are left
    out. A first line that is not all numbers names the columns.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; give the path of a recording (CSV)") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as text: {error}") from error
    lines = [
        (count, line)
        for count, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise InputError(f"{path} holds no samples; give a table with a time and a displacement")
    rows = [(count, _fields(line)) for count, line in lines]
    names = None if all(_is_number(field) for field in rows[0][1]) else rows.pop(0)[1]
    picked = [
        _column(path, wanted, place, names, len(rows[0][1]) if rows else 0)
        for place, wanted in enumerate((time, value))
    ]
    table = np.empty((len(rows), 2))
    for k, (count, fields) in enumerate(rows):
        for place, column in enumerate(picked):
            field = fields[column] if column < len(fields) else ""
            if not _is_number(field):
                label = repr(names[column]) if names else str(column + 1)
                raise InputError(
                    f"{path}, line {count}: column {label} is {field!r}, not a number; complete "
                    "the samples, or leave out the lines that have none"
                )
            table[k, place] = float(field)
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(bad):
        raise InputError(
            f"{path}, line {rows[bad[0]][0]}: a sample is not finite; leave out the lines where "
            "the instrument lost its target"
        )
    return table[:, 0].copy(), table[:, 1].copy()


def _fields(line: str) -> list[str]:
    for separator in _SEPARATORS:
        if separator in line:
            return [field.strip() for field in next(csv.reader([line], delimiter=separator))]
    return line.split()


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _column(
    path: str | os.PathLike[str],
    wanted: str | None,
    place: int,
    names: list[str] | None,
    count: int,
) -> int:
    """Which column is wanted: by name, or by its place."""
    if wanted is None:
        if place >= (len(names) if names else count):
            raise InputError(f"{path} has one column; a recording needs time and displacement")
        return place
    if names is None:
        raise InputError(
            f"{path} has no line of column names, so {wanted!r} cannot be found; leave the names "
            "away to read its first two columns"
        )
    if wanted not in names:
        raise InputError(f"{path} has no column {wanted!r}; its columns are {', '.join(names)}")
    return names.index(wanted)
