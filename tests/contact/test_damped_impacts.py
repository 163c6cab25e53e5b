"""Impacts with damping: soft, irregular bodies with slivers land at large steps, without gain."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contact.blocks import G

import supple as sp

FALL = 0.1  # m
GAP = 0.005  # m, that the body starts above the ground
BEZIER = sp.Curve.bezier([(0.0, 0.2), (5.0, 1.0), (20.0, 5.0)])
STRETCH = sp.Curve.monotone([(0.7, 20.0), (1.0, 0.2), (1.3, 20.0)])


def irregular(young: float) -> sp.Body:
    """A tilted box of 20 cm with vertices out of their places, some cells slivers."""
    mesh = sp.TetMesh.box(size=(0.2, 0.16, 0.12), cells=(4, 3, 3))
    X = mesh.vertices + np.random.default_rng(3).uniform(-0.011, 0.011, mesh.vertices.shape)
    c, s = np.cos(0.4), np.sin(0.4)
    X = X @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    X -= X.min(axis=0)
    material = sp.StableNeoHookean(young=young, poisson=0.45, density=1000)
    return sp.Body(sp.TetMesh(X, mesh.cells), material)


def hills() -> sp.HeightField:
    """Waves of 10 cm length and 2 cm height, below zero."""
    x, y = np.meshgrid(np.linspace(-1, 1, 81), np.linspace(-1, 1, 81), indexing="ij")
    waves = 0.01 * (np.sin(60 * x) * np.cos(45 * y) - 1) - GAP
    return sp.HeightField(heights=waves, origin=(-1, -1, 0), spacing=1 / 40, friction=0.3)


def gained(young: float, rate: int, ground: sp.Obstacle, **options: object) -> float:
    """The most by which energy grew in 0.3 s from a fall by 10 cm, of that of the fall."""
    body = irregular(young)
    sim = sp.Simulation(body, obstacles=ground, dt=1 / rate, gravity=(0, 0, -G), **options)
    sim.state.v = np.tile((0.0, 0.0, -np.sqrt(2 * G * FALL)), (body.n_vertices, 1))
    energies = []
    for _ in range(int(np.ceil(0.3 * rate))):
        frame = sim.frame()
        energies.append(frame.kinetic + frame.elastic + frame.gravitational)
        sim.step()
    assert sim.stats.total.contacts > 0
    E = np.array(energies)
    return float((E - np.minimum.accumulate(E)).max()) / (body.total_mass * G * FALL)


@pytest.mark.parametrize(
    ("damping", "rate"),
    [
        (sp.PowerLaw(exponent=0, strength=100), 60),
        (sp.PowerLaw(exponent=2, strength=3), 60),
        (sp.SplineDamping(sp.StrainRate(shear=20), STRETCH), 60),
        (sp.SplineDamping(sp.StrainRate(shear=20), BEZIER, over=sp.SplineOver.RATE), 60),
        (sp.PrincipalStrain(stiffness=0.01), 100),
    ],
    ids=["p = 0", "p = 2", "spline over stretch", "spline over rate", "principal strain"],
)
def test_soft_bodies_land(damping, rate):
    """Of 5 kPa, which its own weight presses flat by a third."""
    floor = sp.Plane(offset=-GAP, friction=0.3)
    assert gained(5e3, rate, floor, damping=damping) < 0.01


def test_hills_are_landed_on():
    assert gained(1e5, 60, hills(), damping=sp.MatchedStrainRate(stiffness=0.002)) < 0.01


@pytest.mark.verify
@pytest.mark.parametrize("rule", [sp.BackwardEuler(), sp.BDF2(), sp.Bathe()])
def test_hills_are_landed_on_by_every_rule(rule):
    damping = sp.MatchedStrainRate(stiffness=0.002)
    assert gained(1e5, 60, hills(), damping=damping, integrator=rule) < 0.01


@pytest.mark.verify
@pytest.mark.parametrize("rate", [24, 60])
@pytest.mark.parametrize("young", [1e7, 1e9])
def test_stiff_bodies_land_at_large_steps(young, rate):
    floor = sp.Plane(offset=-GAP, friction=0.3)
    assert gained(young, rate, floor, damping=sp.StrainRate(shear=1e-3 * young / 3)) < 0.01
