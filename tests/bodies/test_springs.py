"""Networks of springs: energy, force and stiffness, closed forms, simulation, files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.helpers import EPS, killed
from tests.refusals import refusals

import supple as sp

STVK = sp.StVK(young=1e6, poisson=0.3)


def tangle(seed: int = 0) -> sp.SpringNetwork:
    """Springs of many lengths and strengths between vertices in general position, free to fly."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (7, 3))
    pairs = np.array([(i, j) for i in range(7) for j in range(i) if (i + 2 * j) % 5])
    L = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1) * rng.uniform(0.8, 1.2, len(pairs))
    mesh = sp.SpringMesh(X, pairs, rest_lengths=L)
    k = rng.uniform(50, 200, len(pairs))
    return sp.SpringNetwork(mesh, stiffness=k, mass=rng.uniform(0.5, 2.0, 7))


def bent(body: sp.SpringNetwork, seed: int = 1) -> np.ndarray:
    """Displacements with springs both far longer and far shorter than at rest."""
    u = 0.5 * np.random.default_rng(seed).normal(size=body.mesh.vertices.shape)
    strain = body.stretched(u).lengths / body.mesh.rest_lengths - 1
    assert strain.min() < -0.3
    assert strain.max() > 0.5
    return u


# -- energy and its derivatives ---------------------------------------------------------------


def test_definite_stiffness_clamps_pushing_springs_only():
    body = tangle()
    u = bent(body)
    exact, definite = (body.stiffness(u, definite=d).toarray() for d in (False, True))
    values = np.linalg.eigvalsh(definite)
    assert np.linalg.eigvalsh(exact)[0] < -1.0
    assert values[0] >= -20 * EPS * values[-1]
    pulling = 3.0 * body.mesh.vertices  # every spring much longer than at rest
    exact, definite = (body.stiffness(pulling, definite=d).toarray() for d in (False, True))
    assert np.array_equal(exact, definite)


def test_energy_of_one_spring():
    L, k = 2.0, 100.0
    body = sp.SpringNetwork(sp.SpringMesh.chain((0, 0, 0), (L, 0, 0), 1), stiffness=k, mass=1.0)
    u = np.array([(0.0, 0.0, 0.0), (1.0, 4.0, 0.0)])  # 5 m long: ε = 1.5
    assert body.energy(u) == pytest.approx(0.5 * L * k * 1.5**2, rel=1e-14)
    assert np.allclose(body.force(u)[1], k * 1.5 * np.array([0.6, 0.8, 0.0]), rtol=1e-14)
    assert np.allclose(body.force(u).sum(axis=0), 0.0, atol=1e-13)


def test_stiffness_does_not_depend_on_how_a_line_is_cut():
    pulls = []
    for count in (1, 4):
        mesh = sp.SpringMesh.chain((0, 0, 0), (2, 0, 0), count)
        body = sp.SpringNetwork(mesh, stiffness=100.0, mass=1.0)
        pulls.append(body.force(0.25 * mesh.vertices)[-1])
    assert np.allclose(pulls, [(25.0, 0.0, 0.0)] * 2, rtol=1e-13)


def test_collapsed_spring_has_finite_forces_and_opens_again():
    mesh = sp.SpringMesh.chain((0, 0, 0), (1, 0, 0), 1)
    body = sp.SpringNetwork(mesh, stiffness=10.0, mass=1.0, fixed=[0])
    u = np.array([(0.0, 0.0, 0.0), (-1.0, 0.0, 0.0)])
    found = body.evaluate(u, order=2, definite=True)
    assert found.energy == pytest.approx(5.0)
    assert not found.gradient.any()  # no direction is better than another
    assert np.isfinite(body.evaluate(u, order=2).stiffness).all()
    assert (found.stiffness == 0).all()
    sim = sp.Simulation(body, dt=1e-2)
    sim.state.u, sim.state.v = u, [(0, 0, 0), (0, 0.1, 0)]
    motion = sim.run(0.5)
    assert motion.displacements[-1, 1, 1] > 0.2  # pushed out the way it was going


# -- closed forms in motion and at rest -------------------------------------------------------


