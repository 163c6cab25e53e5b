"""The tree: which way imports point, how large its parts are, what the glossary says of it.

A new package takes its place in ``ORDER``; everything else here needs no change.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "supple"

ORDER = (
    {"_kernels"},
    {"core"},
    {"mesh", "integrators", "web"},
    {"materials", "solvers"},
    {"bodies", "builtin"},
    {"damping", "contact"},
    {"dynamics"},
    {"reduction", "yarns"},
    {"character"},
    {"design"},
    {"io"},
    {"workflows"},
    {"cli"},
)
"""Packages import from packages of earlier rows alone, in functions as well."""

FREE_OF_PHYSICS = {
    "integrators": {"core", "_kernels"},
    "solvers": {"core", "_kernels", "integrators"},
}
"""All that these may import."""

PUBLIC_NAMES = {"cli", "workflows"}
"""Only these use ``import supple``, the names of which are those of every package."""

MOST_MODULES = 24
MOST_LINES = 460
MOST_LINES_OF_A_FUNCTION = 160


@cache
def modules() -> dict[str, Path]:
    """The files by the names of their modules, without the leading ``supple``."""
    found = {}
    for file in sorted(SOURCE.rglob("*.py")):
        parts = file.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@cache
def syntax(module: str) -> ast.Module:
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


def loaded(nodes: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported, and the bodies of its classes."""
    for node in nodes:
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from loaded(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in ("body", "orelse", "finalbody"):
                yield from loaded(getattr(node, part, ()))


def imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names of modules in ``supple``, and "" for the package itself."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            package, *inner = (node.module or "").split(".")
            if package != "supple":
                continue
            for alias in node.names:
                longer = ".".join([*inner, alias.name])
                if alias.name != "__version__":
                    yield longer if longer in modules() else ".".join(inner)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                package, *inner = alias.name.split(".")
                if package == "supple":
                    yield ".".join(inner)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            package, *inner = node.value.split(".")  # of import_module
            if package == "supple" and any(inner) and ".".join(inner) in modules():
                yield ".".join(inner)


def package_of(module: str) -> str:
    return module.partition(".")[0]


def rows() -> dict[str, int]:
    return {package: row for row, packages in enumerate(ORDER) for package in packages}


def imports_between_packages() -> Iterator[tuple[str, str]]:
    for module in modules():
        for other in imported(ast.walk(syntax(module))) if module else ():
            if package_of(other) != package_of(module):
                yield module, other


def test_every_package_has_its_place() -> None:
    assert {package_of(module) for module in modules()} - {""} == set(chain(*ORDER))


def test_imports_point_one_way() -> None:
    row = rows()
    wrong = [
        f"{module} imports {other or 'supple'}"
        for module, other in imports_between_packages()
        if (
            row[package_of(module)] <= row[package_of(other)]
            if other
            else package_of(module) not in PUBLIC_NAMES
        )
    ]
    assert not wrong


@pytest.mark.parametrize("package", FREE_OF_PHYSICS)
def test_solvers_and_integrators_know_no_physics(package: str) -> None:
    found = {
        package_of(other)
        for module, other in imports_between_packages()
        if package_of(module) == package
    }
    assert found <= FREE_OF_PHYSICS[package]


def test_modules_do_not_import_each_other_in_circles() -> None:
    """When they are loaded. A function may import what makes things of its own module's class."""
    graph = {module: set(imported(loaded(syntax(module).body))) - {module} for module in modules()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_packages_can_be_seen_at_a_glance() -> None:
    count = Counter(
        file.parent.relative_to(SOURCE).as_posix()
        for file in modules().values()
        if not file.name.startswith("__")
    )
    assert {package: n for package, n in count.items() if n > MOST_MODULES} == {}


def test_files_are_short() -> None:
    long = {
        module: lines
        for module, file in modules().items()
        if (lines := len(file.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert long == {}


def length(function: ast.FunctionDef) -> int:
    """Lines from the first statement to the last, without the signature and what is said of it."""
    first = function.body[
        0 if ast.get_docstring(function) is None else min(1, len(function.body) - 1)
    ]
    return (function.body[-1].end_lineno or 0) - first.lineno + 1


def test_functions_are_short() -> None:
    long = {
        f"{module}.{node.name}": length(node)
        for module in modules()
        for node in ast.walk(syntax(module))
        if isinstance(node, ast.FunctionDef) and length(node) > MOST_LINES_OF_A_FUNCTION
    }
    assert long == {}


# -- the glossary -------------------------------------------------------------------------------

NOT_YET = {"settling_time"}
"""Names of the glossary that the sources do not have."""


def glossary() -> Iterator[tuple[str, str, str]]:
    """Term, names and places of each row, the last two as they are written."""
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and quoted(cells[3]):
            yield cells[0], cells[1], cells[3]


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


@cache
def identifiers() -> frozenset[str]:
    found = set()
    for module in modules():
        found.update(re.findall(r"\w+", modules()[module].read_text(encoding="utf-8")))
    return frozenset(found)


def parts_of(names: str) -> set[str]:
    return {part for name in quoted(names) for part in name.split(".")}


def test_glossary_names_what_is_there() -> None:
    names = {part for _, names, _ in glossary() for part in parts_of(names)}
    assert len(names) > 100
    assert names - identifiers() <= NOT_YET


def test_glossary_names_the_files_that_have_it() -> None:
    wrong = []
    for term, names, places in glossary():
        files = [SOURCE / place for place in quoted(places)]
        wrong += [f"{term}: there is no {file}" for file in files if not file.is_file()]
        text = "".join(file.read_text(encoding="utf-8") for file in files if file.is_file())
        parts = parts_of(names)
        if not parts & (NOT_YET | set(re.findall(r"\w+", text))):
            wrong.append(f"{term}: {places} has none of {names}")
    assert not wrong, "\n".join(wrong)
