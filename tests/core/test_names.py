"""The names that packages offer, and import when they are first used."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import supple

PACKAGES = ("supple", "supple.reduction", "supple.character", "supple.io", "supple.workflows")
each = pytest.mark.parametrize("package", PACKAGES)


@each
def test_every_name_is_found(package: str) -> None:
    module = import_module(package)
    assert module.__all__ == sorted(set(module.__all__))
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name).__name__ == name


@each
def test_type_checkers_are_told_the_same(package: str) -> None:
    module = import_module(package)
    assert module.__file__ is not None
    stub = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text())
    told = {
        name.asname: getattr(import_module(str(line.module)), name.name)
        for line in stub.body
        if isinstance(line, ast.ImportFrom)
        for name in line.names
    }
    assert told == {name: getattr(module, name) for name in module.__all__}


@each
def test_a_name_that_is_not_there(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'Bdy'"):
        import_module(package).Bdy  # noqa: B018


def test_a_renamed_name_is_found_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="KeptCholesky is called LaggedCholesky now"):
        assert supple.KeptCholesky is supple.LaggedCholesky


def test_importing_loads_nothing_else() -> None:
    code = (
        "import sys, supple; print([m for m in ('numpy', 'numba', 'scipy') if m in sys.modules]);"
        "supple.mesh.TetMesh, supple.Rayleigh"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
