"""Motions of reduced models, with the energies and momenta of full ones."""

from __future__ import annotations

import numpy as np
from tests.reduction.conftest import complete_basis, two_part_beam
from tests.refusals import refused

import supple as sp
from supple.dynamics.motion import Motion

NAMES = ("kinetic", "elastic", "gravitational", "dissipated")
OPTIONS = {
    "damping": sp.Rayleigh(mass=0.4, stiffness=2e-3),
    "integrator": sp.TRBDF2(),
    "dt": 1 / 100,
    "gravity": (1.0, 2.0, -9.81),
}


def agree(one: Motion, other: Motion, rtol: float) -> None:
    assert np.allclose(one.times, other.times)
    for name in (*NAMES, "displacements", "linear_momentum", "angular_momentum"):
        expected = getattr(other, name)
        assert np.abs(getattr(one, name) - expected).max() <= rtol * np.abs(expected).max(), name


def test_a_complete_basis_gives_the_full_motion():
    body = two_part_beam(far=sp.StVK(young=1e5, poisson=0.4, density=2000))
    model = sp.reduce(body, complete_basis(body), regions=["far"])
    live = model.simulation(**OPTIONS, solver=sp.DenseNewton(tolerance=1e-11, max_iterations=30))
    full = sp.Simulation(body, **OPTIONS, solver=sp.Newton(tolerance=1e-11))
    agree(live.run(0.3, every=4), full.run(0.3, every=4), 1e-7)


def test_edited_densities_count():
    body = two_part_beam(far=sp.StVK(young=1e5, poisson=0.4, density=300))
    basis = sp.modal_derivative_basis(two_part_beam(), modes=5, size=9)
    edited = sp.reduce(two_part_beam(), basis, regions=["far"]).edited("far", density=300.0)
    motions = [m.simulation(**OPTIONS).run(0.1) for m in (edited, sp.reduce(body, basis))]
    agree(*motions, 1e-10)


def test_a_thrown_body_gives_its_energy_up():
    body = sp.Body(two_part_beam().mesh, sp.StVK(young=1e5, poisson=0.4))
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=4, size=8))
    live = model.simulation(**{**OPTIONS, "dt": 1e-3})
    live.spin, live.velocity = (1.0, 4.0, 2.0), (0.0, 1.0, 3.0)
    motion = live.run(0.5, every=10)
    totals = sum(getattr(motion, name) for name in NAMES)
    assert motion.dissipated[-1] > 0.01 * motion.kinetic[0]
    assert np.abs(totals - totals[0]).max() < 2e-3 * motion.dissipated[-1]


def test_frames_are_kept_as_asked(model):
    seen: list[int] = []
    live = model.simulation(gravity=(0, 0, -9.81))
    motion = live.run(0.05, every=20, progress=lambda done, total, what: seen.append(done))
    assert np.allclose(motion.times, [0.0, 0.02, 0.04, 0.05])
    assert seen == list(range(1, 51))
    refused("duration", live.run, 0.0)
    refused("every", live.run, 0.1, every=0)


def test_a_motion_is_exported_with_the_skin(beam, basis, tmp_path):
    surface = sp.Surface(np.array([[0.9, 0.1, 0.1], [0.8, 0.1, 0.1], [0.9, 0.2, 0.1]]), [[0, 1, 2]])
    model = sp.reduce(beam, basis, skin=sp.Embedding(beam.mesh, surface))
    embedding = model.skin_embedding()
    assert embedding is not None
    motion = model.simulation(gravity=(0, 0, -9.81)).run(0.05, every=10)
    sp.export_motion(motion, tmp_path / "skin.glb", skin=embedding)
    assert (tmp_path / "skin.glb").stat().st_size > 0
    live = model.simulation()
    live.q = np.linspace(-0.1, 0.1, model.size)
    assert np.allclose(embedding.deform(live.displacements()), live.skin_vertices(), atol=1e-14)
    assert sp.reduce(beam, basis).skin_embedding() is None
