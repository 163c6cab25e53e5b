"""What all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

_ASSETS = Path(__file__).resolve().parents[1].parent / "shared" / "assets"


@pytest.fixture(scope="session")
def assets() -> Path:
    """The folder of meshes made by others; tests that need it are skipped where it is missing."""
    if not _ASSETS.is_dir():
        pytest.skip("needs the shared assets, which are not part of the repository")
    return _ASSETS
