"""Two columns of a table of numbers, as instruments write it."""

from __future__ import annotations

import codecs
import csv
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.core.errors import InputError
from supple.core.types import Floats

_TASTED = 500  # lines at the end of a table that tell how it is written
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")  # a thousand, or one with three decimals

Source = str | os.PathLike[str]
Row = tuple[int, list[str]]
"""The number of a line in its file, from 1, and its fields."""


@dataclass(frozen=True)
class _Writing:
    """How a table is written: what separates columns (None: blanks) and decimals."""

    separator: str | None
    decimal: str = "."

    def fields(self, line: str) -> list[str]:
        if self.separator is None:
            return line.split()
        return [field.strip() for field in next(csv.reader([line], delimiter=self.separator))]

    def number(self, field: str) -> float | None:
        if self.decimal == ",":
            field = field.replace(".", "?").replace(",", ".")
        try:
            return float(field)
        except ValueError:
            return None

    def score(self, line: str) -> float:
        """The share of numbers among the fields of a line, if there are two at least."""
        fields = self.fields(line)
        numbers = sum(self.number(field) is not None for field in fields)
        return numbers / len(fields) if numbers > 1 else 0.0


_WRITINGS = tuple(
    _Writing(separator, decimal) for decimal in ".," for separator in (",", ";", "\t", None)
)


def read_columns(path: Source, time: str | None, value: str | None) -> tuple[Floats, Floats]:
    """The columns named ``time`` and ``value``, the first and the second if not named, (T,) each.

    Columns are separated by commas, semicolons, tabs or blanks; decimals by points, or by commas
    where these separate no columns. Lines that begin with # are left out, and so are those before
    the first sample, of which one may name the columns.
    """
    lines = [
        (count, line)
        for count, line in enumerate(_text(path).splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise InputError(f"{path} holds no samples; give a table with a time and a displacement")
    writing = _writing(path, lines)
    rows = [(count, writing.fields(line)) for count, line in lines]
    names, columns, rows = _parts(path, rows, (time, value), writing)
    table = np.empty((len(rows), 2))
    for k, (count, fields) in enumerate(rows):
        for place, column in enumerate(columns):
            field = fields[column] if column < len(fields) else ""
            read = writing.number(field)
            if read is None:
                label = repr(names[column]) if column < len(names) else str(column + 1)
                raise InputError(
                    f"{path}, line {count}: column {label} is {field!r}, not a number; "
                    + _remedy(field)
                )
            table[k, place] = read
        count_filled = len(fields) - fields.count("")
        if writing.separator == "," and 2 <= len(names) < count_filled:
            raise InputError(
                f"{path}, line {count}: {count_filled} columns under {len(names)} names; name all "
                "columns, or if decimals are written with commas, separate columns by semicolons"
            )
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(bad):
        raise InputError(
            f"{path}, line {rows[bad[0]][0]}: a sample is not finite; leave out the lines where "
            "the instrument lost its target"
        )
    return table[:, 0].copy(), table[:, 1].copy()


def _text(path: Source) -> str:
    """The text of a file in UTF-8, UTF-16 or Windows' Latin letters."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; give the path of a recording (CSV)") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if wide else ("utf-8-sig", "cp1252"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise InputError(f"{path} cannot be read as text; save the table as CSV in UTF-8")


def _writing(path: Source, lines: list[tuple[int, str]]) -> _Writing:
    """The way of writing that makes numbers of the most fields of the most lines."""
    tasted = [line for _, line in lines[-_TASTED:]]
    best = max(_WRITINGS, key=lambda each: sum(each.score(line) for line in tasted))
    if best.decimal == ",":
        fields = [field for line in tasted for field in best.fields(line)]
        commas = [field for field in fields if "," in field and best.number(field) is not None]
        if all(_GROUPED.fullmatch(field) for field in commas):
            raise InputError(
                f"{path}: {commas[0]!r} may be a thousand or have three decimals; write numbers "
                "with decimal points, and nothing between thousands"
            )
    return best


def _parts(
    path: Source, rows: list[Row], wanted: tuple[str | None, str | None], writing: _Writing
) -> tuple[list[str], list[int], list[Row]]:
    """Names of the columns, none if they have none; which columns are wanted; the samples."""
    asked = [name for name in wanted if name is not None]
    names = next((row for _, row in rows if set(asked) <= set(row)), None) if asked else []
    if names is None:
        raise _no_column(path, asked, _heads(rows, 0, writing))
    columns = [at if name is None else names.index(name) for at, name in enumerate(wanted)]
    heads = _heads(rows, columns[0], writing)
    if len(heads) == len(rows):  # without any number: perhaps the second line tells why
        heads = heads[:1]
    samples = rows[len(heads) :]
    if not samples:
        raise InputError(f"{path} holds no samples below its first line; give a longer table")
    count = len(samples[0][1])
    if heads and not names:
        names = next((row for row in heads if len(row) == count), heads[-1])
    if max(count, len(names)) < 2:
        raise InputError(f"{path} has one column; a recording needs time and displacement")
    return names, columns, samples


def _heads(rows: list[Row], column: int, writing: _Writing) -> list[list[str]]:
    """The lines before the first that has a number in a column."""
    numbers = (column < len(row) and writing.number(row[column]) is not None for _, row in rows)
    first = next((k for k, is_number in enumerate(numbers) if is_number), len(rows))
    return [row for _, row in rows[:first]]


def _no_column(path: Source, asked: list[str], heads: list[list[str]]) -> InputError:
    if not heads:
        return InputError(
            f"{path} has no line of column names, so {asked[0]!r} cannot be found; leave the names "
            "away to read its first two columns"
        )
    missing = next((name for name in asked if name not in heads[-1]), asked[0])
    return InputError(f"{path} has no column {missing!r}; its columns are {', '.join(heads[-1])}")


def _remedy(field: str) -> str:
    """How to mend a field that is not a number."""
    if not field:
        return "complete the samples, or leave out the lines that have none"
    if re.fullmatch(r"[+-]?\d[\d.,' ]*", field):
        return "write numbers with decimal points, and nothing between thousands"
    return "put # in front of lines that hold no sample, such as names, units and remarks"
