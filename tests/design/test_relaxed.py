"""Equilibria at given excitations: least energy, and forces along the examples alone."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.damping.example import examples_on
from supple.design.testbeds import make_testbed

pytestmark = pytest.mark.processors


@pytest.mark.parametrize("start", [0.1, 1.0, 3.0])
def test_least_energy_at_the_excitations(in_space, cantilever, examples, start):
    damping = sp.ExampleDamping(sp.Rayleigh(mass=0.1), examples)
    bed = make_testbed(in_space, damping, relaxed=True)
    found = bed.start_shape(0, start)
    u = in_space.displacements(found) if isinstance(in_space, sp.ReducedModel) else found
    X, duals = examples_on(cantilever, damping)
    chi = np.einsum("kna,na->k", duals, u)
    assert chi == pytest.approx([start, 0.0], abs=1e-9 if u is found else 2e-3 * start)
    force, straight = in_space.force(found), bed._about + start * bed._X[0]
    D = bed._duals.reshape(len(X), -1)
    rest = force.ravel() - D.T @ np.linalg.lstsq(D.T, force.ravel())[0]
    if u is found:
        rest = rest[cantilever.free.ravel()]
    assert np.linalg.norm(rest) < 1e-6 * np.linalg.norm(in_space.force(straight))
    assert in_space.energy(found) < in_space.energy(straight)


def test_small_ones_of_a_mode_are_the_mode(reduced, examples):
    """A mode is an equilibrium already, but for what grows with the square of its size."""
    bed = make_testbed(reduced, sp.ExampleDamping(sp.Rayleigh(mass=0.1), examples), relaxed=True)
    off = [bed.start_shape(0, start) - start * bed._X[0] for start in (1e-3, 2e-3)]
    assert np.linalg.norm(off[0]) < 1e-4 * np.linalg.norm(1e-3 * bed._X[0])
    assert off[1] == pytest.approx(4 * off[0], abs=0.01 * np.abs(off[1]).max())


def test_under_gravity(cantilever, examples):
    down = (0.0, 0.0, -1.0)
    rest = sp.static_shape(cantilever, gravity=down)
    damping = sp.ExampleDamping(sp.Rayleigh(mass=1.0), examples[:1], about=rest)
    bed = make_testbed(cantilever, damping, gravity=down, relaxed=True)
    u = bed.start_shape(0, 0.5)
    _, duals = examples_on(cantilever, damping)
    assert np.vdot(duals[0], u - rest) == pytest.approx(0.5)
    test = bed.unload(damping, 0, 0.5)
    assert test.oscillates
