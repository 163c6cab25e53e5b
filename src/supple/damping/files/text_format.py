"""Tables and arrays as text that a person can read: what a damping file is made of."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.core.errors import InputError

_TYPES = {"float64": "<f8", "int64": "<i8"}
_COMMENT = "# The numbers and curves above [shapes] may be edited; deformations follow there.\n"

Table = dict[str, Any]


# -- arrays ------------------------------------------------------------------------------


def kept(name: str, array: NDArray[Any], shapes: Table) -> str:
    """Puts an array under ``name`` among the shapes, with a number to it where that is taken."""
    if name in shapes:
        name = next(each for k in count(2) if (each := f"{name} {k}") not in shapes)
    type_ = "float64" if array.dtype.kind == "f" else "int64"
    data = np.ascontiguousarray(array, dtype=_TYPES[type_]).tobytes()
    size = [int(side) for side in array.shape]
    shapes[name] = {
        "type": type_,
        "size": size,
        "checksum": _checksum(type_, size, data),
        "data": base64.b64encode(data).decode(),
    }
    return name


def _checksum(type_: str, size: Sequence[int], data: bytes) -> str:
    return f"{zlib.crc32(f'{type_} {list(size)}'.encode(), zlib.crc32(data)):08x}"


def array_of(what: str, name: Any, shapes: Table) -> NDArray[Any]:
    """The array under ``name`` among the shapes."""
    if not isinstance(name, str) or name not in shapes:
        known = ", ".join(map(repr, shapes)) or "none"
        raise InputError(f"{what}={name!r} names none of the shapes in this file ({known})")
    fields = ("type", "size", "checksum", "data")
    table = table_of(f"shape {name!r}", shapes[name], fields, needed=fields)
    type_, size, text = table["type"], table["size"], table["data"]
    sides = size if isinstance(size, list) else [-1]
    sane = all(isinstance(side, int) and 0 <= side < 2**48 for side in sides) and len(sides) <= 8
    if type_ not in tuple(_TYPES) or not sane or not isinstance(text, str):
        raise InputError(f"shape {name!r} is damaged: its type, size or data cannot be read")
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"shape {name!r} is damaged: {error}") from error
    if len(data) != 8 * math.prod(sides) or table["checksum"] != _checksum(type_, sides, data):
        raise InputError(
            f"shape {name!r} is damaged: its checksum or size does not match; shapes cannot be "
            "edited by hand, take the file as it was saved"
        )
    dtype = _TYPES[type_]
    return np.frombuffer(data, dtype=dtype).astype(np.dtype(dtype).newbyteorder("=")).reshape(sides)


# -- tables ------------------------------------------------------------------------------


def table_of(
    what: str, given: Any, allowed: Sequence[str] | None = None, *, needed: Sequence[str] = ()
) -> Table:
    """``given`` if it is a table that has what is needed and nothing unknown."""
    if not isinstance(given, dict):
        raise InputError(f"{what} is {given!r}, not a table")
    for key in given:
        if allowed is not None and key not in allowed:
            raise InputError(f"{what} has {key!r}; known are {', '.join(allowed)}")
    for key in needed:
        if key not in given:
            raise InputError(f"{what} has no {key!r}")
    return given


def as_toml(value: Any) -> str:
    """A value as it stands right of the = in TOML: text, numbers, lists and tables of these."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {as_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else as_toml(name)


def document(table: Table) -> str:
    """A damping file as TOML: what a person reads first, arrays last."""

    def section(head: str, of: Table) -> str:
        lines = [f"{key} = {as_toml(value)}\n" for key, value in of.items() if key != "data"]
        if "data" in of:
            data = of["data"]
            wrapped = [data[k : k + 96] + "\n" for k in range(0, len(data), 96)]
            lines += ['data = """\n', *wrapped, '"""\n']
        return f"\n{head}\n" + "".join(lines)

    parts = [_COMMENT, *(f"{key} = {as_toml(table[key])}\n" for key in ("format", "version"))]
    base = table.get("base", [])
    parts += (
        [section("[[base]]", each) for each in base]
        if isinstance(base, list)
        else [section("[base]", base)]
    )
    parts += [section("[[damping]]", each) for each in table.get("damping", ())]
    if "by_example" in table:
        parts.append(section("[by_example]", table["by_example"]))
    parts += [section("[[example]]", example) for example in table.get("example", ())]
    parts += [section(f"[shapes.{_key(k)}]", of) for k, of in table["shapes"].items()]
    return "".join(parts)
