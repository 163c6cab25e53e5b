"""Saint Venant–Kirchhoff with fibres: moduli along axes, against independent formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.helpers import EPS, affine, remainder_slopes, rotation, small_mesh, unpacked
from tests.refusals import refusals, refused

import supple as sp
from supple.bodies.shape import Shape
from supple.materials.moduli import moduli_along_axes

YOUNG, RATIOS, SHEAR = (3e5, 1e5, 5e4), (0.4, 0.3, 0.1), (6e4, 3e4, 4e4)  # 12, 23, 31
AXES = rotation(8)
WOOD = sp.OrthotropicStVK(young=YOUNG, poisson=RATIOS, shear=SHEAR, axes=AXES)
FIBRES = sp.OrthotropicStVK.along_fibres((1, 2, 0), young=1e4, ratio=30, poisson=0.35)
every_fibred = pytest.mark.parametrize("material", [WOOD, FIBRES], ids=["orthotropic", "fibres"])


def evaluate(material: sp.Material, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ψ (m,), P (m, 3, 3) and ∂P/∂F (m, 9, 9) at deformation gradients (m, 3, 3)."""
    F = np.ascontiguousarray(F)[:, None]
    m = len(F)
    psi, P, A = np.empty((m, 1)), np.empty((m, 1, 3, 3)), np.empty((m, 1, 6, 3, 3))
    lam, mu = (np.full(m, x[0]) for x in material.lame(np.arange(1)))
    material.evaluate(F, lam, mu, psi, P, A, 2, *material.extra(np.arange(1)))
    return psi[:, 0], P[:, 0], unpacked(A[:, 0])


def gradients(count: int = 40, seed: int = 0) -> np.ndarray:
    """F with stretches of 0.3 … 2.5, half of them inside out."""
    rng = np.random.default_rng(seed)
    sigma = rng.uniform(0.3, 2.5, (count, 3))
    sigma[::2, 2] *= -1
    U, V = (Rotation.random(count, rng=rng).as_matrix() for _ in range(2))
    return np.einsum("mia,ma,mja->mij", U, sigma, V)


def twin(F: np.ndarray) -> float:
    """ψ = ½ E:S along the axes, S from the textbook's compliance."""
    E = AXES @ (0.5 * (F.T @ F - np.eye(3))) @ AXES.T
    nu21, nu32, nu13 = (
        RATIOS[0] * YOUNG[1] / YOUNG[0],
        RATIOS[1] * YOUNG[2] / YOUNG[1],
        RATIOS[2] * YOUNG[0] / YOUNG[2],
    )
    compliance = np.array(
        [
            [1 / YOUNG[0], -nu21 / YOUNG[1], -RATIOS[2] / YOUNG[2]],
            [-RATIOS[0] / YOUNG[0], 1 / YOUNG[1], -nu32 / YOUNG[2]],
            [-nu13 / YOUNG[0], -RATIOS[1] / YOUNG[1], 1 / YOUNG[2]],
        ]
    )
    direct = np.linalg.solve(compliance, np.diag(E))
    shear = SHEAR[0] * (2 * E[0, 1]) ** 2 + SHEAR[1] * (2 * E[1, 2]) ** 2
    return float(0.5 * (direct @ np.diag(E) + shear + SHEAR[2] * (2 * E[2, 0]) ** 2))


def test_energy_equals_numpy_twin():
    F = gradients()
    np.testing.assert_allclose(evaluate(WOOD, F)[0], [twin(f) for f in F], rtol=1e-12)


@every_fibred
def test_derivatives_taylor_slopes(material):
    """The remainders of ψ after two and three terms, and of P after two: slopes 2, 3 and 2."""
    rng = np.random.default_rng(3)
    steps = 2.0 ** -np.arange(7, 11)
    for f in gradients(12):
        D = rng.normal(size=(3, 3))
        D /= np.linalg.norm(D)
        psi, P, A = (x[0] for x in evaluate(material, f[None]))
        along, curved = np.vdot(P, D), (A @ D.ravel()).reshape(3, 3)

        def left(h, power, f=f, D=D, psi=psi, P=P, along=along, curved=curved):
            there, stress, _ = (x[0] for x in evaluate(material, (f + h * D)[None]))
            if power == 2:
                return np.linalg.norm(stress - P - h * curved)
            return abs(there - psi - h * along - 0.5 * h * h * np.vdot(D, curved))

        for power in (2, 3):
            assert remainder_slopes(lambda h, p=power, left=left: left(h, p), steps)[-1] > (
                power - 0.2
            )


