"""Modal derivatives: against differences of what they are derivatives of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg
from tests.helpers import remainder_slopes, small_mesh, soft
from tests.reduction.conftest import every_material, every_mesh, free_body, held_body
from tests.refusals import refused

import supple as sp
from supple.reduction import derivatives as module
from supple.reduction.derivatives import derivative_pairs, force_derivatives, modal_derivatives
from supple.reduction.modes import Modes

pytestmark = pytest.mark.processors


def mixed_body() -> sp.Body:
    """Two regions of different materials, one with a modulus for every cell."""
    mesh = small_mesh("tet")
    half = np.arange(mesh.n_cells) < mesh.n_cells // 3
    mesh = mesh.with_region("first", half).with_region("second", ~half)
    stiff = soft(sp.StVK, young=np.linspace(1e4, 4e4, mesh.n_cells))
    return sp.Body(mesh, {"first": stiff, "second": soft(sp.NeoHookean)}, fixed=[0, 1, 3, 9, 12])


def fourth_order(function: Callable[[float], np.ndarray], h: float) -> np.ndarray:
    """Derivative at zero by differences over ±h and ±2h."""
    a, b, c, d = (function(s * h) for s in (-2, -1, 1, 2))
    return (a - 8 * b + 8 * c - d) / (12 * h)


def differenced(body: sp.Body, x: np.ndarray, y: np.ndarray, h: float) -> np.ndarray:
    """(H : x) y by differences of K(h x) y of fourth order."""
    return fourth_order(lambda e: body.evaluate(e * x, order=1, direction=y).product, h)


def dense(body: sp.Body, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    free = np.flatnonzero(body.free)
    K, M = (A.toarray()[np.ix_(free, free)] for A in (body.stiffness(u), body.mass))
    return K, M


# -- the right-hand sides --------------------------------------------------------------------


@every_mesh
@every_material
def test_force_derivatives_equal_differences(mesh_name, material):
    body = free_body(mesh_name, material)
    shapes = np.random.default_rng(0).normal(size=(3, body.n_vertices, 3))
    found = force_derivatives(body, shapes)
    for i, j in ((0, 0), (0, 2), (2, 1)):
        expected = differenced(body, shapes[i], shapes[j], 3e-5)
        # Differences leave eps/3e-5, and more where shape functions of edges are steep.
        assert np.abs(found[i, j] - expected).max() <= 1e-9 * np.abs(found).max()


def test_force_derivatives_of_regions_and_cells():
    body = mixed_body()
    shapes = np.random.default_rng(0).normal(size=(2, body.n_vertices, 3))
    found = force_derivatives(body, shapes)
    expected = differenced(body, shapes[0], shapes[1], 3e-5)
    assert np.abs(found[0, 1] - expected).max() <= 1e-10 * np.abs(found).max()


def test_stvk_closed_form_equals_differences():
    """The formula for StVK against the way taken for every other material."""
    lam, mu = np.array([1.0, 0.3, 50.0]), np.array([0.4, 2.0, 1.0])
    exact = module.stvk_curvature(lam, mu)
    found = module.differenced_curvature(soft(sp.StVK), lam, mu)
    assert np.abs(found - exact).max() <= 1e-12 * np.abs(exact).max()


@every_material
def test_curvature_totally_symmetric(material):
    """A third derivative of an energy: its three arguments may be swapped."""
    tensors = module.curvature(soft(material), np.array([1.0]), np.array([0.4]))
    for order in ((0, 2, 1, 3), (0, 1, 3, 2)):
        assert np.abs(tensors - tensors.transpose(order)).max() <= 3e-12 * np.abs(tensors).max()


# -- held bodies, Eq. 14 ---------------------------------------------------------------------


@every_mesh
def test_derivatives_of_modes_with_inertia_neglected(mesh_name):
    """K(εΨ^j) Ψ^i(ε) = λ_i M Ψ^i with the inertia on the right as it is at rest."""
    body = held_body(mesh_name)
    modes = sp.vibration_modes(body, 4)
    derivatives = modal_derivatives(body, modes)
    pairs = derivative_pairs(body, modes)
    assert pairs.tolist() == [[i, j] for i in range(4) for j in range(i, 4)]
    assert not derivatives[:, ~body.free].any()
    for (i, j), found in zip(pairs, derivatives, strict=True):
        _, M = dense(body, 0 * found)
        inertia = (2 * np.pi * modes.frequencies[i]) ** 2 * M @ modes.shapes[i][body.free]
        expected = fourth_order(
            lambda e, j=j, f=inertia: np.linalg.solve(dense(body, e * modes.shapes[j])[0], f),
            1e-4 / np.abs(modes.shapes[j]).max(),
        )
        assert np.abs(found[body.free] - expected).max() <= 1e-7 * np.abs(expected).max()


@every_material
def test_parabola_needs_no_other_forces(material):
    """Eq. 13: along u(p) = Ψ p + ½ Φ p p the elastic force is K Ψ p up to third order."""
    body = held_body(material=material)
    modes = sp.vibration_modes(body, 3)
    derivatives = modal_derivatives(body, modes)
    p = np.array([0.8, -0.5, 0.3]) / np.abs(modes.shapes).max()
    quadratic = np.zeros((body.n_vertices, 3))
    for (i, j), shape in zip(derivative_pairs(body, modes), derivatives, strict=True):
        quadratic += (0.5 if i == j else 1.0) * p[i] * p[j] * shape
    linear = np.tensordot(p, modes.shapes, 1)
    K = body.stiffness(0 * linear)

    def remainder(h):
        force = body.force(h * linear + h**2 * quadratic).ravel() - K @ (h * linear).ravel()
        return float(np.linalg.norm(force[body.free.ravel()]))

    slopes = remainder_slopes(remainder, np.array([4e-2, 2e-2, 1e-2, 5e-3]))
    assert slopes[-1] == pytest.approx(3.0, abs=0.1)


def test_derivatives_of_regions():
    """K Φ^ij = −(H : Ψ^i) Ψ^j with two materials."""
    body = mixed_body()
    modes = sp.vibration_modes(body, 2)
    K = body.stiffness(0 * modes.shapes[0])
    pairs, step = derivative_pairs(body, modes), 1e-4 / np.abs(modes.shapes).max()
    for (i, j), found in zip(pairs, modal_derivatives(body, modes), strict=True):
        right = -differenced(body, modes.shapes[i], modes.shapes[j], step)
        left = (K @ found.ravel()).reshape(-1, 3)
        assert np.abs(left - right)[body.free].max() <= 1e-9 * np.abs(right).max()


def test_derivatives_change_of_units():
    """Φ is Ψ² by length: in other units of length and mass only the numbers change."""
    body = held_body("brick")
    first = modal_derivatives(body, sp.vibration_modes(body, 3))
    mesh = body.mesh.scaled(1000.0)  # millimetres, tonnes and seconds: stress in MPa
    other = sp.Body(mesh, soft(sp.StVK, young=1e-2, density=1e-9), fixed=body.fixed)
    second = modal_derivatives(other, sp.vibration_modes(other, 3))
    assert np.abs(second - first).max() <= 1e-9 * np.abs(first).max()  # √1000² / 1000 = 1


# -- free bodies, Eq. 29 ---------------------------------------------------------------------


def exact_mode(body: sp.Body, u: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The mass-normal mode of the dense eigenproblem at u that is most like ``near``."""
    K, M = dense(body, u)
    shapes = scipy.linalg.eigh(K, M)[1].T.reshape(-1, *near.shape)
    likeness = np.tensordot(shapes, body.mass_times(near), 2)
    k = np.abs(likeness).argmax()
    return shapes[k] * np.sign(likeness[k])


