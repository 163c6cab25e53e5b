"""What ``supple run`` can change of a scene, and what ``supple info`` tells of it."""

from pathlib import Path

import numpy as np
import pytest
from tests.cli.helpers import SCENE

from supple.cli import main
from supple.dynamics.recording import read_metadata, read_motion

FREE = SCENE.replace("[[supports]]\nx = 0\n", "") + "[output]\nreport = false\nformats = []\n"


@pytest.fixture
def free(scene):
    (scene / "free.toml").write_text(FREE)
    return scene


def last(folder):
    return read_motion(Path(folder) / "motion.motion").positions[-1]


def test_floor_holds_what_would_fall(free):
    assert main(["run", "free.toml", "-q", "-o", "falls"]) == 0
    words = ["--floor", "--friction", "0.4", "--vertex-restitution", "0"]
    assert main(["run", "free.toml", "-q", "-o", "stands", *words]) == 0
    assert last("falls")[:, 2].min() < -0.03
    assert last("stands")[:, 2].min() > -1e-3
    kept = read_metadata(Path("stands/motion.motion"))
    assert kept["options"] == "--floor 0 --friction 0.4 --vertex-restitution 0"


def test_floor_is_below_where_gravity_is_along_y(free):
    (free / "y.toml").write_text(FREE.replace("[0, 0, -9.81]", "[0, -9.81, 0]"))
    assert main(["run", "y.toml", "-q", "-o", "y", "--floor", "-0.01"]) == 0
    assert -0.011 < last("y")[:, 1].min() < -0.005


def test_damping_and_solver_take_the_place_of_those_in_the_scene(scene):
    (scene / "damped.toml").write_text(SCENE + "[damping]\nmass = 50\n")

    def moved(*words):
        plain = ["--overwrite", "-q", "--duration", "0.05"]
        assert main(["run", "damped.toml", *plain, *words]) == 0
        return last("damped")

    as_it_is = moved()
    assert np.abs(as_it_is - moved("--damping", "none")).max() > 1e-3
    both = moved("--damping", "rayleigh:mass=30", "--damping", "rayleigh:mass=20")
    np.testing.assert_allclose(both, as_it_is, atol=1e-9)
    np.testing.assert_allclose(moved("--solver", "admm:tolerance=1e-8"), as_it_is, atol=1e-6)


def test_resume_asks_for_the_same_options(free, refused):
    words = ["run", "free.toml", "-q", "--resume"]
    assert main([*words, "--floor", "0"]) == 0
    assert main([*words, "--floor", "0"]) == 0
    refused(words, "was recorded with --floor 0")
    assert main([*words, "--floor", "0.5"]) == 1


BAD = {
    "--damping strain-rate:shear=x": ("--damping strain-rate:shear=x", "shear", '"x"'),
    "--damping strain-rat:shear=1": ("model", "did you mean strain_rate"),
    "--damping strain-rate:shear": ("cannot be read", "shear=5,bulk=2"),
    "--damping none --damping drag:strength=1": ("give it alone",),
    "--solver adm": ("method", "did you mean ADMM"),
    "--solver admm:iterations=0": ("iterations", "1 or more"),
    "--friction 1": ("--floor",),
    "--floor 0 --friction -1": ("--floor: friction", "at least 0"),
    "--floor 0 --vertex-restitution 2": ("--floor: vertex_restitution", "at most 1"),
}


@pytest.mark.parametrize("words", BAD)
def test_bad_option_is_1_and_says_what_is_allowed(free, refused, words):
    refused(["run", "free.toml", *words.split()], *BAD[words])
    assert not (free / "free").exists()


def test_info_tells_of_obstacles_damping_and_solver(scene, info):
    ball = 'shape = "sphere", radius = 0.1, centre = [0, 0, -0.5], vertex_restitution = 0.5'
    tables = f"""
        obstacles = [
            {{ shape = "plane", offset = -1, friction = 0.4 }},
            {{ {ball}, moves = {{ velocity = [0, 1, 0] }} }},
        ]
        damping = [
            {{ model = "strain_rate", shear = 5, conserving = "cells" }},
            {{ model = "power_law", exponent = 2, of = {{ stiffness = 0.1 }}, scale = 3 }},
        ]
        solver = {{ method = "admm", iterations = 30 }}
        """
    (scene / "all.toml").write_text(tables + SCENE)
    facts = info("all.toml")[0]["facts"]
    assert facts["Obstacle 1"] == "plane, normal (0, 0, 1), offset -1 m, friction 0.4"
    assert facts["Obstacle 2"] == (
        "sphere, radius 0.1 m around (0, 0, -0.5) m, friction 0, restitution of vertices 0.5, "
        "moving"
    )
    assert facts["Damping"] == (
        "StrainRate: shear 5 Pa s, conserving momentum by cells; PowerLaw: exponent 2, of "
        "(Rayleigh: mass 0 1/s, stiffness 0.1 s, current stiffness), scale 3 W/m³"
    )
    assert facts["Solver"] == "ADMM: iterations 30"
