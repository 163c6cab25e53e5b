"""Checksums of what a result was made of: values, arrays, classes and the program itself."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import numpy as np

from supple.core.errors import InputError

_Update = Callable[[bytes], None]
_INSIDE = ("__func__", "fget", "func", "py_func")
"""Where methods, properties, partial and compiled functions keep the function itself."""


def digest(*things: object) -> str:
    """A checksum of plain values, arrays and classes, and dataclasses and lists of those.

    A class that is not of Supple counts by what its functions do, too, and the functions that those
    call by name.
    """
    found = hashlib.blake2b(digest_size=16)
    for thing in things:
        _feed(found.update, thing)
    return found.hexdigest()


@cache
def sources_digest() -> str:
    """A checksum of all the sources of Supple."""
    package = Path(__file__).parents[1]
    return digest([path.read_bytes() for path in sorted(package.rglob("*.py"))])


def _feed(update: _Update, thing: object) -> None:
    """Every value goes with its kind and its length, so that no two things read the same."""
    if thing is None or isinstance(thing, bool | int | float | str | np.generic):
        if isinstance(thing, np.generic):
            thing = thing.item()
        text = repr(thing).encode()
        update(f"{type(thing).__name__} {len(text)} ".encode() + text)
    elif isinstance(thing, np.ndarray) and thing.dtype != object:
        update(f"array {thing.dtype.str} {thing.shape} ".encode())
        update(np.ascontiguousarray(thing).tobytes())
    elif isinstance(thing, bytes):
        update(f"bytes {len(thing)} ".encode() + thing)
    elif isinstance(thing, Enum):
        _feed(update, f"{type(thing).__name__}.{thing.name}")
    elif isinstance(thing, type):
        _feed(update, f"{thing.__module__}.{thing.__qualname__}")
        _feed_class(update, thing)
    elif is_dataclass(thing):
        _feed(update, type(thing))
        _feed(update, {each.name: getattr(thing, each.name) for each in fields(thing) if each.init})
    elif isinstance(thing, Mapping):
        update(f"mapping {len(thing)} ".encode())
        for key, value in thing.items():
            _feed(update, key)
            _feed(update, value)
    elif isinstance(thing, Sequence):
        update(f"sequence {len(thing)} ".encode())
        for value in thing:
            _feed(update, value)
    else:
        raise InputError(
            f"the work depends on a value of type {type(thing).__name__}, of which there is no "
            "checksum; leave checkpoint out, or give numbers, text, arrays or dataclasses of these"
        )


# -- code ----------------------------------------------------------------------------------


def _feed_class(update: _Update, kind: type) -> None:
    """What its functions do, and those of its bases, as far as they are not of Supple."""
    seen: set[FunctionType] = set()
    for each in kind.__mro__:
        if not _of_supple(each.__module__):
            for name, value in vars(each).items():
                if callable(value) or not name.startswith("__"):
                    _feed_used(update, name, value, seen)


def _feed_used(update: _Update, name: str, value: object, seen: set[FunctionType]) -> None:
    """A number, text or array that functions use, or another function; nothing else."""
    if isinstance(value, ModuleType):
        return
    if isinstance(value, tuple):
        for each in value:
            _feed_used(update, name, each, seen)
        return
    for inside in _INSIDE:
        value = getattr(value, inside, value)
    if isinstance(value, bool | int | float | str | np.generic) or (
        isinstance(value, np.ndarray) and value.dtype != object
    ):
        _feed(update, [name, value])
    elif isinstance(value, FunctionType) and not _of_supple(value.__module__):
        _feed(update, name)
        _feed_function(update, value, seen)


def _feed_function(update: _Update, function: FunctionType, seen: set[FunctionType]) -> None:
    """Its code, and what it takes from around it: that may be other functions."""
    if function in seen:
        return
    seen.add(function)
    names = _feed_code(update, function.__code__)
    around = {name: function.__globals__.get(name) for name in sorted(names)}
    around |= inspect.getclosurevars(function).nonlocals
    for name, value in [*around.items(), ("defaults", function.__defaults__)]:
        _feed_used(update, name, value, seen)


def _feed_code(update: _Update, code: CodeType) -> set[str]:
    """Bytecode, names and constants; returns the names, also those of functions within."""
    _feed(update, [code.co_code, code.co_names])
    names = set(code.co_names)
    for value in code.co_consts:
        if isinstance(value, CodeType):
            names |= _feed_code(update, value)
        elif isinstance(value, frozenset):  # in any order
            _feed(update, sorted(map(repr, value)))
        else:
            _feed(update, repr(value))
    return names


def _of_supple(module: str | None) -> bool:
    return (module or "").partition(".")[0] == "supple"


def plain_name(name: str, *, always: bool = False) -> str:
    """A name that every file system takes, another one for every name.

    One that has to be changed ends in a part of a checksum, and so do all with ``always``.
    """
    plain = "".join(letter if letter.isalnum() or letter in "-_ " else "_" for letter in name)
    return plain if plain == name and not always else f"{plain}-{digest(name)[:8]}"
