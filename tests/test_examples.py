"""Every example runs: scripts own their exact answers, scenes load and take a step."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from supple.io import load_scene

_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
_SCRIPTS = sorted(_EXAMPLES.glob("*.py"))
_OF_A_FILE = _EXAMPLES / "simple_bridge_reduced.py"
_OF_MEASUREMENTS = _EXAMPLES / "silicone_beam.py"
_SCENES = sorted(_EXAMPLES.glob("*.toml"))


def test_examples_are_there():
    assert len(_SCRIPTS) >= 3
    assert len(_SCENES) >= 4


def run(script: Path, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(script), *words],
        cwd=folder,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "script",
    [path for path in _SCRIPTS if path not in (_OF_A_FILE, _OF_MEASUREMENTS)],
    ids=lambda path: path.stem,
)
def test_example_script_reaches_its_answer(script, tmp_path):
    words = ["--quick"] if "quick()" in script.read_text(encoding="utf-8") else []
    done = run(script, *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert not list(tmp_path.iterdir())


def test_bridge_from_a_file_reaches_its_answer(assets, tmp_path):
    mesh = assets / "tets" / "simpleBridge_resol92-b1.155_enlarged.veg"
    done = run(_OF_A_FILE, str(mesh), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1736 bricks" in done.stdout


def test_measured_beam_is_matched(assets, tmp_path):
    """Frequencies within 2 % and envelopes within 10 %: the script asserts it."""
    done = run(_OF_MEASUREMENTS, str(assets / "measured"), "--quick", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "load101" in done.stdout


def test_measured_beam_says_what_it_needs(tmp_path):
    done = run(_OF_MEASUREMENTS, "absent", folder=tmp_path)
    assert done.returncode == 1
    assert "absent" in done.stderr


def test_bridge_from_a_file_says_what_it_needs(tmp_path):
    done = run(_OF_A_FILE, "absent.veg", folder=tmp_path)
    assert done.returncode == 1
    assert "there is no file absent.veg; give the path of simpleBridge" in done.stderr


@pytest.mark.parametrize("path", _SCENES, ids=lambda path: path.stem)
def test_example_scene_takes_a_step(path):
    scene = load_scene(path)
    simulation = scene.simulation()
    simulation.step()
    frame = simulation.frame()
    assert frame.time == pytest.approx(scene.dt)
    assert np.isfinite(frame.displacements).all()
    assert round(scene.duration / scene.dt) > 10


def test_dropped_block_comes_to_rest_on_the_floor():
    scene = load_scene(_EXAMPLES / "dropped_block.toml")
    motion = scene.simulation().run(0.8)
    z = motion.positions[:, :, 2]
    assert z.min() > -1e-3
    assert z[-1].min() < 1e-3
    assert motion.kinetic[-1] < 1e-2 * motion.kinetic.max()