@every_fibred
def test_derivative_is_symmetric_and_torque_free(material):
    F = gradients()
    _, P, A = evaluate(material, F)
    scale = np.linalg.norm(A, axis=(1, 2))
    assert (np.linalg.norm(A - A.transpose(0, 2, 1), axis=(1, 2)) <= 20 * EPS * scale).all()
    tau = P @ F.transpose(0, 2, 1)
    bound = 1e-13 * np.abs(tau).max(axis=(1, 2))
    assert (np.abs(tau - tau.transpose(0, 2, 1)).max(axis=(1, 2)) <= bound).all()


@every_fibred
def test_energy_is_objective_and_knows_its_axes(material):
    """Turned in space, nothing changes; half turns about the axes do nothing, others do."""
    F = gradients()
    psi = evaluate(material, F)[0]
    np.testing.assert_allclose(evaluate(material, rotation(1) @ F)[0], psi, rtol=1e-12)
    for axis in np.asarray(material.axes):
        half = Rotation.from_rotvec(np.pi * axis).as_matrix()
        np.testing.assert_allclose(evaluate(material, F @ half)[0], psi, rtol=1e-11)
    assert not np.allclose(evaluate(material, F @ rotation(1))[0], psi, rtol=1e-2)


def test_transversely_isotropic_about_the_fibres():
    turn = Rotation.from_rotvec(0.7 * np.asarray(FIBRES.axes)[0]).as_matrix()
    F = gradients()
    np.testing.assert_allclose(evaluate(FIBRES, F @ turn)[0], evaluate(FIBRES, F)[0], rtol=1e-11)


def test_axes_turn_the_material():
    """ψ with axes Q at F is ψ along x, y and z at F Qᵀ."""
    plain = sp.OrthotropicStVK(young=YOUNG, poisson=RATIOS, shear=SHEAR)
    F = gradients()
    np.testing.assert_allclose(evaluate(WOOD, F)[0], evaluate(plain, F @ AXES.T)[0], rtol=1e-12)


@pytest.mark.parametrize("poisson", [-0.3, 0.0, 0.3, 0.49])
def test_three_equal_moduli_are_stvk(poisson):
    three = sp.OrthotropicStVK(young=(1e5,) * 3, poisson=poisson, axes=AXES)
    same = sp.StVK(young=1e5, poisson=poisson)
    assert not three.is_isotropic  # it takes the way of the others
    np.testing.assert_allclose(three.lame([0]), same.lame(np.arange(1)), rtol=1e-13, atol=1e-9)
    for a, b in zip(evaluate(three, gradients()), evaluate(same, gradients()), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-13 * np.abs(b).max())


def test_one_modulus_is_stvk_to_the_bit():
    one, same = (m(young=1e5, poisson=0.3) for m in (sp.OrthotropicStVK, sp.StVK))
    assert one.is_isotropic
    assert one.extra(np.arange(3)) == ()
    for a, b in zip(evaluate(one, gradients()), evaluate(same, gradients()), strict=True):
        np.testing.assert_array_equal(a, b)


def test_projection_equals_dense_eigenvalue_clamp():
    F = np.ascontiguousarray(gradients())[:, None]
    m = len(F)
    psi, P, A = np.empty((m, 1)), np.empty((m, 1, 3, 3)), np.empty((m, 1, 6, 3, 3))
    lam, mu = (np.full(m, x[0]) for x in WOOD.lame(np.arange(1)))
    WOOD.evaluate(F, lam, mu, psi, P, A, 2, *WOOD.extra(np.arange(1)))
    definite = A.copy()
    WOOD.make_definite(F, definite)
    full = unpacked(A[:, 0])
    values, vectors = np.linalg.eigh(full)
    expected = (vectors * np.maximum(values, 0)[:, None, :]) @ vectors.transpose(0, 2, 1)
    scale = np.linalg.norm(full, axis=(1, 2))
    error = np.linalg.norm(unpacked(definite[:, 0]) - expected, axis=(1, 2))
    assert (error <= 300 * EPS * scale).all()
    assert (values[:, 0] < 0).any()
    sound = values[:, 0] > 0
    np.testing.assert_array_equal(definite[sound], A[sound])


# -- a bar, as an engineer would test it ---------------------------------------------------


