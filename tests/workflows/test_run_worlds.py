"""``sp.workflows.run`` of several bodies: what is written, going on after a stop, what it says."""

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.workflows.words import facts

pytest.importorskip("ipctk")

QUIET = {"formats": (), "report": False}
WORLD = """
gravity = [0, 0, -9.81]
integrator = "BackwardEuler"
[bodies.block]
mesh = { box = { size = [0.2, 0.2, 0.1], cells = [1, 1, 1] } }
material = { young = 5e4, poisson = 0.4, density = 500 }
position = [-0.1, -0.1, 0.002]
damping = { model = "strain_rate", shear = 40 }
[bodies.crate]
rigid = { shape = "box", size = [0.1, 0.1, 0.1], density = 300 }
position = [0, 0, 0.17]
[bodies.cord]
springs = { chain = { start = [0, 0, 0.24], end = [0, 0, 0.4], count = 2 }, stiffness = 50, mass = 2e-3 }
[[attachments]]
kind = "pin"
body = "crate"
at = [0, 0, 0.24]
other = "cord"
point = 0
[[obstacles]]
shape = "plane"
friction = 0.5
[time]
duration = 0.1
fps = 60
"""  # noqa: E501


class Stop(Exception):
    pass


@pytest.fixture(autouse=True)
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("supple.io.report.run_report._STILL_SIZE", (58, 69))
    (tmp_path / "world.toml").write_text(WORLD)


def test_a_world_that_was_stopped_goes_on():
    whole = sp.workflows.run("world.toml", "whole", **QUIET)

    def stop(done, total, what):
        if what == "steps" and done == 3:
            raise Stop

    with pytest.raises(Stop):
        sp.workflows.run("world.toml", "cut", progress=stop, **QUIET)
    assert len(sp.read_motion("cut/motion.motion")) == 3
    again = sp.workflows.run("world.toml", "cut", resume=True, **QUIET)
    # Contacts begin anew, which changes what is left within the tolerance of the solver, 1e-6.
    away = np.abs(again.motion.displacements - whole.motion.displacements).max()
    assert away < 1e-5 * whole.motion.mesh.diagonal
    assert len(again.contacts) == len(again.steps) == 4
    # The crate has come down by gravity on the block, and neither is in the other or the floor.
    motion = whole.motion
    assert motion.mesh.names == ("block", "crate", "cord")
    points = motion.mesh.points.moved(motion.displacements[-1])
    assert points[:, 2].min() > -1e-6
    crate = points[8:16]
    assert 0.09 < crate[:, 2].min() < 0.12


def test_what_a_run_of_a_world_writes_names_the_bodies(tmp_path):
    result = sp.workflows.run("world.toml", "out", formats=("glb",), duration=0.05)
    assert [path.name for path in result.files] == ["motion.motion", "motion.glb", "report.html"]
    page = result.report.read_text(encoding="utf-8")
    for told in ("block</span>", "crate</span>", "How far bodies have gone", "crate to cord"):
        assert told in page, told
    found = sp.workflows.describe(result.motion_file)
    assert found["mesh"] == "3 bodies"
    assert found["bodies"]["cord"]["vertices"] == 3
    made = sp.workflows.convert(result.motion_file, "out/world.usda")
    assert made.file.is_file()


def test_facts_of_a_world_tell_of_each_body():
    told = dict(facts(sp.load_scene("world.toml")))
    assert told["Bodies"].startswith("3, ")
    assert told["block"].startswith("8 vertices, 5 tets, 2 kg; StableNeoHookean")
    assert told["crate"].startswith("rigid, 12 triangles, 0.3 kg")
    assert told["cord"].startswith("2 springs between 3 vertices")
    assert told["Attached"] == "pin, crate to cord"
    assert told["With each other"] == "SelfContact"
    through = sp.load_scene("world.toml", changes={"self_contact": False})
    assert dict(facts(through))["With each other"] == "go through each other"
    assert np.isclose(through.group.total_mass, 2.0 + 0.3 + 0.006)


RUG = """
gravity = [0, 0, -9.81]
integrator = "BackwardEuler"
[bodies.rug]
woven = { warps = 4, wefts = 4, spacing = 0.02, warp = { radius = 4e-4, linear_density = 2e-4, \
stretch = 50, bending = 1e-8 }, shear = 1e-5, position = [0, 0, 0.105] }
supports = [{ x = 0 }]
damping = { model = "YarnDamping", stretch = 0.01 }
[bodies.block]
mesh = { box = { size = [0.1, 0.1, 0.1], cells = [1, 1, 1] } }
material = { young = 6e4, poisson = 0.4, density = 500 }
[time]
duration = 0.04
fps = 50
"""


def test_a_run_with_woven_cloth_is_told_resumed_and_undamped():
    Path("rug.toml").write_text(RUG, encoding="utf-8")
    told = dict(facts(sp.load_scene("rug.toml")))["rug"]
    for of in ("16 crossings of 8 yarns", "stretch 50 N", "held: 4 crossings", "YarnDamping"):
        assert of in told, of
    result = sp.workflows.run("rug.toml", "rug", formats=("glb",))
    assert result.report.is_file()
    longer = sp.workflows.run("rug.toml", "rug", resume=True, duration=0.06, **QUIET)
    assert len(longer.motion) == 4
    bare = sp.load_scene("rug.toml", changes={"damping": None})
    assert bare.dampings == {"rug": None, "block": None}
