"""Makes one script of ES modules: each in a scope of its own, after those that it imports.

It reads a few forms only, and refuses the rest rather than guess: ``import { a, b } from "./c.js"``
with names as they are exported, and ``export`` before ``class``, ``const`` or ``function``, all at
the start of a line. Those forms need no parser, and what a page holds is what Node tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import dirname, join, normpath

from supple.core.errors import InputError

_IMPORT = re.compile(r'^import \{([^{}]*)\} from "(\.{1,2}/[^"]*)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:class|const|function) (\w+))", re.MULTILINE)
_REFUSED = re.compile(
    r"^[^\S\n]*(?:import|export)\b.*|\bimport\s*\(|\bimport\.meta|</script|<!--", re.MULTILINE
)
# Documentation, where it has its lines to itself: types are for tools.
_DOCUMENTATION = re.compile(
    r"^[^\S\n]*(?:/\*\*(?:(?!\*/).)*\*/|// @ts-check)[^\S\n]*\n", re.DOTALL | re.MULTILINE
)


def bundle(entry: str, read: Callable[[str], str]) -> str:
    """The module ``entry`` and all that it imports, as one script.

    ``read`` gives the text of a module by its path, whose parts are joined by "/". Each module
    becomes a constant named by its path, ``a/b.js`` as ``a_b``, that holds what it exports. Raises
    InputError where a module has a form that is not read, imports what is not exported, or imports
    itself by way of others.
    """
    exports: dict[str, list[str]] = {}
    made: list[str] = []

    def add(path: str, importers: tuple[str, ...]) -> None:
        if path in importers:
            raise InputError(
                f"{' imports '.join([*importers, path])}: a circle; move what they share into a "
                "module of its own"
            )
        if path in exports:
            return
        text = _DOCUMENTATION.sub("", read(path))
        for found in _IMPORT.finditer(text):
            add(_resolved(path, found[2]), (*importers, path))
        text = _IMPORT.sub(lambda found: _taken(path, found, exports), text)
        exports[path] = _EXPORT.findall(text)
        text = _EXPORT.sub("", text)
        refused = _REFUSED.search(text)
        if refused:
            raise InputError(
                f"{path}: {refused[0].strip()!r} cannot be put into a page; write import {{ a }} "
                'from "./b.js"; or export class, const or function, at the start of a line'
            )
        given = ", ".join(exports[path])
        made.append(f"const {_name(path)} = (() => {{\n{text}return {{ {given} }};\n}})();\n")

    add(entry, ())
    return "".join(made)


def _resolved(importer: str, address: str) -> str:
    return normpath(join(dirname(importer), address))


def _taken(importer: str, found: re.Match[str], exports: dict[str, list[str]]) -> str:
    """The import as a constant of the module's own."""
    path = _resolved(importer, found[2])
    names = [name for name in re.split(r"[\s,]+", found[1]) if name]
    unknown = [name for name in names if name not in exports[path]]
    if unknown:
        raise InputError(
            f"{importer}: {path} does not export {', '.join(unknown)}; it exports "
            f"{', '.join(exports[path]) or 'nothing'}"
        )
    return f"const {{ {', '.join(names)} }} = {_name(path)};"


def _name(path: str) -> str:
    name = path.removesuffix(".js").replace("/", "_")
    if not path.endswith(".js") or not name.isidentifier():
        raise InputError(f"{path}: name modules like a/b.js, in letters, digits and _")
    return name
