"""Accelerations that clips exert on flesh, and bases that answer them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.arms import playing
from tests.character.bent_beam import SOFT, beam, flat
from tests.character.bodies import rod, rod_mesh, still
from tests.refusals import refused

import supple as sp
from supple.character import Channel, Track
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.basis import pose_bases, pose_basis
from supple.character.training.contact import PoseContact
from supple.character.training.modes import ConstrainedRest
from supple.character.training.preparing import clip_accelerations

BODY = beam()
N = BODY.n_vertices
PUSHES = np.tile(np.eye(3)[:, None], (1, N, 1))


def missed(vectors: np.ndarray, shape: np.ndarray) -> float:
    """The share of a shape (n, 3) that mass-orthonormal vectors (r, n, 3) do not span."""
    U, u = flat(vectors), shape.ravel()
    rest = u - U @ (U.T @ (BODY.mass @ u))
    return float(np.sqrt((rest @ (BODY.mass @ rest)) / (u @ (BODY.mass @ u))))


def test_answers_are_where_the_body_rests():
    u = ConstrainedRest(BODY).static_responses(PUSHES)
    free = BODY.free.ravel()
    K = BODY.stiffness(np.zeros((N, 3)))
    for acceleration, shape in zip(PUSHES, u, strict=True):
        left = (K @ shape.ravel() - BODY.mass @ acceleration.ravel())[free]
        assert np.abs(left).max() <= 1e-9 * np.abs(BODY.mass @ acceleration.ravel()).max()
    floor = PoseContact.of_vertices(BODY.mesh.where(y=0), (0.1, 1.0, 0.2), N)
    kept = ConstrainedRest(BODY, None, floor).static_responses(PUSHES)
    assert np.abs(floor.rows(N) @ flat(kept)).max() <= 1e-9 * np.abs(kept).max()


def test_a_basis_spans_what_drives_it():
    """Pushed along, which no slow mode of a beam is."""
    (along,) = ConstrainedRest(BODY).static_responses(PUSHES[:1])
    plain = pose_basis(BODY, modes=4, size=8)
    driven = pose_basis(BODY, modes=4, size=8, driven=PUSHES[:1])
    assert missed(plain.vectors, along) > 0.15
    assert missed(driven.vectors, along) < 1e-3
    for slow in pose_basis(BODY, modes=3, size=3).vectors:
        assert missed(driven.vectors, slow) < 0.1


@pytest.fixture(scope="module")
def shaken() -> TetRig:
    """The rod, which goes up and down as a sine and stands turned by a quarter about x."""
    t = np.linspace(0.0, 1.0, 25)
    up = np.outer(0.1 * np.sin(2 * np.pi * t) - 1.0, [0.0, 0.0, 1.0])
    turned = np.tile([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)], (25, 1))
    tracks = [Track(0, Channel.TRANSLATION, t, up), Track(0, Channel.ROTATION, t, turned)]
    return TetRig.of(playing(rod(), *tracks), rod_mesh((6, 2, 2)))


def test_clips_drive_in_the_frames_of_the_vertices(shaken):
    masses = np.random.default_rng(0).uniform(1.0, 2.0, shaken.mesh.n_vertices)
    found = clip_accelerations(shaken, masses)
    t = 1 / 24 + (np.arange(48) + 0.5) / 48 * 22 / 24
    keys = np.arange(1, 24) / 24  # between which the clip goes straight on
    at_keys = 0.1 * (2 - 2 * np.cos(2 * np.pi / 24)) * 24**2 * np.sin(2 * np.pi * keys)
    # What points up in the world points along y of the rod, which was turned.
    size = np.linalg.norm(9.81 - np.interp(t, keys, at_keys))
    np.testing.assert_allclose(np.abs(found[0]), np.tile([0, size, 0], (len(masses), 1)), atol=1e-6)
    np.testing.assert_allclose(found[1:], 0.0, atol=1e-6)


def test_each_pose_is_driven_in_its_own_frames(shaken):
    body = sp.Body(shaken.mesh, SOFT, fixed=shaken.mesh.where(x=0), mass_model=sp.LumpedMass())
    poses = np.stack([shaken.rig.neutral, shaken.rig.poses_of_clip(None, [0.3])[0]])
    push = np.tile([1.0, 0.0, 0.0], (1, body.n_vertices, 1))
    made = pose_bases(body, shaken, poses, modes=2, size=4, driven=push)
    masses = made.masses[:, None]
    along = ConstrainedRest(body).static_responses(push)[0]
    along /= np.sqrt((masses * along**2).sum())
    # In the neutral frames a turn of all changes nothing.
    neutral, turned = np.linalg.norm(np.einsum("mnir,ni->mr", made.bases, masses * along), axis=1)
    assert neutral > 0.95
    assert turned == pytest.approx(neutral, rel=1e-6)


def test_nothing_drives_a_rig_without_clips(shaken):
    alone = TetRig.of(still(rod().surface()), shaken.mesh)
    masses = np.ones(shaken.mesh.n_vertices)
    refused("without clips drives nothing", clip_accelerations, alone, masses)
