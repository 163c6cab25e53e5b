"""Shapes at rest under many loads at once, and those that are none."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers import soft

import supple as sp
from supple.reduction.sketch import sketch_shapes
from supple.reduction.statics import SettledShapes, shapes_under

pytestmark = pytest.mark.processors

MESH = sp.HexMesh.box((1, 0.2, 0.2), (5, 1, 1))


def pressed_bar() -> tuple[sp.Body, np.ndarray]:
    """A bar held at one end, and a load of 1 N along it on the other."""
    body = sp.Body(MESH, soft(sp.StVK), fixed=MESH.where(x=0))
    return body, body.point_force(MESH.where(x=1), (-1.0, 0, 0))


def test_errors_tell_how_far_shapes_are_from_rest():
    """Of the bar pressed a little, and so far that all of it is inside out, near a balance."""
    body, press = pressed_bar()
    loads = np.array([1.0, 10.0, 1e4])[:, None, None] * press
    found = shapes_under(body, loads)
    for k in (0, 1):
        exact = sp.static_shape(body, loads[k])
        off = np.abs(found.shapes[k] - exact).max() / np.abs(exact).max()
        assert off < 10 * found.errors[k] + 1e-6  # static_shape is that exact
    assert (found.errors[:2] < 1e-5).all()
    assert np.isinf(found.errors[2])


def test_shapes_that_turn_inside_out_are_given_up():
    """StVK resists being crushed less the further it goes: what would come to rest is no shape."""
    body, press = pressed_bar()
    rest = np.zeros_like(MESH.vertices)
    settling = SettledShapes(body)
    soft_enough = settling.under(0.1 * press, rest, 0.1, 1e-6)
    exact = sp.static_shape(body, 0.1 * press)
    assert np.abs(soft_enough - exact).max() < 1e-4 * np.abs(exact).max()
    with pytest.raises(sp.StepFailed, match="inside out"):
        settling.under(1e4 * press, rest, 1e4, 1e-6)


@pytest.mark.parametrize("newtons", [100.0, 1e4])
def test_shapes_near_a_balance_inside_out_are_given_up(newtons):
    """From there corrections shrink at once, so that nothing but the shape itself tells."""
    body, press = pressed_bar()
    quick = shapes_under(body, newtons * press[None])
    with pytest.raises(sp.StepFailed, match="inside out"):
        SettledShapes(body).under(newtons * press, quick.shapes[0], quick.scales[0], 1e-6)
    loads = np.stack([press, newtons * press])
    with pytest.warns(RuntimeWarning, match="1 of 2 sketched forces have no shape at rest"):
        found = sketch_shapes(body, loads, force_distance=0.0)
    alone = sketch_shapes(body, loads[:1]).shapes  # in another subspace, both to rounding
    np.testing.assert_allclose(found.shapes, alone, atol=1e-9 * np.abs(alone).max())


def test_a_body_that_does_not_resist_is_given_up():
    """All of it in one point: no stiffness near that of StVK there is positive definite."""
    body, press = pressed_bar()
    point = np.where(body.free, -MESH.vertices, 0.0)
    with pytest.raises(sp.StepFailed, match="does not resist"):
        SettledShapes(body).under(press, point, 1.0, 1e-6)
