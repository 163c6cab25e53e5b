"""Files of damping: one text file, TOML or JSON, whose upper part a person can read and edit.

Coefficients and curves come first, in plain numbers. Deformations stand at the end, under
``shapes``, as base64 of little-endian numbers with their size and a checksum.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from supple.core import files
from supple.core.errors import InputError
from supple.core.parameters import describe
from supple.damping.base import Damping
from supple.damping.designed import kept_material
from supple.damping.example import ExampleDamping
from supple.damping.files.tables import (
    damping_of,
    dampings_of,
    described,
    examples_as_tables,
    examples_of,
    read_fields,
    within,
    write_fields,
)
from supple.damping.files.text_format import Table, document, table_of

_FORMAT, _VERSION = "supple damping", 2  # 1 had "kind" for "model"
_OPTIONS = describe(ExampleDamping)[2:]  # all but base and examples


def save_damping(damping: Damping | Sequence[Damping], path: str | os.PathLike[str]) -> None:
    """Writes ``damping``, one or several, as JSON where ``path`` ends in .json, else as TOML.

    Every registered model can be kept, those with others inside too. What stands at ``path`` stays
    until the new file is whole.
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


def load_damping(path: str | os.PathLike[str]) -> Damping | tuple[Damping, ...]:
    """The damping in a file that ``save_damping`` wrote, edited or not; a tuple if several were.

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
    except RecursionError as error:
        raise InputError(f"{source}: dampings stand within one another too deeply") from error


def is_damping_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as ``save_damping`` begins one."""
    with Path(path).open("rb") as file:
        return _FORMAT.encode() in file.read(200)


def _is_json(path: str | os.PathLike[str]) -> bool:
    return Path(path).suffix.lower() == ".json"


# -- from damping to tables --------------------------------------------------------------


def _described(damping: Damping | Sequence[Damping]) -> Table:
    shapes: Table = {}
    table: Table = {"format": _FORMAT, "version": _VERSION}
    if isinstance(damping, ExampleDamping):
        bases = [described(base, shapes) for base in damping.bases]
        table["base"] = bases[0] if isinstance(damping.base, Damping) else bases
        table["by_example"] = write_fields(damping, _OPTIONS, shapes)
        table["example"] = examples_as_tables(damping.examples, shapes)
    elif isinstance(damping, Damping):
        table["base"] = described(damping, shapes)
    elif (
        isinstance(damping, Sequence)
        and damping
        and all(isinstance(each, Damping) for each in damping)
    ):
        table["damping"] = [described(each, shapes) for each in damping]
    else:
        raise InputError(
            f"damping={damping!r}: give a damping such as Rayleigh(mass=0.1), or several"
        )
    table["shapes"] = shapes
    return table


# -- from tables to damping --------------------------------------------------------------


def _damping_of(table: Any) -> Damping | tuple[Damping, ...]:
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
    if "damping" in table:
        return _several_of(table)
    allowed = ("format", "version", "base", "by_example", "example", "shapes")
    table = table_of("the file", table, allowed, needed=("base",))
    shapes = table_of("shapes", table.get("shapes", {}))
    base: Damping | tuple[Damping, ...]
    by_example = "by_example" in table or "example" in table
    if by_example and isinstance(table["base"], list):
        base = dampings_of("base", table["base"], shapes)
    else:
        base = within("base", damping_of, "base", table["base"], shapes)
    if not by_example:
        return base
    given = table.get("by_example", {})
    options = read_fields("by_example", given, _OPTIONS, shapes)
    found = ExampleDamping(base, examples_of(table.get("example", []), shapes), **options)
    material = kept_material(found.wishes)
    return found.designed_for(material) if material else found


def _several_of(table: Table) -> tuple[Damping, ...]:
    table = table_of("the file", table, ("format", "version", "damping", "shapes"))
    shapes = table_of("shapes", table.get("shapes", {}))
    if not isinstance(table["damping"], list):
        raise InputError("damping is not a list; write each one under [[damping]]")
    return dampings_of("damping", table["damping"], shapes)
