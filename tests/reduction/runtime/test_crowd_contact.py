"""Crowds among obstacles: each copy meets them by itself, as a body alone does."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import supple as sp

DOWN = np.array([0.0, 0.0, -9.81])
COPIES = 5


@lru_cache
def model() -> sp.ReducedModel:
    mesh = sp.TetMesh.box(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.3, density=1000), fixed=mesh.where(x=0))
    return sp.reduce(body, sp.modal_derivative_basis(body, modes=4, size=8))


def rising(t: float) -> np.ndarray:
    return np.array([0.0, 0.0, 0.02 * np.sin(8 * t)])


OBSTACLES = {
    "standing": sp.Sphere(centre=(0.27, 0.05, -0.17), radius=0.15, friction=0.3),
    "moving": sp.Sphere(
        centre=(0.27, 0.05, -0.17),
        radius=0.15,
        friction=0.3,
        motion=sp.Rails.path(position=rising),
    ),
    "from outside": sp.Cylinder(start=(0.3, -0.1, -0.08), end=(0.3, 0.2, -0.08), radius=0.06),
}
OPTIONS = {"dt": 2e-3, "gravity": DOWN, "damping": sp.Rayleigh(mass=2.0, stiffness=1e-3)}


def pulls() -> np.ndarray:
    """Forces of which some keep their copies away."""
    weight = model().weight(DOWN)
    return np.outer([0.0, -1.0, -2.0, 0.5, 1.0], weight)


@pytest.mark.parametrize("kind", OBSTACLES)
def test_every_copy_moves_as_it_would_alone(kind: str) -> None:
    obstacle, forces = OBSTACLES[kind], pulls()
    crowd = model().simulation(copies=COPIES, obstacles=obstacle, **OPTIONS)
    alone = [model().simulation(obstacles=obstacle, **OPTIONS) for _ in range(COPIES)]
    for _ in range(80):
        crowd.step(force=forces)
        for each, force in zip(alone, forces, strict=True):
            each.step(force=force)
    pressed = np.array([each.obstacle_forces[0] for each in alone])
    assert pressed[0].any()
    assert not pressed[2].any()
    np.testing.assert_allclose(crowd.obstacle_forces[:, 0], pressed, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(crowd.q, [each.q for each in alone], atol=2e-6)
    np.testing.assert_allclose(
        crowd.contact_forces(0).sum(axis=0), -pressed[0], rtol=1e-4, atol=1e-3
    )


def test_a_snapshot_brings_contacts_back_bit_by_bit() -> None:
    crowd = model().simulation(copies=COPIES, obstacles=OBSTACLES["moving"], **OPTIONS)
    crowd.run_steps(60, force=pulls())
    kept = crowd.snapshot()
    crowd.run_steps(10, force=pulls())
    q, force = crowd.q, crowd.obstacle_forces
    assert force.any()
    crowd.restore(kept)
    crowd.run_steps(10, force=pulls())
    assert (crowd.q == q).all()
    assert (crowd.obstacle_forces == force).all()


def test_a_snapshot_serves_another_crowd_and_one_that_was_changed() -> None:
    """What pressed goes along; and where nothing did, nothing does."""

    def crowd() -> sp.CrowdSimulation:
        return model().simulation(copies=COPIES, obstacles=OBSTACLES["moving"], **OPTIONS)

    one = crowd()
    beginning = one.snapshot()
    one.run_steps(60, force=pulls())
    pressed = one.snapshot()
    one.run_steps(10, force=pulls())
    q, force = one.q, one.obstacle_forces
    assert force.any()

    fresh = crowd()
    fresh.restore(pressed)
    one.obstacles = ()
    one.edit(young=4e5)
    one.step(dt=1e-3)
    one.restore(pressed)
    for each in (fresh, one):
        each.run_steps(10, force=pulls())
        assert (each.q == q).all()
        assert (each.obstacle_forces == force).all()
        each.restore(beginning)
        each.run_steps(70, force=pulls())
        assert (each.q == q).all()


def test_obstacles_come_and_go() -> None:
    crowd = model().simulation(copies=COPIES, **OPTIONS)
    crowd.run_steps(20)
    free = crowd.q
    crowd.obstacles = OBSTACLES["standing"]
    crowd.run_steps(60)
    assert crowd.obstacle_forces.any(axis=(1, 2)).all()
    crowd.obstacles = sp.Sphere(centre=(0.27, 0.05, -0.169), radius=0.15, friction=0.3)
    crowd.run_steps(2)
    assert crowd.obstacle_forces.any(axis=(1, 2)).all()
    crowd.obstacles = ()
    crowd.run_steps(1)
    assert crowd.obstacle_forces.shape == (COPIES, 0, 3)
    assert (crowd.q != free).any()


def test_what_touches_nothing_goes_on_side_by_side() -> None:
    """None of the copies is taken alone, which is all that it costs to be among obstacles."""
    far = sp.Sphere(centre=(0, 0, 5), radius=0.1)
    free, among = (model().simulation(copies=256, obstacles=o, **OPTIONS) for o in ((), far))
    for crowd in (free, among):
        crowd.run_steps(20)
    assert np.array_equal(free.q, among.q)
    assert free.stats == among.stats
    assert free.stats.iterations > 0