@pytest.mark.parametrize("axis", range(3))
def test_pulled_bar_has_its_moduli_and_ratios(axis):
    """A block pulled along an axis, free to slide on three faces: E_i and ν_ij come out."""
    mesh = sp.TetMesh.box((1.0, 0.8, 0.6), (2, 2, 2))
    held = mesh.vertices == 0.0  # each face in its own direction
    material = sp.OrthotropicStVK(young=YOUNG, poisson=RATIOS, shear=SHEAR)
    body = sp.Body(mesh, material, fixed=held)
    pull = np.zeros(3)
    pull[axis] = 1e-6 * YOUNG[axis]
    far = np.flatnonzero(mesh.vertices[:, axis] == mesh.vertices[:, axis].max())
    u = sp.static_shape(body, forces=body.surface_force(far, pull))
    strain = np.array([u[:, k].sum() / mesh.vertices[:, k].sum() for k in range(3)])
    ratios = np.array([[0, RATIOS[0], RATIOS[2] * YOUNG[0] / YOUNG[2]],
                       [RATIOS[0] * YOUNG[1] / YOUNG[0], 0, RATIOS[1]],
                       [RATIOS[2], RATIOS[1] * YOUNG[2] / YOUNG[1], 0]])  # fmt: skip
    expected = 1e-6 * (np.eye(3)[axis] - ratios[axis])
    np.testing.assert_allclose(strain, expected, rtol=0, atol=2e-11)


@pytest.mark.parametrize(
    ("plane", "G"), [((0, 1), SHEAR[0]), ((1, 2), SHEAR[1]), ((2, 0), SHEAR[2])]
)
def test_sheared_block_has_its_shear_moduli(plane, G):
    mesh = small_mesh("distorted brick")
    body = sp.Body(mesh, sp.OrthotropicStVK(young=YOUNG, poisson=RATIOS, shear=SHEAR))
    F = np.eye(3)
    F[plane] = 1e-4
    expected = 0.5 * G * 1e-8 * mesh.volume
    assert body.energy(affine(mesh, F)) == pytest.approx(expected, rel=1e-6)


def test_one_ratio_keeps_every_stiffness_stable():
    """ν_ij = ν √(E_i/E_j): definite for moduli that differ a thousandfold."""
    rng = np.random.default_rng(0)
    for nu in (-0.9, 0.0, 0.499):
        for young in 10 ** rng.uniform(2, 8, (20, 3)):
            made = sp.OrthotropicStVK(young=young, poisson=nu)
            C = moduli_along_axes(*made._constants(np.arange(1)))[0]
            root = np.sqrt(np.diag(C))
            assert np.linalg.eigvalsh(C / np.outer(root, root))[0] > 0
    assert made.lame(np.arange(1))[1] > 0


# -- cells ---------------------------------------------------------------------------------


def test_fields_of_fibres_are_as_regions():
    """A direction in every cell, against one material for each half."""
    mesh = sp.TetMesh.box((1.0, 0.4, 0.4), (4, 2, 2))
    left = mesh.cells_where(x=(None, 0.5))
    mesh = mesh.with_region("left", left)
    right = np.setdiff1d(np.arange(mesh.n_cells), left)
    mesh = mesh.with_region("right", right)
    a, b = np.array([1.0, 1, 0]), np.array([0.0, 1, 3])
    field = np.where(np.isin(np.arange(mesh.n_cells), left)[:, None], a, b)
    options = {"young": YOUNG, "poisson": 0.3}
    one = sp.Body(mesh, sp.OrthotropicStVK(axes=field, **options))
    two = sp.Body(mesh, {"left": sp.OrthotropicStVK(axes=a, **options),
                         "right": sp.OrthotropicStVK(axes=b, **options)})  # fmt: skip
    u = 0.05 * np.random.default_rng(0).normal(size=mesh.vertices.shape)
    np.testing.assert_allclose(one.force(u), two.force(u), rtol=1e-10, atol=1e-9)
    assert abs(one.stiffness(u) - two.stiffness(u)).max() < 1e-9 * abs(one.stiffness(u)).max()


def test_moduli_of_cells():
    mesh = sp.TetMesh.box((1.0, 0.4, 0.4), (2, 1, 1))
    n = mesh.n_cells
    young = np.linspace(1, 2, n)[:, None] * np.array(YOUNG)
    graded = sp.OrthotropicStVK(young=young, poisson=0.3, axes=AXES)
    u = 0.05 * np.random.default_rng(0).normal(size=mesh.vertices.shape)
    alone = [
        sp.Body(mesh, sp.OrthotropicStVK(young=row, poisson=0.3, axes=AXES)).evaluate(
            u, order=1, cell_factors=np.eye(n)[k]
        )
        for k, row in enumerate(young)
    ]
    body = sp.Body(mesh, graded)
    np.testing.assert_allclose(body.energy(u), sum(each.energy for each in alone), rtol=1e-12)
    np.testing.assert_allclose(body.force(u), sum(x.gradient for x in alone), atol=1e-9)


