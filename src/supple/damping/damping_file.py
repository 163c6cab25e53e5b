"""Files of damping: one text file, TOML or JSON, whose upper part a person can read and edit.

Coefficients and curves come first, in plain numbers. Deformations stand at the end, under
``shapes``, as base64 of little-endian numbers with their size and a checksum.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse

from .. import files
from ..errors import InputError
from .base import Damping
from .caughey import Caughey
from .curve import Curve
from .example import Example, ExampleDamping, Measure
from .rayleigh import Rayleigh, StiffnessAt
from .text_format import Table, array_of, document, kept, table_of
from .viscous import Viscous

_FORMAT, _VERSION = "supple damping", 1


def save_damping(damping: Damping, path: str | os.PathLike[str]) -> None:
    """Writes ``damping`` as JSON where ``path`` ends in .json, else as TOML.

    Rayleigh, Caughey and Viscous damping can be kept, alone or as the base of an ExampleDamping.
    What stands at ``path`` stays until the new file is whole.
    """
    table = _described(damping)
    if _is_json(path):
        text = json.dumps(table, indent=2, ensure_ascii=False) + "\n"
    else:
        text = document(table)
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"a name holds {error.object[error.start]!r}; use letters") from error
    with files.replacing(path) as temporary:
        temporary.write_bytes(data)


def load_damping(path: str | os.PathLike[str]) -> Damping:
    """The damping in a file that ``save_damping`` wrote, edited or not.

    Raises InputError for a file that is damaged or is something else.
    """
    source = Path(path)
    if not source.is_file():
        raise InputError(f"there is no file {source}")
    kind = "JSON" if _is_json(source) else "TOML"
    try:
        text = source.read_bytes().decode()
        table = json.loads(text) if kind == "JSON" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source} is not {kind}: {error}") from error
    try:
        return _damping_of(table)
    except InputError as error:
        raise InputError(f"{source}: {error}") from error


def is_damping_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as ``save_damping`` begins one."""
    with Path(path).open("rb") as file:
        return _FORMAT.encode() in file.read(200)


