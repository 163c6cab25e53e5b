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
_SCENES = sorted(_EXAMPLES.glob("*.toml"))


def test_examples_are_there():
    assert len(_SCRIPTS) >= 3
    assert len(_SCENES) >= 4


@pytest.mark.parametrize("script", _SCRIPTS, ids=lambda path: path.stem)
def test_example_script_reaches_its_answer(script, tmp_path):
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", _SCENES, ids=lambda path: path.stem)
def test_example_scene_takes_a_step(path):
    scene = load_scene(path)
    simulation = scene.simulation()
    simulation.step()
    assert simulation.state.time == pytest.approx(scene.dt)
    assert np.isfinite(simulation.state.u).all()
    assert round(scene.duration / scene.dt) > 10
