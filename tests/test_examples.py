"""Every example runs: scripts own their exact answers, scenes load and take a step."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.io import load_scene

_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
_SCRIPTS = sorted(_EXAMPLES.glob("*.py"))
_OF_A_FILE = _EXAMPLES / "simple_bridge_reduced.py"
_OF_MEASUREMENTS = _EXAMPLES / "silicone_beam.py"
_OF_A_CHARACTER = _EXAMPLES / "shirt.py"
_OF_YARNS_ON_A_CHARACTER = _EXAMPLES / "yarn_shirt.py"
_OF_ASSETS = (_OF_A_FILE, _OF_MEASUREMENTS, _OF_A_CHARACTER, _OF_YARNS_ON_A_CHARACTER)
_QUICK = {"cantilever_frequency", "decay", "free_fall", "spoon_reduced", "thrown_reduced"}
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
        timeout=1800,  # so that a script that hangs is ended; no speed is asked for
        check=False,
    )


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(path, marks=[] if path.stem in _QUICK else [pytest.mark.verify])
        for path in _SCRIPTS
        if path not in _OF_ASSETS
    ],
    ids=lambda path: path.stem,
)
def test_example_script_reaches_its_answer(script, tmp_path):
    words = ["--quick"] if "quick()" in script.read_text(encoding="utf-8") else []
    done = run(script, *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert not list(tmp_path.iterdir())


@pytest.mark.verify
def test_bridge_from_a_file_reaches_its_answer(assets, tmp_path):
    mesh = assets / "tets" / "simpleBridge_resol92-b1.155_enlarged.veg"
    done = run(_OF_A_FILE, str(mesh), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1736 bricks" in done.stdout


@pytest.mark.verify
def test_measured_beam_is_matched(assets, tmp_path):
    """Frequencies within 2 % and envelopes within 10 %: the script asserts it."""
    done = run(_OF_MEASUREMENTS, str(assets / "measured"), "--quick", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "load101" in done.stdout


@pytest.mark.parametrize(
    ("script", "given", "words"),
    [
        (_OF_MEASUREMENTS, "absent", "absent"),
        (_OF_A_FILE, "absent.veg", "there is no file absent.veg; give the path of simpleBridge"),
        (_OF_A_CHARACTER, "absent", "there is no characters/khronos_CesiumMan.glb in"),
    ],
)
def test_example_of_assets_says_what_it_needs(script, given, words, tmp_path):
    done = run(script, given, folder=tmp_path)
    assert done.returncode == 1
    assert words in done.stderr


@pytest.mark.verify
def test_shirt_is_worn(assets, tmp_path):
    """The skin is nowhere touched, as the script asserts, and other programs get what it shows."""
    pytest.importorskip("pxr")
    words = (str(assets), "--quick", "--save", str(tmp_path))
    done = run(_OF_A_CHARACTER, *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "medium" in done.stdout
    surfaces = [sp.read_surface(tmp_path / f"shirt.{ending}") for ending in ("usdc", "glb")]
    assert surfaces[0].n_triangles == 12736 + 4672
    boxes = [surface.bounds for surface in surfaces]
    np.testing.assert_allclose(boxes[1][:, 1], boxes[0][:, 2], atol=5e-3)  # glTF is y up


@pytest.mark.verify
def test_shirt_of_yarns_is_worn(assets, tmp_path):
    done = run(_OF_YARNS_ON_A_CHARACTER, str(assets), "--quick", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" mm") == 2


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
