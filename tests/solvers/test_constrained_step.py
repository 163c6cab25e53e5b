"""Contacts and turns within the global step: they are as a converged balance has them."""

from __future__ import annotations

import numpy as np
from tests.dynamics.splitting.test_splitter import split_body, touching_floor
from tests.helpers import small_mesh

from supple.solvers.constrained_step import ConstrainedStep
from supple.solvers.global_step import GlobalStep
from supple.solvers.splitting import total_size
from supple.solvers.turning import Turning, rotation


def test_contacts_hold_vertices_out_with_forces_that_press():
    problem, _, u, split = split_body(obstacles=[touching_floor(small_mesh("tet"))])
    contacts, step = split.contacts, GlobalStep(problem.pattern, problem.free)
    assert contacts is not None
    step.take(split)
    y = np.zeros(total_size(split.terms))
    down = np.zeros_like(u)
    down[:, 2] = -5.0  # N
    contacts.forces[:] = 0.0
    free = u + step.solve(down)
    after, _ = ConstrainedStep(step, split, turns=False).solve(u, down, y, y)
    pressed = contacts.forces[:, 2] > 0
    assert pressed.any()
    held = contacts.nodes[pressed, 0]
    assert (after[held, 2] > free[held, 2]).all()
    expected = down.copy()
    np.add.at(expected, contacts.nodes[:, 0], contacts.forces)
    np.testing.assert_allclose(after, u + step.solve(expected), atol=1e-12)
    # where nothing presses nothing is inside
    assert set(contacts.involved(after + 1e-6 * np.array([0, 0, 1]))) <= set(
        np.flatnonzero(pressed)
    )


def test_local_variables_turned_as_a_whole_are_found_again():
    """Of a body turned by a little, the local variables not yet, the turn is found in one step."""
    problem, _, _, split = split_body()
    step = GlobalStep(problem.pattern, problem.free)
    step.take(split)
    X, theta = problem.body.mesh.vertices, np.array([2e-5, -1e-5, 3e-5])
    z, there = np.empty((2, total_size(split.terms)))
    split.gather(np.zeros_like(X), z)
    split.gather(X @ rotation(theta).T - X, there)
    turning = Turning(step, split, z)
    torque = np.linalg.solve(turning.H, turning.angles(z, there - z))
    weight = split.weights() @ np.square(z)
    # Σ w (e × F)·(θ × F) for F = I: two thirds of Σ w ‖F‖² times θ
    np.testing.assert_allclose(torque, 2 / 3 * weight * theta, rtol=1e-4)
    assert np.isclose(turning.force(np.zeros(3)), 0.0)


def test_rotation_is_one():
    Q = rotation(np.array([0.3, -0.7, 0.2]))
    np.testing.assert_allclose(Q @ Q.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(Q @ [0.3, -0.7, 0.2], [0.3, -0.7, 0.2], atol=1e-14)
    assert np.isclose(np.trace(Q), 1 + 2 * np.cos(np.linalg.norm([0.3, 0.7, 0.2])))
