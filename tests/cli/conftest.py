"""A folder to work in, with a scene or a mesh, and pictures small enough for tests."""

import json

import pytest
from tests.cli.helpers import SCENE

import supple as sp
from supple.cli import main


@pytest.fixture(autouse=True)
def small_pictures_in_a_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("supple.io.report.run_report._STILL_SIZE", (58, 69))


@pytest.fixture
def scene(tmp_path):
    (tmp_path / "bar.toml").write_text(SCENE)
    return tmp_path


@pytest.fixture
def block():
    mesh = sp.TetMesh.box((1.0, 0.5, 0.25), (2, 2, 1))
    return mesh.with_region("left", mesh.cells_where(x=(None, 0.5)))


@pytest.fixture
def tells(capsys):
    """What a command says on standard output that goes well, with these words among it."""

    def check(arguments, *words):
        capsys.readouterr()
        assert main(arguments.split() if isinstance(arguments, str) else arguments) == 0
        out = capsys.readouterr().out
        assert [word for word in words if word not in out] == []
        return out

    return check


@pytest.fixture
def info(tells):
    """What ``supple info`` says of a file: as JSON, and in words."""

    def look(path):
        return json.loads(tells(["info", str(path), "--json"])), tells(["info", str(path)])

    return look


@pytest.fixture
def refused(capsys):
    """What a command says on standard error that ends with ``code``, with these words among it."""

    def check(arguments, *words, code=1):
        capsys.readouterr()
        assert main(arguments.split() if isinstance(arguments, str) else arguments) == code
        message = capsys.readouterr().err
        assert [word for word in (*words, "Traceback") if word not in message] == ["Traceback"]
        return message

    return check
