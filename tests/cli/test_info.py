"""``supple info``"""

import re

import numpy as np
import pytest
from tests.cli.helpers import SCENE
from tests.cli.test_run_cloth import SHEET

import supple as sp
from supple.cli import main
from supple.design.testbeds import FullTestbed
from supple.io import load_scene
from supple.mesh import write_mesh
from supple.workflows.forecast import forecast, share_left


def test_info_on_a_mesh(block, info):
    properties = {"left": {"young": 5e4, "poisson": 0.4, "density": 800.0}}
    mesh = sp.TetMesh(block.vertices, block.cells, block.regions, properties)
    write_mesh(mesh, "block.veg")
    found, text = info("block.veg")
    assert found["kind"] == "tets"
    assert found["vertices"] == block.n_vertices
    assert found["volume"] == pytest.approx(0.125)
    assert found["regions"]["left"]["young"] == 5e4
    assert found["boundary"]["closed"] is True
    assert 0 < found["quality"]["worst"] <= found["quality"]["mean"] <= 1
    assert "5e+04 Pa" in text
    assert "region left" in text


@pytest.mark.parametrize("kind", ["bricks", "quadratic tets"])
def test_info_on_other_cells(block, info, kind):
    bricks = sp.HexMesh.box((1.0, 1.0, 1.0), (2, 2, 2))
    write_mesh(bricks if kind == "bricks" else block.quadratic(), "mesh.vtu")
    found, _ = info("mesh.vtu")
    assert found["kind"] == kind
    if kind == "bricks":
        assert found["quality"]["worst"] == pytest.approx(1.0)
        assert found["edges"] == [0.5, 0.5]


def test_info_on_a_surface(block, info):
    sp.write_surface(block.boundary(), "block.obj")
    found, text = info("block.obj")
    assert found["closed"] is True
    assert found["volume"] == pytest.approx(0.125)
    assert "closed" in text


def test_info_on_a_motion_and_a_scene(scene, info):
    assert main(["run", "bar.toml", "--quiet"]) == 0
    found, text = info("bar/motion.motion")
    assert found["frames"] == 7
    assert found["energies"]["kinetic"]["first"] == 0
    assert "J at last" in text
    found, text = info("bar.toml")
    assert found["title"] == "Bar"
    assert "StVK" in text


@pytest.mark.parametrize("name", ["lost.msh", "strange.xyz", "empty.msh"])
def test_info_on_what_it_cannot_read_is_1(tmp_path, refused, name):
    (tmp_path / "strange.xyz").write_text("?")
    (tmp_path / "empty.msh").write_text("")
    refused(["info", name], name)


def test_damping_file(tmp_path, info):
    shape = np.ones((5, 3))
    curve = sp.Curve.linear([(0.1, 0.5), (1.0, 4.0)])
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.25), [sp.Example(shape, curve, name="ear")])
    for name in ("d.toml", "d.json"):
        sp.save_damping(damping, tmp_path / name)
        found, text = info(tmp_path / name)
        for word in ("a damping", "mass 0.25 1/s", "γ = 0.5 at 0.1, 4 at 1", "5 vertices"):
            assert word in text
        assert found["examples"][0]["curve"] == {"linear": [[0.1, 0.5], [1.0, 4.0]]}


# -- a scene, before it runs -----------------------------------------------------------------

STILL = SCENE.replace("gravity = [0, 0, -9.81]", "").replace("duration = 0.1", "duration = 1")
DAMPING = "[damping]\nmass = {mass}\n[[damping.examples]]\nname = 'bend'\nmode = 1\n"
TARGET = "[[targets]]\nexample = 'bend'\nstart = 0.1\nwish = '{wish}'\n"


@pytest.fixture
def told(scene, info):
    def tell(text):
        (scene / "bar.toml").write_text(text)
        return info("bar.toml")

    return tell


def test_frequencies_and_steps_are_those_of_the_body(told):
    found, shown = told(STILL)
    ahead = found["forecast"]
    modes = sp.vibration_modes(load_scene("bar.toml").body, 4)
    periods = [mode["period"] for mode in ahead["modes"]]
    np.testing.assert_allclose(periods, 1 / modes.frequencies, rtol=1e-6)
    assert ahead["modes"][0]["steps"] == pytest.approx(60 / modes.frequencies[0])
    assert (ahead["steps"], ahead["frames"]) == (60, 61)
    assert "nothing wrong with it" in shown
    assert f"{modes.frequencies[0]:.3g}" in shown


def test_a_swing_of_few_steps_is_told_with_the_cure(told):
    found, shown = told(STILL.replace("fps = 60", "fps = 2") + DAMPING.format(mass=1))
    (note,) = found["notes"]
    assert "nothing wrong" not in shown
    assert re.search(r"bend swings in \S+ steps; a design needs 4", note)
    substeps = re.search(r"substeps = (\d+)", note)[1]
    cured = STILL.replace("fps = 60", f"fps = 2\nsubsteps = {substeps}")
    assert "notes" not in told(cured + DAMPING.format(mass=1))[0]


@pytest.mark.parametrize("integrator", [sp.Bathe(), sp.TRBDF2(), sp.BDF2(), sp.Newmark()])
def test_oscillator_comes_back_as_theory_says(integrator):
    w, zeta = 3.0, 0.05
    left = share_left(integrator, w, zeta, 2 * np.pi / w / 2000)
    assert left == pytest.approx(np.exp(-2 * np.pi * zeta / np.sqrt(1 - zeta**2)), rel=1e-3)
    assert share_left(integrator, w, 1.5, 0.01) == 0.0
    coarse = [share_left(rule, w, 0.0, 2 * np.pi / w / 12) for rule in (integrator, sp.RK4())]
    assert 0.3 < min(coarse) <= max(coarse) < 1.1


def test_reach_of_a_target_is_what_releases_give(told):
    found, shown = told(STILL + DAMPING.format(mass=1) + TARGET.format(wish="60 % left"))
    (reach,) = found["forecast"]["reach"]
    scene = load_scene("bar.toml")
    bed = FullTestbed(scene.body, scene.damping, integrator=scene.integrator, dt=scene.dt)
    for gamma, told_share in ((1e-3, reach["most"]), (1e3, reach["least"])):
        left = bed.unload(scene.damping.with_curves([gamma]), 0, 0.1).residual
        assert told_share == pytest.approx(left, abs=0.02 * 0.1)
    assert reach["wanted"] == pytest.approx(0.06)
    assert "can be left" in shown
    design = found["forecast"]["design"]
    cycle = found["forecast"]["examples"][0]["steps"]
    assert design["space"] == "reduced"
    assert design["check"] == pytest.approx(1.15 * cycle, abs=1)
    assert design["find"] > 3 * cycle


def test_a_wish_out_of_reach_is_told(told):
    found, _ = told(STILL + DAMPING.format(mass=1e-6) + TARGET.format(wish="20 % left"))
    (note,) = found["notes"]
    assert "0.02 should be left" in note
    assert "stronger base damping" in note


def test_cloth_has_steps(scene):
    (scene / "cloth.toml").write_text(SHEET)
    assert forecast(load_scene("cloth.toml")).steps == 6
