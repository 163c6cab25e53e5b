"""``supple info``"""

import json

import numpy as np
import pytest

import supple as sp
from supple.cli import main
from supple.mesh import write_mesh


def info(path, capsys):
    assert main(["info", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["info", str(path)]) == 0
    return found, capsys.readouterr().out


def test_info_on_a_mesh(block, capsys):
    properties = {"left": {"young": 5e4, "poisson": 0.4, "density": 800.0}}
    mesh = sp.TetMesh(block.vertices, block.cells, block.regions, properties)
    write_mesh(mesh, "block.veg")
    found, text = info("block.veg", capsys)
    assert found["kind"] == "tets"
    assert found["vertices"] == block.n_vertices
    assert found["volume"] == pytest.approx(0.125)
    assert found["regions"]["left"]["young"] == 5e4
    assert found["boundary"]["closed"] is True
    assert 0 < found["quality"]["worst"] <= found["quality"]["mean"] <= 1
    assert "5e+04 Pa" in text
    assert "region left" in text


@pytest.mark.parametrize("kind", ["bricks", "quadratic tets"])
def test_info_on_other_cells(block, capsys, kind):
    bricks = sp.HexMesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    write_mesh(bricks if kind == "bricks" else block.quadratic(), "mesh.vtu")
    found, _ = info("mesh.vtu", capsys)
    assert found["kind"] == kind
    if kind == "bricks":
        assert found["quality"]["worst"] == pytest.approx(1.0)
        assert found["edges"] == [0.5, 0.5]


def test_info_on_a_surface(block, capsys):
    sp.write_surface(block.boundary(), "block.obj")
    found, text = info("block.obj", capsys)
    assert found["closed"] is True
    assert found["volume"] == pytest.approx(0.125)
    assert "closed" in text


def test_info_on_a_motion_and_a_scene(scene, capsys):
    assert main(["run", "bar.toml", "--quiet"]) == 0
    found, text = info("bar/motion.motion", capsys)
    assert found["frames"] == 7
    assert found["energies"]["kinetic"]["first"] == 0
    assert "J at last" in text
    found, text = info("bar.toml", capsys)
    assert found["title"] == "Bar"
    assert "StVK" in text


@pytest.mark.parametrize("name", ["lost.msh", "strange.xyz", "empty.msh"])
def test_info_on_what_it_cannot_read_is_1(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "strange.xyz").write_text("?")
    (tmp_path / "empty.msh").write_text("")
    assert main(["info", name]) == 1
    assert name in capsys.readouterr().err


def test_damping_file(tmp_path, capsys):
    shape = np.ones((5, 3))
    curve = sp.Curve.linear([(0.1, 0.5), (1.0, 4.0)])
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.25), [sp.Example(shape, curve, name="ear")])
    for name in ("d.toml", "d.json"):
        sp.save_damping(damping, tmp_path / name)
        assert main(["info", str(tmp_path / name)]) == 0
        out = capsys.readouterr().out
        assert "a damping" in out
        assert "mass 0.25 1/s" in out
        assert "γ = 0.5 at 0.1, 4 at 1" in out
        assert "5 vertices" in out
        assert main(["info", "--json", str(tmp_path / name)]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["examples"][0]["curve"] == {"linear": [[0.1, 0.5], [1.0, 4.0]]}