@pytest.mark.parametrize(
    ("mesh_name", "material"), [("tet", sp.StVK), ("brick", sp.NeoHookean)], ids=["tet", "brick"]
)
def test_free_derivatives_of_exact_modes(mesh_name, material):
    body = free_body(mesh_name, material)
    modes = sp.vibration_modes(body, 6 + 3)
    derivatives = modal_derivatives(body, modes)
    pairs = derivative_pairs(body, modes)
    assert pairs.tolist() == [[i, j] for i in range(6, 9) for j in range(6, 9)]
    rigid = modes.shapes[:6]
    for (i, j), found in zip(pairs, derivatives, strict=True):
        expected = fourth_order(
            lambda e, i=i, j=j: exact_mode(body, e * modes.shapes[j], modes.shapes[i]),
            1e-4 / np.abs(modes.shapes[j]).max(),
        )
        momenta = np.tensordot(rigid, body.mass_times(expected), 2)
        expected -= np.tensordot(momenta, rigid, 1)  # rigid motion stays with the frame
        assert np.abs(found - expected).max() <= 1e-7 * np.abs(expected).max()


@every_mesh
def test_free_derivatives_orthogonal(mesh_name):
    """To the rigid motions, and to the mode itself; and they solve Eq. 29 elsewhere."""
    body = sp.Body(small_mesh(mesh_name), soft(sp.StVK))
    modes = sp.vibration_modes(body, 6 + 4)
    derivatives = modal_derivatives(body, modes)
    K, M = dense(body, 0 * modes.shapes[0])
    rigid = modes.shapes[:6].reshape(6, -1)
    forces = force_derivatives(body, modes.shapes)
    for (i, j), found in zip(derivative_pairs(body, modes), derivatives, strict=True):
        phi, own = found.ravel(), modes.shapes[i].ravel()
        size = np.sqrt(phi @ M @ phi)
        assert np.abs(rigid @ M @ phi).max() <= 1e-12 * size
        assert abs(own @ M @ phi) <= 1e-12 * size
        b = forces[i, j].ravel()
        square = (2 * np.pi * modes.frequencies[i]) ** 2
        left = (K - square * M) @ phi - (M @ own * (own @ b) - b)
        left -= M @ rigid.T @ (rigid @ left)
        assert np.abs(left).max() <= 1e-8 * np.abs(b).max()