def test_frequency_along_a_spring():
    """A mass on a spring: ω² = k/(L m)."""
    L, k, m = 2.0, 100.0, 0.5
    mesh = sp.SpringMesh.chain((0, 0, 0), (0, 0, L), 1)
    body = sp.SpringNetwork(mesh, stiffness=k, mass=m, fixed=[0])
    omega = np.sqrt(k / (L * m))
    sim = sp.Simulation(body, integrator=sp.Trapezoidal(), dt=2 * np.pi / omega / 200)
    sim.state.u = [(0, 0, 0), (0, 0, 0.1)]
    motion = sim.run(2 * np.pi / omega)
    assert np.abs(motion.displacements[:, 1, 2] - 0.1 * np.cos(omega * motion.times)).max() < 1e-4


def test_tight_string_with_a_load_in_the_middle():
    """Two springs of strain ε hold F = 2 k ε sin θ; statics finds the sag."""
    L, k, sag = 0.8, 500.0, 0.3
    mesh = sp.SpringMesh([(-1, 0, 0), (0, 0, 0), (1, 0, 0)], [(0, 1), (1, 2)], rest_lengths=L)
    body = sp.SpringNetwork(mesh, stiffness=k, mass=1.0, fixed=[0, 2])
    length = np.hypot(1.0, sag)
    F = 2 * k * (length / L - 1) * sag / length
    u = sp.static_shape(body, body.point_force([1], (0, 0, -F)))
    assert np.allclose(u[1], (0, 0, -sag), atol=1e-7)


def test_vibrations_of_a_tight_string():
    """Beads on a string of tension T, across it: ω_j = 2 √(T/(m l)) sin(j π / 2(N + 1))."""
    k, m, L, count = 50.0, 0.1, 0.08, 10
    mesh = sp.SpringMesh.chain((0, 0, 0), (1, 0, 0), count)
    tight = sp.SpringMesh(mesh.vertices, mesh.cells, rest_lengths=L)
    body = sp.SpringNetwork(tight, stiffness=k, mass=m, fixed=[0, count])
    T, l = k * (0.1 / L - 1), 0.1
    w = 2 * np.sqrt(T / (m * l)) * np.sin(np.array([1, 1, 2, 2]) * np.pi / (2 * count))
    assert np.allclose(sp.vibration_modes(body, 4).frequencies, w / (2 * np.pi), rtol=1e-9)


def test_straight_chain_has_five_rigid_motions():
    mesh = sp.SpringMesh.chain((0, 0, 0), (1, 1, 0), 3)
    count = [
        sp.SpringNetwork(mesh, stiffness=1.0, mass=1.0, fixed=fixed).free_rigid_motions
        for fixed in (None, [0], [0, 3])
    ]
    assert count == [5, 2, 0]


def test_mass_damping_by_spring_is_the_mean_at_a_vertex():
    mesh = sp.SpringMesh.chain((0, 0, 0), (2, 0, 0), 2)
    body = sp.SpringNetwork(mesh, stiffness=1.0, mass=[1.0, 2.0, 4.0])
    diagonal = body.scaled_mass(np.array([1.0, 3.0]))[body.pattern.indptr[:-1]]
    assert diagonal.tolist() == [1.0, 4.0, 12.0]
    assert body.total_mass == 7.0
    assert np.allclose(body.weight((0, 0, -2)).sum(axis=0), (0, 0, -14))


# -- meshes ----------------------------------------------------------------------------------


def test_meshes_of_springs():
    chain = sp.SpringMesh.chain((0, 0, 0), (0, 0, 3), 3)
    assert chain.edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert chain.where(z=3).tolist() == [3]
    assert chain.cells_where(z=(1, 2)).tolist() == [1]
    named = chain.with_region("top", [2])
    assert named.region("top").tolist() == [2]
    assert np.array_equal(chain.scaled(2.0).rest_lengths, [2.0, 2.0, 2.0])
    again = pickle.loads(pickle.dumps(named))
    assert np.array_equal(again.rest_lengths, named.rest_lengths)
    assert again.regions.keys() == named.regions.keys()


