"""Rayleigh damping: its functions, its decay, its coefficients."""

from __future__ import annotations

import numpy as np
import pytest
from tests.damping.derivatives import (
    assert_semidefinite,
    assert_series_ends,
    matrix_of,
)
from tests.helpers import (
    EPS,
    MESH_NAMES,
    large_deformation,
    simulate,
    small_mesh,
    soft,
)
from tests.refusals import refusals

import supple as sp
from supple.bodies.shape import Shape
from supple.materials import MATERIALS

every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
every_mesh = pytest.mark.parametrize("mesh_name", MESH_NAMES)
REST, CURRENT = sp.StiffnessAt.REST, sp.StiffnessAt.CURRENT
MODELS = {
    "mass": sp.Rayleigh(mass=0.7),
    "rest": sp.Rayleigh(stiffness=0.02, at=REST),
    "current": sp.Rayleigh(stiffness=0.02, at=CURRENT),
    "both": sp.Rayleigh(mass=0.7, stiffness=0.02),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def bound_at(model, material, mesh_name, inverted=False):
    mesh = small_mesh(mesh_name)
    body = sp.Body(mesh, soft(material))
    shape = Shape(body, large_deformation(mesh, inverted=inverted))
    return body, shape, model.bind(body)


@every_model
@every_material
@every_mesh
def test_damping_derivatives(model, material, mesh_name):
    body, shape, bound = bound_at(model, material, mesh_name)
    v, d = np.random.default_rng(0).normal(size=(2, body.n_vertices, 3))
    assert_series_ends(body, bound, shape, v, d)


@every_material
@every_mesh
@pytest.mark.parametrize("name", MODELS)
def test_takes_power(material, mesh_name, name):
    """v·∇₂R ≥ 0 for every velocity at every shape, however deformed."""
    inverted = material.survives_inversion
    body, shape, bound = bound_at(MODELS[name], material, mesh_name, inverted)
    for v in np.random.default_rng(1).normal(size=(10, body.n_vertices, 3)):
        assert np.vdot(v, bound.evaluate(shape, v)[1]) > 0
    values = np.linalg.eigvalsh(matrix_of(body, bound, shape, v))
    assert values[0] >= -len(values) * EPS * values[-1]


@every_material
@every_mesh
def test_current_damping_spares_rigid_motion(material, mesh_name):
    """A body that spins and travels feels nothing, however it is deformed."""
    body, shape, bound = bound_at(MODELS["current"], material, mesh_name)
    rigid = np.cross([1.0, -2.0, 0.5], body.mesh.vertices + shape.u) + np.array([3.0, 0, 1])
    v = np.random.default_rng(1).normal(size=rigid.shape)
    deforming = bound.evaluate(shape, v)[1]
    force = bound.evaluate(shape, rigid)[1]
    assert np.abs(force).max() <= 1e4 * EPS * np.abs(deforming).max() * np.abs(rigid).max()


def test_compressed_body_gains_nothing():
    """Half as long as at rest: K(u) has negative eigenvalues, and C(u) has none."""
    mesh = sp.TetMesh.box((1, 0.2, 0.2), (8, 2, 2))
    body = sp.Body(mesh, soft(sp.StVK))
    shape = Shape(body, mesh.vertices * [-0.5, 0.0, 0.0])
    K = np.linalg.eigvalsh(body.stiffness(shape.u).toarray())
    assert K[0] < -0.01 * K[-1]
    assert_semidefinite(matrix_of(body, MODELS["current"].bind(body), shape, 0 * shape.u))


@every_material
def test_spin_of_a_stressed_body_is_kept(material):
    """A bar that spins so fast that it is stretched keeps its angular momentum."""
    mesh = sp.TetMesh.box((1, 0.2, 0.2), (4, 1, 1))
    body = sp.Body(mesh, soft(material, young=1e4))
    sim = sp.Simulation(body, damping=sp.Rayleigh(stiffness=0.05), integrator=sp.RK4(), dt=2e-4)
    sim.state.v = np.cross([0.0, 0.0, 6.0], mesh.vertices - mesh.vertices.mean(axis=0))
    motion = sim.run(0.2)
    L = motion.angular_momentum
    assert np.abs(L - L[0]).max() <= 1e-9 * np.abs(L[0]).max()
    assert motion.dissipated[-1] > 0


@pytest.mark.parametrize("at", [REST, CURRENT], ids=["rest", "current"])
def test_coefficients_by_region_and_by_cell(at):
    """Vertices beside the region feel nothing, and the same for all cells is one for all."""
    mesh = small_mesh("tet")
    left = mesh.cells_where(x=(None, 0.5))
    body = sp.Body(mesh.with_region("left", left), soft(sp.StVK))
    v = np.random.default_rng(2).normal(size=(body.n_vertices, 3))
    shape, cells = Shape(body, large_deformation(mesh, inverted=False)), np.ones(mesh.n_cells)
    some, even, whole = (
        sp.Rayleigh(mass=mass, stiffness=stiffness, at=at).bind(body).evaluate(shape, v)[1]
        for mass, stiffness in (
            ({"left": 0.5}, {"left": 0.1}),
            (0.5 * cells, 0.1 * cells),
            (0.5, 0.1),
        )
    )
    assert not some[np.setdiff1d(np.arange(body.n_vertices), mesh.cells[left])].any()
    np.testing.assert_allclose(even, whole, atol=1e3 * EPS * np.abs(whole).max())


# -- at quadrature points --------------------------------------------------------------------------


@every_material
@every_mesh
def test_cells_and_the_rest_make_the_whole(material, mesh_name):
    """R over the cells, and the mass part beside, to rounding."""
    body, shape, whole = bound_at(MODELS["both"], material, mesh_name, material.survives_inversion)
    parts = whole.in_cells(), whole.outside_cells()
    v = np.random.default_rng(3).normal(size=(body.n_vertices, 3))
    R, force = whole.evaluate(shape, v)
    found = [part.evaluate(shape, v) for part in parts]
    assert sum(R for R, _ in found) == pytest.approx(R, rel=1e-10)
    total = sum(force for _, force in found)
    np.testing.assert_allclose(total, force, atol=1e-11 * np.abs(force).max())
    for definite in (False, True):
        matrices = [matrix_of(body, each, shape, v, definite=definite) for each in (whole, *parts)]
        size = np.abs(matrices[0]).max()
        np.testing.assert_allclose(matrices[1] + matrices[2], matrices[0], atol=1e-12 * size)
    assert_semidefinite(matrices[1])


@every_material
@every_mesh
def test_derivative_by_shape(material, mesh_name):
    """∇₁R is the derivative of R by u."""
    body, shape, bound = bound_at(MODELS["current"], material, mesh_name)
    v = np.random.default_rng(4).normal(size=(body.n_vertices, 3))
    cells = bound.in_cells()
    slope = np.vdot(cells.shape_gradient(shape, v), v)
    h = 1e-5
    R = [cells.evaluate(Shape(body, shape.u + step * v), v)[0] for step in (-2 * h, -h, h, 2 * h)]
    difference = (R[0] - 8 * R[1] + 8 * R[2] - R[3]) / (12 * h)
    assert slope == pytest.approx(difference, rel=1e-6)
    assert not cells.shape_gradient(shape, 0 * v).any()


def test_what_is_in_cells():
    """Only the current stiffness is a sum over quadrature points of F and Ḟ."""
    body = sp.Body(small_mesh("tet"), soft(sp.StVK))
    inside = {name: model.bind(body).in_cells() is not None for name, model in MODELS.items()}
    assert inside == {"mass": False, "rest": False, "current": True, "both": True}
    outside = {name: model.bind(body).outside_cells() for name, model in MODELS.items()}
    assert [name for name, found in outside.items() if found is None] == ["current"]
    nothing = sp.Rayleigh().bind(body)
    assert nothing.in_cells() is None
    assert nothing.outside_cells() is None


# -- decay -----------------------------------------------------------------------------------

BEAM = sp.TetMesh.box((1, 0.2, 0.2), (4, 1, 1))
BODY = sp.Body(BEAM, soft(sp.StVK), fixed=BEAM.where(x=0))
MODES = sp.vibration_modes(BODY, 3)


def measured_ratio(damping: sp.Rayleigh, mode: int, steps: int) -> float:
    """ζ from the amplitude that a small released mode has left after four periods.

    Of q = A e^{−ζωt} cos(ω_d t + φ) the amplitude is A² e^{−2ζωt} = q² + ((q̇ + ζωq)/ω_d)².
    """
    w, phi = 2 * np.pi * MODES.frequencies[mode], MODES.shapes[mode]
    zeta = expected_ratio(damping, w)
    wd = w * np.sqrt(1 - zeta**2)
    time = 4 * 2 * np.pi / wd
    sim = simulate(BODY, sp.Trapezoidal(), np.full(4 * steps, time / (4 * steps)),
                   u=1e-7 * phi, v=-1e-7 * zeta * w * phi, damping=damping)  # fmt: skip
    q, speed = (np.vdot(phi, BODY.mass_times(x)) / 1e-7 for x in (sim.state.u, sim.state.v))
    return -np.log(np.hypot(q, (speed + zeta * w * q) / wd)) / (w * time)


def expected_ratio(damping: sp.Rayleigh, w: float) -> float:
    return 0.5 * (damping.mass / w + damping.stiffness * w)


@pytest.mark.parametrize("mode", [0, 2])
@pytest.mark.parametrize("at", [REST, CURRENT], ids=["rest", "current"])
@pytest.mark.parametrize(
    ("mass", "stiffness"), [(0.1, 0), (0, 0.1), (0.06, 0.04)], ids=["mass", "stiffness", "both"]
)
def test_decay_has_the_ratio_of_theory(mode, at, mass, stiffness):
    """ζ = ½ (α/ω + β ω), up to the trapezoidal rule's own error, (ω dt)²/4 of it."""
    w = 2 * np.pi * MODES.frequencies[mode]
    damping = sp.Rayleigh(mass=mass * w, stiffness=stiffness / w, at=at)
    errors = [
        abs(measured_ratio(damping, mode, n) / expected_ratio(damping, w) - 1) for n in (40, 80)
    ]
    # ln R(hλ) = hλ (1 + (hλ)²/12 + …), and Re λ³ = 3ζω³ for small ζ: a quarter of (ω dt)².
    assert np.log2(errors[0] / errors[1]) > 2 - 0.1
    assert errors[1] < 1.1 * (2 * np.pi / 80) ** 2 / 4


def test_from_ratios_gives_the_ratios():
    frequencies, ratios = (1.5, 9.0), (0.02, 0.05)
    damping = sp.Rayleigh.from_ratios(frequencies, ratios, at=REST)
    assert damping.at is REST
    for f, zeta in zip(frequencies, ratios, strict=True):
        assert abs(expected_ratio(damping, 2 * np.pi * f) - zeta) <= 10 * EPS


def test_mass_damping_terminal_velocity():
    """A falling body in thick air: v = g/α (1 − e^{−αt})."""
    body = sp.Body(BEAM, soft(sp.StVK))
    g, alpha, t = 9.81, 4.0, 0.5
    errors = []
    for count in (20, 40):
        sim = simulate(body, sp.TRBDF2(), np.full(count, t / count), gravity=(0, 0, -g),
                       damping=sp.Rayleigh(mass=alpha))  # fmt: skip
        errors.append(np.abs(sim.state.v[:, 2] + g / alpha * (1 - np.exp(-alpha * t))).max())
        assert np.ptp(sim.state.v[:, 2]) <= 1e-10
    assert np.log2(errors[0] / errors[1]) > 2 - 0.15


@every_material
@pytest.mark.parametrize("beta", [0.03, 0.1, 1.0])
def test_strong_current_damping_steps(material, beta):
    """Creep: c_v β is above one, so the matrix is nearly all damping."""
    mesh = sp.TetMesh.box((1, 0.2, 0.2), (8, 2, 2))
    body = sp.Body(mesh, soft(material, young=1e6, poisson=0.4), fixed=mesh.where(x=0))
    sim = sp.Simulation(body, damping=sp.Rayleigh(mass=0.1, stiffness=beta), gravity=(0, 0, -9.81))
    sim.state.v = mesh.vertices * [0, 0, 1.0]
    motion = sim.run(0.25)
    total = motion.kinetic + motion.elastic + motion.gravitational
    assert total[-1] < total[0]


test_bad_damping_named = refusals(
    (lambda: sp.Rayleigh(mass=-1.0), "mass"),
    (lambda: sp.Rayleigh(mass=np.nan), "mass"),
    (lambda: sp.Rayleigh(mass="much"), "mass"),
    (lambda: sp.Rayleigh(stiffness=[0.1, -0.1]), "stiffness"),
    (lambda: sp.Rayleigh(stiffness={"left": -1}), "stiffness"),
    (lambda: sp.Rayleigh(stiffness=[[0.1]]), "stiffness"),
    (lambda: sp.Rayleigh(at="rest"), "at"),
    (lambda: sp.Rayleigh(stiffness=[0.1, 0.1]).bind(BODY), "stiffness"),
    (lambda: sp.Rayleigh(mass=[0.1, 0.1]).bind(BODY), "mass"),
    (lambda: sp.Rayleigh(mass={"nose": 0.1}).bind(BODY), "nose"),
    (lambda: sp.Rayleigh.from_ratios((1, 1), (0.1, 0.1)), "frequencies"),
    (lambda: sp.Rayleigh.from_ratios((-1, 1), (0.1, 0.1)), "frequencies"),
    (lambda: sp.Rayleigh.from_ratios((1, np.nan), (0.1, 0.1)), "frequencies"),
    (lambda: sp.Rayleigh.from_ratios((1, 6), (0.01, 0.9)), "ratios"),
    (lambda: sp.Rayleigh.from_ratios((1, 6), (np.nan, 0.1)), "ratios"),
    (lambda: sp.Rayleigh.from_ratios((1, 6), (0.1,)), "ratio"),
    (lambda: sp.Rayleigh.from_ratios("low", (0.1, 0.1)), "frequencies"),
)
