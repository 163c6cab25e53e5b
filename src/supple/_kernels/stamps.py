"""What a cached kernel was made of: its own file, and those whose formulas it may call."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_HOMES = (f"{_PACKAGE / '_kernels'}{os.sep}", f"{_PACKAGE / 'materials'}{os.sep}")
_CONVENTIONS = tuple(
    str(_PACKAGE / "_kernels" / name) for name in ("compiling.py", "once.py", "stamps.py")
)
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([\w., \t]+))",
    re.MULTILINE,
)


@cache
def stamp_of(file: str) -> str:
    """A hash of the text of a file and of all compiled code that it imports, directly or not.

    Numba looks at the file of a kernel alone, but kernels are inlined into those of other files.
    """
    total = hashlib.sha256()
    for name in dict.fromkeys((*_CONVENTIONS, *sources_of(file))):
        total.update(_digest(name))
    return total.hexdigest()


def sources_of(file: str) -> list[str]:
    """The file and what it imports, directly or not, in a fixed order."""
    homes = (
        *_HOMES,
        f"{Path(file).parent}{os.sep}",
    )  # kernels that are written elsewhere, kept together
    found = {file: None}
    rest = [file]
    while rest:
        for name in _imported(rest.pop()):
            if name not in found and name.startswith(homes):
                found[name] = None
                rest.append(name)
    return list(found)


@cache
def _text(file: str) -> bytes:
    return Path(file).read_bytes()


@cache
def _digest(file: str) -> bytes:
    return hashlib.sha256(_text(file)).digest()


@cache
def _imported(file: str) -> tuple[str, ...]:
    """The files of all modules that its imports name; they have been carried out by now."""
    names: dict[str, None] = {}
    for module, members, modules in _IMPORT.findall(_text(file)):
        for name in (module or modules).decode().replace(",", " ").split():
            names[name] = None
            for member in re.findall(r"\w+", members.decode()):
                names[f"{name}.{member}"] = None
    files = (getattr(sys.modules.get(name), "__file__", None) for name in sorted(names))
    return tuple(file for file in files if file and file.endswith(".py"))