def test_mesh_from_a_surface_has_each_edge_once():
    corners = [(5, 5, 5), (0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]  # the first is of no triangle
    mesh = sp.SpringMesh.from_surface(sp.Surface(corners, [(1, 2, 3), (1, 3, 4)]))
    assert mesh.n_vertices == 4
    assert mesh.edges.tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]
    assert np.allclose(mesh.rest_lengths, [1, np.sqrt(2), 1, 1, 1])


test_bad_input_is_refused = refusals(
    (lambda: sp.SpringMesh([(0, 0, 0), (0, 0, 0)], [(0, 1)]), "spring 0 joins .* same place"),
    (lambda: sp.SpringMesh(np.eye(3), [(0, 0), (1, 2)]), "spring 0 joins vertices 0 and 0"),
    (lambda: sp.SpringMesh(np.eye(3), [(0, 1)]), "vertex 2 belongs to no spring"),
    (lambda: sp.SpringMesh(np.eye(3), [(0, 1), (1, 3)]), "numbered 0 to 2"),
    (lambda: sp.SpringMesh(np.eye(2, 3), [(0, 1)], rest_lengths=0.0), "above zero"),
    (lambda: sp.SpringMesh(np.eye(2, 3), [(0, 1)], rest_lengths=[1, 2]), "shape"),
    (lambda: sp.SpringMesh.chain((0, 0, 0), (1, 0, 0), 0), "count=0"),
    (lambda: sp.SpringMesh.from_surface(7), "such as read_surface"),
    (lambda: network(stiffness=0), "stiffness=0: give a number above zero"),
    (lambda: network(stiffness=[1, 2, 3]), "or 2 of them"),
    (lambda: network(mass=[1, -1, 1]), "mass="),
    (lambda: network(fixed=[5]), "vertex 5"),
    (lambda: network(supports=3), "supports=3"),
    (lambda: sp.SpringNetwork(sp.TetMesh.box((1, 1, 1), (1, 1, 1)), stiffness=1, mass=1), "Sp"),
    (lambda: sp.Body(sp.SpringMesh.chain((0, 0, 0), (1, 0, 0), 1), STVK), "Tet"),
    (lambda: sp.write_mesh(network().mesh, "a.vtk"), "writes solids"),
    (lambda: sp.static_shape(network(fixed=[0])), "leave 2 rigid motions free"),
)


def network(**changes: object) -> sp.SpringNetwork:
    mesh = sp.SpringMesh.chain((0, 0, 0), (2, 0, 0), 2)
    return sp.SpringNetwork(mesh, **({"stiffness": 10.0, "mass": 0.1} | changes))  # type: ignore[arg-type]


# -- files -----------------------------------------------------------------------------------


def swinging(rule: sp.Integrator | None = None) -> sp.Simulation:
    sim = sp.Simulation(
        network(fixed=[0]), damping=sp.SpringStrainRate(matched=0.02), integrator=rule,
        gravity=(0, 0, -9.81), dt=0.01,
    )  # fmt: skip
    sim.state.v = [(0, 0, 0), (0, 1, 0), (0, 2, 0)]
    return sim


def test_recorded_motion_returns_with_its_mesh(tmp_path):
    motion = swinging().run(0.1, record=tmp_path / "a.motion")
    assert isinstance(motion.mesh, sp.SpringMesh)
    assert np.array_equal(motion.mesh.rest_lengths, [1.0, 1.0])
    assert np.array_equal(motion.displacements, swinging().run(0.1).displacements)
    motion.save(tmp_path / "b.motion")
    assert len(sp.Motion.load(tmp_path / "b.motion")[:5].joined(motion[5:])) == len(motion)


def test_stopped_run_resumes_as_if_it_had_not(tmp_path):
    rule = sp.BDF2()
    path = killed(swinging(rule), 0.2, tmp_path / "a.motion", 7)
    resumed = swinging(rule).run(0.2, record=path, resume=True)
    whole = swinging(rule).run(0.2)
    assert len(resumed) == len(whole) == 21
    # The linear solver starts afresh on resuming: equal within Newton's tolerance.
    assert np.abs(resumed.displacements - whole.displacements).max() < 1e-7
