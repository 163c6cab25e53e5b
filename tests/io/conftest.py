import textwrap

import numpy as np
import pytest

import supple as sp
from supple.dynamics.motion import Motion
from supple.io import export_motion, load_scene
from supple.mesh import TetMesh


def make_wobble(mesh, count=31, dt=1 / 30, start=0.0):
    """Bends and twists ``mesh``, a bar along x; the first frame is bent already."""
    X = mesh.vertices
    along = X[:, 0] / np.ptp(X[:, 0])
    times, displacements = dt * np.arange(count), []
    for time in times:
        bend = 0.4 * np.cos(5 * time) * along
        twist = 0.8 * np.sin(9 * time) * along
        y, z = X[:, 1] - 0.1, X[:, 2] - 0.1
        side, high = np.cos(twist) * y - np.sin(twist) * z, np.sin(twist) * y + np.cos(twist) * z
        x = X[:, 0] - np.sin(bend) * high
        z = X[:, 0] * bend / 2 + np.cos(bend) * high
        displacements.append(np.stack([x, side + 0.1, z + 0.1], axis=1) - X)
    none, momenta = 4 * [np.zeros(count)], 2 * [np.zeros((count, 3))]
    return Motion(mesh, start + times, np.array(displacements), *none, *momenta)


def solid_scene(mesh, model="", more=""):
    """The text of a scene of a solid, with these fields of [mesh] and further tables."""
    material = (f'model = "{model}"\n' if model else "") + "young = 1e5\npoisson = 0.3"
    return f"[mesh]\n{mesh}\n[material]\n{material}\n{more}\n[time]\nduration = 0.1\nfps = 60\n"


def stage_of(motion, path, **options):
    """The stage in the USD file that a motion is exported to."""
    usd = pytest.importorskip("pxr.Usd")
    export_motion(motion, path, **options)
    return usd.Stage.Open(str(path))


@pytest.fixture
def wobble():
    return make_wobble


@pytest.fixture
def bar():
    return TetMesh.box(size=(1.0, 0.2, 0.2), cells=(10, 2, 2))


@pytest.fixture
def motion(bar):
    return make_wobble(bar)


@pytest.fixture
def scene(tmp_path, request):
    """Loads a scene from text put before ``BASE`` of the test's module, or before another."""

    def load(text, base=request.module.BASE):
        path = tmp_path / "scene.toml"
        path.write_text(f"{textwrap.dedent(text)}\n{base}", encoding="utf-8")
        return load_scene(path)

    return load


@pytest.fixture
def refusal(scene, request):
    """The message with which such a scene is refused, which must have all of some words."""

    def load(text, base=request.module.BASE, words=()):
        with pytest.raises(sp.InputError) as error:
            scene(text, base)
        told = str(error.value)
        assert [word for word in ("scene.toml", *words) if word not in told] == [], told
        return told

    return load
