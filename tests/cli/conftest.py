"""A folder to work in, with a scene or a mesh, and pictures small enough for tests."""

import pytest
from tests.cli.helpers import SCENE

import supple as sp


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch):
    monkeypatch.setattr("supple.io.report.run_report._STILL_SIZE", (58, 69))


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bar.toml").write_text(SCENE)
    return tmp_path


@pytest.fixture
def block(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mesh = sp.TetMesh.box((1.0, 0.5, 0.25), (2, 2, 1))
    return mesh.with_region("left", mesh.cells_where(x=(None, 0.5)))
