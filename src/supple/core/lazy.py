"""Packages that import what they offer when it is first asked for.

Much of it needs far more than a program that only runs a finished model has to load, or to have.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, offered: Mapping[str, str], renamed: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    ``offered`` are the names, with spaces between, by the module that has them; ``renamed`` leads
    from deprecated names to those. What type checkers are told stands in the package's
    ``__init__.pyi``.
    """
    homes = {name: module for module, names in offered.items() for name in names.split()}
    modules = {module.partition(".")[0] for module in offered}

    def find(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")
        if renamed is not None and name in renamed:
            warnings.warn(
                f"{package}.{name} is called {renamed[name]} now",
                DeprecationWarning,
                stacklevel=2,
            )
            return find(renamed[name])
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)  # found at once from now on
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return find, listed, sorted(homes)