def _is_json(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() == ".json"


# -- from damping to tables --------------------------------------------------------------


def _described(damping: Damping) -> Table:
    shapes: Table = {}
    table: Table = {"format": _FORMAT, "version": _VERSION}
    base = damping.base if isinstance(damping, ExampleDamping) else damping
    table["base"] = _described_base(base, shapes)
    if isinstance(damping, ExampleDamping):
        options: Table = {"symmetric": bool(damping.symmetric)}
        if damping.overall is not None:
            options["overall"] = damping.overall.table()
        if damping.about is not None:
            options["about"] = kept("about", damping.about, shapes)
        table["by_example"] = options
        table["example"] = [
            {
                "name": example.name,
                "measure": example.measure.value,
                "curve": example.curve.table(),
                "shape": kept(f"example {i}", example.shape, shapes),
            }
            for i, example in enumerate(damping.examples)
        ]
    table["shapes"] = shapes
    return table


def _described_base(base: Damping, shapes: Table) -> Table:
    if isinstance(base, Rayleigh):
        table: Table = {"kind": "rayleigh"}
        for name in ("mass", "stiffness"):
            given = getattr(base, name)
            if isinstance(given, Mapping):
                table[name] = {str(k): np.asarray(value).tolist() for k, value in given.items()}
            elif np.ndim(given):
                table[name] = kept(f"{name} by cell", np.asarray(given), shapes)
            else:
                table[name] = float(given)
        return table | {"at": base.at.name.lower()}
    if isinstance(base, Caughey):
        return {"kind": "caughey", "coefficients": list(base.coefficients)}
    if isinstance(base, Viscous):
        C = base.matrix
        parts = {"entries": C.data, "columns": C.indices, "rows": C.indptr}
        return {"kind": "viscous"} | {k: kept(k, array, shapes) for k, array in parts.items()}
    raise InputError(
        f"a damping file cannot keep {type(base).__name__}; it keeps Rayleigh, Caughey and "
        "Viscous, and ExampleDamping over one of them"
    )


# -- from tables to damping --------------------------------------------------------------


def _damping_of(table: Any) -> Damping:
    if not isinstance(table, dict) or table.get("format") != _FORMAT:
        raise InputError(f'this is not a damping file: it does not say format = "{_FORMAT}"')
    version = table.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InputError(f"version={version!r}: a damping file has a whole number there")
    if version > _VERSION:
        raise InputError(
            f"made by a newer version ({version}), this one reads up to {_VERSION}; update Supple "
            "to read it"
        )
    allowed = ("format", "version", "base", "by_example", "example", "shapes")
    table = table_of("the file", table, allowed, needed=("base",))
    shapes = table_of("shapes", table.get("shapes", {}))
    base: Damping = _within("base", _base_of, table["base"], shapes)
    if "by_example" not in table and "example" not in table:
        return base
    options = table_of("by_example", table.get("by_example", {}), ("symmetric", "overall", "about"))
    given = table.get("example", [])
    if not isinstance(given, list):
        raise InputError("example is not a list; write each one under [[example]]")
    examples = []
    for i, each in enumerate(given):
        name = each.get("name") if isinstance(each, dict) else None
        label = f"example {i} ({name!r})" if isinstance(name, str) and name else f"example {i}"
        examples.append(_within(label, _example_of, each, shapes))
    symmetric = options.get("symmetric", False)
    if not isinstance(symmetric, bool):
        raise InputError(f"symmetric={symmetric!r}: give true or false")
    overall = _within("overall", Curve.of, options["overall"]) if "overall" in options else None
    about = array_of("about", options["about"], shapes) if "about" in options else None
    return ExampleDamping(base, examples, symmetric=symmetric, overall=overall, about=about)


def _within(label: str, make: Any, *arguments: Any) -> Any:
    """What ``make`` makes, with ``label`` in front of what it complains about."""
    try:
        return make(*arguments)
    except InputError as error:
        raise InputError(f"{label}: {error}") from error
    except OverflowError as error:
        raise InputError(f"{label}: a number is too large ({error})") from error


def _base_of(given: Any, shapes: Table) -> Damping:
    kind = table_of("base", given, needed=("kind",))["kind"]
    if kind == "rayleigh":
        table = table_of("base", given, ("kind", "mass", "stiffness", "at"))
        ats = {at.name.lower(): at for at in StiffnessAt}
        at = table.get("at", "current")
        if not isinstance(at, str) or at not in ats:
            raise InputError(f"at={at!r}: give one of {', '.join(ats)}")
        coefficients = {
            name: array_of(name, table[name], shapes)
            if isinstance(table[name], str)
            else table[name]
            for name in ("mass", "stiffness")
            if name in table
        }
        return Rayleigh(**coefficients, at=ats[at])
    if kind == "caughey":
        table = table_of("base", given, ("kind", "coefficients"), needed=("coefficients",))
        return Caughey(table["coefficients"])
    if kind == "viscous":
        parts = ("entries", "columns", "rows")
        table = table_of("base", given, ("kind", *parts), needed=parts)
        entries, columns, rows = (array_of(name, table[name], shapes) for name in parts)
        kinds = [(array.ndim, array.dtype.kind) for array in (entries, columns, rows)]
        if kinds != [(1, "f"), (1, "i"), (1, "i")] or not rows.size:
            raise InputError("entries, columns and rows are no matrix: they are mixed up")
        try:
            matrix = sparse.csr_array((entries, columns, rows), shape=(len(rows) - 1,) * 2)
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise InputError(f"entries, columns and rows are no matrix: {error}") from error
        return Viscous(matrix)
    raise InputError(f"kind={kind!r}: give rayleigh, caughey or viscous")


def _example_of(given: Any, shapes: Table) -> Example:
    allowed = ("name", "measure", "curve", "shape")
    table = table_of("it", given, allowed, needed=("shape", "curve"))
    name, measure = table.get("name", ""), table.get("measure", Measure.EXCITATION.value)
    measures = {each.value: each for each in Measure}
    if not isinstance(measure, str) or measure not in measures:
        raise InputError(f"measure={measure!r}: give one of {', '.join(measures)}")
    if not isinstance(name, str):
        raise InputError(f"name={name!r}: give a text in quotes")
    shape = array_of("shape", table["shape"], shapes)
    return Example(shape, Curve.of(table["curve"]), measure=measures[measure], name=name)
