"""What the command line changes of a scene: its damping, its solver, and a floor."""

from __future__ import annotations

import argparse
import contextlib
import re
import tomllib
from pathlib import Path
from typing import Any

from supple import InputError
from supple.io.scene.scene import schema_of, up_axis
from supple.io.scene.schema import Problems, Table

_BARE = re.compile(r"=\s*(?!(?:true|false|inf|nan)\b)([A-Za-z][\w-]*)")


def changes_of(given: argparse.Namespace) -> dict[str, Any]:
    """The tables of a scene that the options stand for, checked; none where there are no options.

    Raises InputError that names the option.
    """
    made: dict[str, Any] = {}
    there = _tables(Path(given.scene))
    schema = schema_of(there)
    if "none" in given.damping:
        if len(given.damping) > 1:
            raise InputError("--damping none takes all damping away; give it alone")
        made["damping"] = []
    elif given.damping:
        tables = [_table("--damping", "model", text, schema) for text in given.damping]
        woven = "woven" in schema.fields
        made["damping"] = tables[0] if woven else tables
        if woven and len(tables) > 1:
            raise InputError("--damping: yarns have one damping; give it once")
    if given.solver is not None:
        made["solver"] = _table("--solver", "method", given.solver, schema)
    if given.self_contact is not None:
        made["self_contact"] = _self_contact(given.self_contact, schema)
    if given.floor is not None:
        made["obstacles"] = [_floor(given, there, schema)]
    else:
        for name in ("friction", "vertex_restitution"):
            if getattr(given, name) is not None:
                raise InputError(f"--{_typed(name)} is that of the floor; give --floor as well")
    return made


def words_of(given: argparse.Namespace) -> list[str]:
    """The same options as they are typed."""
    words = [word for text in given.damping for word in ("--damping", text)]
    for name in ("solver", "self_contact", "floor", "friction", "vertex_restitution"):
        value = getattr(given, name)
        if value is not None:
            words += [f"--{_typed(name)}", f"{value:g}" if isinstance(value, float) else value]
    return words


def _typed(name: str) -> str:
    return name.replace("_", "-")


def _self_contact(text: str, schema: Table) -> bool | dict[str, Any]:
    """``field=value,field=value``, or ``none``."""
    if "self_contact" not in schema.fields:
        raise InputError("--self-contact: yarns have none")
    if text == "none":
        return False
    try:
        table: dict[str, Any] = tomllib.loads(f"it = {{ {text} }}")["it"]
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"--self-contact {text} cannot be read: write field=value,field=value, e.g. "
            "friction=0.3, or none"
        ) from error
    _check("self_contact", "self_contact", table, f"--self-contact {text}", schema)
    return table


def _table(option: str, key: str, text: str, schema: Table) -> dict[str, Any]:
    """``name:field=value,field=value`` as the table that a scene would have."""
    name, _, rest = text.partition(":")
    quoted = _BARE.sub(r'="\1"', rest)
    try:
        fields = tomllib.loads(f"it = {{ {quoted} }}")["it"]
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"{option} {text} cannot be read: write name:field=value,field=value, e.g. "
            f"{'strain-rate:shear=5,bulk=2' if key == 'model' else 'admm:iterations=30'}"
        ) from error
    table = {key: name, **fields}
    _check(option, "damping" if key == "model" else "solver", table, f"{option} {text}", schema)
    return table


def _floor(given: argparse.Namespace, there: dict[str, Any], schema: Table) -> dict[str, Any]:
    normal = [0.0, 0.0, 1.0]
    with contextlib.suppress(ValueError, TypeError, KeyError):  # of which loading the scene tells
        normal = [0.0, 1.0, 0.0] if up_axis(there["gravity"]) == "y" else normal
    floor: dict[str, Any] = {"shape": "plane", "normal": normal, "offset": given.floor}
    for name in ("friction", "vertex_restitution"):
        if getattr(given, name) is not None:
            floor[name] = getattr(given, name)
    _check("floor", "obstacles", [floor], "--floor", schema)
    return floor


def _check(path: str, field: str, value: Any, typed: str, schema: Table) -> None:
    problems = Problems(Path())
    schema.fields[field].read(value, path, problems)
    if problems.found:
        # As the options are typed: no table, no list.
        plain = [
            found.removeprefix(f"{path}[0].").removeprefix(f"{path}.").removeprefix(f"{path}: ")
            for found in problems.found
        ]
        raise InputError(f"{typed}: {'; '.join(plain)}")


def _tables(scene: Path) -> dict[str, Any]:
    """What a scene file holds; nothing if that cannot be told, which loading it will."""
    try:
        return tomllib.loads(scene.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