def test_meshes_of_three_cells_are_not_taken_for_axes():
    """(3,) means three axes; three cells of a file or of an edit stay cells."""
    box = sp.HexMesh.box((3, 1, 1), (3, 1, 1))
    three = {"young": [1e4, 2e4, 3e4], "poisson": 0.3, "density": 1000.0}
    regions = {name: np.array([k]) for k, name in enumerate("abc")}
    values = {
        name: {"young": three["young"][k], "poisson": 0.3, "density": 1000.0}
        for k, name in enumerate("abc")
    }
    mesh = sp.HexMesh(box.vertices, box.cells, regions, values)
    u = 0.1 * np.random.default_rng(0).normal(size=mesh.vertices.shape)
    expected = sp.Body(mesh, sp.StVK.from_mesh(mesh)).energy(u)
    assert sp.Body(mesh, sp.OrthotropicStVK.from_mesh(mesh)).energy(u) == pytest.approx(expected)
    one = sp.OrthotropicStVK(young=1e4, poisson=0.3)
    edited = one.edited(np.array([False, True, False]), young=2e4)
    edited = edited.stiffened(np.array([1.0, 1.0, 3.0]))
    assert sp.Body(mesh, edited).energy(u) == pytest.approx(expected)


def test_axes_are_given_in_several_ways():
    a, b, c = AXES
    ways = [[a, b], [a, a + b], AXES, [3 * a, b, -c]]
    F = gradients()
    expected = evaluate(WOOD, F)[0]
    for axes in ways:
        made = sp.OrthotropicStVK(young=YOUNG, poisson=RATIOS, shear=SHEAR, axes=axes)
        np.testing.assert_allclose(evaluate(made, F)[0], expected, rtol=1e-12)


def test_stiffened_and_edited_scale_all_moduli():
    mesh = sp.TetMesh.box((1.0, 0.4, 0.4), (2, 1, 1))
    u = 0.05 * np.random.default_rng(0).normal(size=mesh.vertices.shape)
    energy = sp.Body(mesh, WOOD).energy(u)
    assert sp.Body(mesh, WOOD.stiffened(3)).energy(u) == pytest.approx(3 * energy, rel=1e-13)
    every = np.ones(mesh.n_cells, dtype=bool)
    young = float(WOOD.per_cell("young", np.arange(1))[0])
    edited = WOOD.edited(every, young=2 * young, density=500.0)
    assert sp.Body(mesh, edited).energy(u) == pytest.approx(2 * energy, rel=1e-12)
    assert sp.Body(mesh, edited).total_mass == pytest.approx(500 * mesh.volume)


def test_step_of_admm_as_of_newton():
    mesh = sp.TetMesh.box((1.0, 0.4, 0.4), (4, 1, 1))
    body = sp.Body(mesh, FIBRES, fixed=mesh.where(x=0))
    ends = []
    for solver in (sp.Newton(tolerance=1e-10), sp.ADMM(tolerance=1e-10, max_iterations=5000)):
        sim = sp.Simulation(body, solver=solver, integrator=sp.BackwardEuler(), dt=0.02,
                            gravity=(0, 0, -9.81))  # fmt: skip
        for _ in range(5):
            sim.step()
        ends.append(sim.state.u)
    assert np.abs(ends[0]).max() > 1e-3
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6 * np.abs(ends[0]).max())


# -- damping -------------------------------------------------------------------------------


@pytest.fixture(name="block")
def _block():
    mesh = small_mesh("tet")
    rng = np.random.default_rng(5)
    u = affine(mesh, rotation(3) @ np.diag([0.8, 1.1, 1.3])) + 0.02 * rng.normal(
        size=mesh.vertices.shape
    )
    return sp.Body(mesh, WOOD), u, rng.normal(size=u.shape)


def test_matched_damping_is_rayleigh_at_rest(block):
    body, _, v = block
    rest = np.zeros_like(v)
    force = sp.MatchedStrainRate(stiffness=0.01).bind(body).evaluate(Shape(body, rest), v)[1]
    expected = 0.01 * (body.stiffness(rest) @ v.ravel()).reshape(v.shape)
    np.testing.assert_allclose(force, expected, atol=1e-12 * np.abs(expected).max())


