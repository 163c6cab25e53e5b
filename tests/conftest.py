"""What all tests share."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from supple.character.tissue import volume
from supple.core.errors import MeshError

_ASSETS = Path(__file__).resolve().parents[1].parent / "shared" / "assets"


@pytest.fixture(scope="session")
def assets() -> Path:
    """The folder of meshes made by others; tests that need it are skipped where it is missing."""
    if not _ASSETS.is_dir():
        pytest.skip("needs the shared assets, which are not part of the repository")
    return _ASSETS


_wild = volume._wild


@pytest.fixture(scope="session", autouse=True)
def _same_tets() -> Iterator[None]:
    """Characters are filled with voxels: the tets of fTetWild differ from run to run."""

    def refuse(*_: object) -> None:
        raise MeshError("tests need the same tets in every run")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(volume, "_wild", refuse)
        yield


@pytest.fixture
def wild_tets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Characters are filled by fTetWild, as they are for users who have it."""
    monkeypatch.setattr(volume, "_wild", _wild)


@pytest.fixture(scope="session")
def khronos_errors() -> Callable[[Path], list[Any]]:
    """Gives the errors that the validator of the Khronos Group finds in a file.

    Tests are skipped without Node.js; where it is there, a validator that cannot be had is a
    failure, as it would otherwise never be missed.
    """
    players = pytest.importorskip(
        "benchmarks.players.validator", reason="needs the repository's benchmarks"
    )
    if shutil.which("node") is None:
        pytest.skip("needs Node.js")
    folder = Path(tempfile.gettempdir()) / "supple_players"
    players.installed(folder, "gltf-validator")

    def errors(file: Path) -> list[Any]:
        (report,) = players.validated(folder, file)
        found = [message for message in report["messages"] if message["severity"] == 0]
        assert report["numErrors"] == len(found)
        return found

    return errors
