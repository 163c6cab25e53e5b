"""Contact found in poses."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.bent_beam import bent
from tests.refusals import refused

import supple as sp
from supple.character.training.contact import PoseContact, self_contact

MESH = sp.TetMesh.box(size=(1.0, 0.1, 0.1), cells=(40, 4, 4))
X = MESH.vertices


def ring(angle: float, x: np.ndarray = X) -> sp.TetMesh:
    """The beam bent to an arc, its ends beside each other when it is a full turn."""
    return sp.TetMesh(bent(x, angle, up=1, around=0.05), MESH.cells)


def test_ends_of_a_closed_ring_touch_and_nothing_else_does() -> None:
    assert len(self_contact(ring(1.5 * np.pi), MESH)) == 0
    contact = self_contact(ring(2 * np.pi - 0.01), MESH)
    assert len(contact) == 25  # one of the two ends, all of its vertices
    ends = X[contact.vertices, 0]
    assert len(np.unique(ends)) == 1
    assert X[contact.corners, 0] == pytest.approx(np.full((25, 3), 1 - ends[0]))
    assert contact.shares.sum(axis=1) == pytest.approx(1.0)
    assert contact.gaps.min() > 0
    assert contact.gaps.max() < 0.25 * 0.05
    # The ends face each other along x.
    assert np.abs(contact.normals[:, 0]) == pytest.approx(1.0, abs=1e-3)


def test_an_end_stuck_into_the_other_is_found_inside() -> None:
    thinner = (1 - 0.45 * X[:, :1]) * (X - [0, 0.05, 0.05]) + [0, 0.05, 0.05]
    x = np.concatenate([X[:, :1], thinner[:, 1:]], axis=1)
    contact = self_contact(ring(2 * np.pi + 0.2, x), sp.TetMesh(x, MESH.cells))
    last = MESH.where(x=1)
    assert np.isin(last, contact.vertices).all()
    end = contact.picked(np.isin(contact.vertices, last))
    overlap = 0.2 / (2 * np.pi)
    assert end.gaps == pytest.approx(-overlap, rel=0.25)  # more outside of the arc than inside
    assert x[end.corners, 0] == pytest.approx(0.0)


def test_opening_and_rows_agree() -> None:
    contact = self_contact(ring(2 * np.pi - 0.01), MESH)
    u = np.random.default_rng(0).standard_normal(X.shape)
    assert contact.rows(len(X)) @ u.ravel() == pytest.approx(contact.opening(u), abs=1e-12)
    turn = np.cross([0.1, -0.2, 0.3], ring(2 * np.pi - 0.01).vertices)
    rigid = contact.opening(turn + np.array([1.0, 2.0, 3.0]))
    assert np.abs(rigid).max() <= 0.4 * np.abs(contact.gaps).max()


def test_neutral_pose_has_no_contact() -> None:
    contact = self_contact(MESH, MESH)
    assert len(contact) == 0
    assert contact.rows(len(X)).shape == (0, 3 * len(X))


def test_contact_with_a_floor() -> None:
    floor = sp.Plane(normal=(0, 0, 1))
    contact = PoseContact.with_obstacle(MESH, floor)
    assert np.array_equal(contact.vertices, MESH.where(z=0))
    assert contact.normals == pytest.approx(np.tile([0.0, 0.0, 1.0], (len(contact), 1)))
    u = np.zeros_like(X)
    u[:, :2] = 1.0
    assert not (contact.rows(len(X)) @ u.ravel()).any()
    glued = PoseContact.with_obstacle(MESH, floor, sticking=True)
    assert glued.rows(len(X)).shape == (3 * len(glued), 3 * len(X))
    assert np.abs(glued.rows(len(X)) @ u.ravel()).max() == 1.0
    both = contact.joined(glued)
    assert both.rows(len(X)).shape[0] == 4 * len(contact)
    assert "sticking" in repr(both)


def test_what_cannot_be_used_is_refused() -> None:
    refused("a normal has no direction", PoseContact.of_vertices, [0, 1], (0, 0, 0), len(X))
    refused("different cells", self_contact, MESH, sp.TetMesh.box(size=(1, 1, 1), cells=(2, 2, 2)))
    contact = PoseContact.of_vertices([5], (0, 0, 1), len(X))
    refused("that a mesh of 4 does not have", contact.rows, 4)