def test_free_derivatives_not_symmetric():
    body = free_body()
    first = modal_derivatives(body, sp.vibration_modes(body, 8)).reshape(2, 2, -1)
    assert np.abs(first[0, 1] - first[1, 0]).max() > 1e-2 * np.abs(first).max()


def test_free_derivatives_of_equal_frequencies():
    """A square bar: bending in y and z have one frequency, and derivatives stay moderate."""
    body = sp.Body(sp.HexMesh.box((1, 0.2, 0.2), (6, 2, 2)), soft(sp.StVK))
    modes = sp.vibration_modes(body, 12)
    assert modes.frequencies[7] == pytest.approx(modes.frequencies[6], rel=1e-9)
    derivatives = modal_derivatives(body, modes)
    # |Φ| is about |∇Ψ| |Ψ|, and ten times that where ω² is 15 % from the next; not 1e9 times.
    assert np.abs(derivatives).max() <= 30 * np.abs(modes.shapes[6:]).max() ** 2 / 0.2
    for (i, j), found in zip(derivative_pairs(body, modes), derivatives, strict=True):
        if {i, j} <= {6, 7}:  # nor do they turn into each other
            assert np.abs(
                np.tensordot(modes.shapes[6:8], body.mass_times(found), 2)
            ).max() <= 1e-9 * np.sqrt(np.vdot(found, body.mass_times(found)))


def test_derivatives_of_a_body_that_can_swing():
    """Held at one vertex it has three rigid turns, so it goes the way of free bodies."""
    body = sp.Body(small_mesh("tet"), soft(sp.StVK), fixed=[13])
    modes = sp.vibration_modes(body, 5)
    derivatives = modal_derivatives(body, modes)
    assert modes.rigid == 3
    assert len(derivatives) == len(derivative_pairs(body, modes)) == 4
    assert not derivatives[:, 13].any()
    momenta = np.tensordot(derivatives.reshape(4, -1), body.mass @ modes.shapes.reshape(5, -1).T, 1)
    assert np.abs(momenta[:, :3]).max() <= 1e-12 * np.abs(momenta).max()


# -- around it -------------------------------------------------------------------------------


def test_progress_reaches_the_end():
    body = free_body()
    calls = []
    modal_derivatives(body, sp.vibration_modes(body, 8), progress=lambda *call: calls.append(call))
    assert calls == [(1, 2, "derivatives"), (2, 2, "derivatives")]


def test_bad_modes_named():
    body = held_body()
    modes = sp.vibration_modes(body, 3)
    refused("modes is 3; give an object", modal_derivatives, body, 3)
    with pytest.raises(sp.InputError, match="this body has 8 vertices"):
        modal_derivatives(sp.Body(sp.TetMesh.box((1, 1, 1), (1, 1, 1)), soft(sp.StVK)), modes)
    with pytest.raises(sp.InputError, match="about its rest shape"):
        modal_derivatives(body, Modes(2 * modes.frequencies, modes.shapes))
    free = sp.Body(body.mesh, body.material)
    refused("all 6 modes are rigid", modal_derivatives, free, sp.vibration_modes(free, 6))
