"""Pictures of example deformations."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.io.pages import decoded
from tests.refusals import refused

import supple as sp
from supple.damping import Example, ExampleDamping
from supple.io.report.design_pictures import ExamplePictures
from supple.io.report.look import Shown

_TO_Y_UP = np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)])  # (x, y, z) to (x, z, −y)


@pytest.fixture
def beam():
    """A mesh, and a damping with one example: it bends up and a little aside."""
    mesh = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(4, 1, 1))
    bend = mesh.vertices[:, :1] ** 2 * np.array([0.0, 0.02, 0.08])
    return mesh, ExampleDamping(sp.Rayleigh(stiffness=0.01), [Example(bend, name="bend")])


def pictures(mesh, damping, **options):
    shown = Shown(**({"skin": None, "colors": None, "floor": None, "up": "z"} | options))
    return ExamplePictures.of(mesh, damping, shown, size=(24, 24))


def test_moving_picture_goes_from_the_body_to_the_example(beam):
    mesh, before = beam
    made = pictures(mesh, replace(before, about=np.full_like(mesh.vertices, 0.1)))
    data = json.loads(made.data)
    rest = decoded(data["rest"], "<f4", -1, 3)
    (example,) = data["examples"]
    shape = decoded(example["shape"], "<i2", -1, 3) * example["scale"]
    assert len(rest) == data["vertices"] == len(decoded(example["colors"], "u1", -1, 3))
    everywhere = np.linalg.norm(rest[:, None] - (mesh.vertices + 0.1), axis=2)
    vertex = everywhere.argmin(axis=1)
    assert everywhere.min(axis=1).max() < 1e-6
    assert shape == pytest.approx(before.examples[0].shape[vertex], abs=1e-5)


@pytest.mark.parametrize(
    ("amplitude", "drawn"), [(1e-3, 50.0), (0.03, 2.0), (0.1, 1.0), (26.0, 0.01)]
)
def test_examples_are_drawn_at_a_size_to_see(beam, amplitude, drawn):
    mesh, before = beam
    (bend,) = before.examples
    made = pictures(mesh, replace(before, examples=[bend.scaled(amplitude)]))
    assert made.drawn == [drawn]


def test_y_up_is_turned_upright(beam):
    mesh, before = beam
    turned = sp.HexMesh(mesh.vertices @ _TO_Y_UP, mesh.cells)
    examples = [e.with_shape(e.shape @ _TO_Y_UP) for e in before.examples]
    one = pictures(mesh, before)
    other = pictures(turned, replace(before, examples=examples), up="y")
    assert json.loads(other.data)["target"] == pytest.approx(json.loads(one.data)["target"])


def test_skin_of_another_mesh_is_refused(beam):
    mesh, before = beam
    other = sp.HexMesh.box((1, 1, 1), (1, 1, 1))
    skin = sp.Embedding(other, other.boundary())
    refused("embed it in the mesh that moves", pictures, mesh, before, skin=skin)


def test_skin_moves_with_the_mesh(beam):
    mesh, before = beam
    skin = sp.Embedding(mesh, mesh.boundary())
    bare, dressed = (pictures(mesh, before, skin=given) for given in (None, skin))
    assert dressed.stills == bare.stills
    assert dressed.drawn == bare.drawn
