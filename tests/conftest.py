"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from supple.core.errors import MeshError

_ASSETS = Path(__file__).resolve().parents[1].parent / "shared" / "assets"


@pytest.fixture(scope="session")
def assets() -> Path:
    """The folder of meshes made by others; tests that need it are skipped where it is missing."""
    if not _ASSETS.is_dir():
        pytest.skip("needs the shared assets, which are not part of the repository")
    return _ASSETS


@contextmanager
def _voxels() -> Iterator[None]:
    def refuse(*_: object) -> None:
        raise MeshError("this test needs the same tets in every run")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("supple.character.tissue.volume._wild", refuse)
        yield


@pytest.fixture
def same_tets() -> Iterator[None]:
    """Characters are filled with voxels: the tets of fTetWild differ from run to run."""
    with _voxels():
        yield


@pytest.fixture(scope="module")
def same_tets_throughout() -> Iterator[None]:
    """The same for all tests of a file, and what they share."""
    with _voxels():
        yield