def test_matched_damping_and_its_derivatives(block):
    """R = ∫ β/2 Ė:C:Ė in the frame of the axes, and ∇₂R and ∇₁R against differences of it."""
    body, u, v = block
    bound = sp.MatchedStrainRate(stiffness=0.01).bind(body)

    def R(u, v):
        return bound.evaluate(Shape(body, u), v)[0]

    h = 1e-5
    mesh, part = body.mesh, body.parts[0]
    F = np.eye(3) + np.einsum("eai,eqaj->eqij", u[mesh.cells], mesh.quadrature().gradients)
    D = np.einsum("eai,eqaj->eqij", v[mesh.cells], mesh.quadrature().gradients)
    rate = 0.5 * (F.swapaxes(-1, -2) @ D + D.swapaxes(-1, -2) @ F)
    e = AXES @ rate @ AXES.T
    C = moduli_along_axes(*WOOD._constants(np.arange(1)))[0]
    voigt = np.stack(
        [
            e[..., 0, 0],
            e[..., 1, 1],
            e[..., 2, 2],
            2 * e[..., 1, 2],
            2 * e[..., 0, 2],
            2 * e[..., 0, 1],
        ],
        axis=-1,
    )
    expected = 0.5 * 0.01 * np.einsum("eq,eqa,ab,eqb->", part.weights, voigt, C, voigt)
    assert R(u, v) == pytest.approx(expected, rel=1e-12)
    force = bound.evaluate(Shape(body, u), v)[1]
    by_shape = bound.shape_gradient(Shape(body, u), v)
    rng = np.random.default_rng(1)
    for _ in range(3):
        d = rng.normal(size=u.shape)
        slope = (R(u, v + h * d) - R(u, v - h * d)) / (2 * h)
        assert np.vdot(force, d) == pytest.approx(slope, rel=1e-7)
        slope = (R(u + h * d, v) - R(u - h * d, v)) / (2 * h)
        assert np.vdot(by_shape, d) == pytest.approx(slope, rel=1e-6)


def test_matched_damping_leaves_turning_alone(block):
    body, u, v = block
    bound = sp.MatchedStrainRate(stiffness=0.01).bind(body)
    spin = np.cross((0.3, 1.0, -2.0), body.mesh.vertices + u)
    turning, moving = (bound.evaluate(Shape(body, u), x)[0] for x in (spin, v))
    assert 0 <= turning < 1e-20 * moving


def test_principal_strain_damping_refuses_fibres(block):
    refused("MatchedStrainRate", sp.PrincipalStrain(stiffness=0.01).bind, block[0])


# -- what is refused -----------------------------------------------------------------------

test_bad_parameters_are_named = refusals(
    ({"young": (1e5, 1e5, 0)}, "young.*above 0"),
    ({"shear": (1e4, -1, 1e4)}, "shear.*above 0"),
    ({"young": (1e4, 1e6, 1e5), "poisson": (0.4, 0.3, 0.1)}, r"ν12 = 0.4.*√\(E1/E2\) = 0.1"),
    ({"poisson": (0.8, 0.8, 0.8), "young": (1e5,) * 3}, r"1 − ν12 ν21.*more than 0"),
    ({"poisson": 0.5}, "poisson.*less than 0.5"),
    ({"axes": (0, 0, 0)}, "without length;"),
    ({"axes": np.eye(7, 3)}, "without length in cell 3;"),
    ({"axes": [(1, 0, 0), (2, 0, 0)]}, "along the first"),
    ({"axes": [(1, 0, 0), (0, 1, 0), (0, 1, 1)]}, "right angles"),
    ({"axes": np.ones((4, 4))}, "axes has shape"),
    make=lambda bad: sp.OrthotropicStVK(**({"young": YOUNG, "poisson": 0.3} | bad)),
)


@pytest.mark.parametrize(
    ("bad", "named"),
    [({"axes": np.ones((9, 3))}, "axes has 9"), ({"young": np.ones((9, 3))}, "young has 9")],
)
def test_fields_of_other_meshes_are_refused(bad, named):
    mesh = sp.TetMesh.box((1, 1, 1), (1, 1, 1))
    made = sp.OrthotropicStVK(**({"young": YOUNG, "poisson": 0.3} | bad))
    refused(named, sp.Body, mesh, made)
