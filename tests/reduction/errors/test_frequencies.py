"""Whether reduced models tell where they no longer vibrate as their bodies do."""

import warnings

import numpy as np
import pytest
from tests.reduction.conftest import free_body, held_body

import supple as sp


def told_by(body, basis, **options):
    """The model, and what it warns of beside locking."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", sp.ModelWarning)
        model = sp.reduce(body, basis, **options)
    told = [str(each.message) for each in caught]
    return model, [each for each in told if "locks" not in each]


@pytest.mark.parametrize("make", [held_body, free_body])
def test_errors_are_those_of_an_independent_eigenproblem(make):
    body = make("tet")
    basis = sp.modal_derivative_basis(body, modes=4, size=7)
    model, told = told_by(body, basis)
    assert told == []
    flat = basis.vectors.reshape(7, -1)
    rest = np.zeros_like(body.mesh.vertices)
    K, M = (flat @ (A @ flat.T) for A in (body.stiffness(rest), body.mass))
    found = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    modes = sp.vibration_modes(body, 12)
    wanted = np.sort(found)[:6] / (2 * np.pi * modes.frequencies[modes.rigid :][:6]) - 1
    np.testing.assert_allclose(model.frequency_errors, wanted, atol=1e-8)
    assert (model.frequency_errors > -1e-9).all()  # a basis can only make a body stiffer


def test_first_vibration_that_is_off_is_named():
    body = held_body()
    modes = sp.vibration_modes(body, 6)
    second = sp.picked_basis(body, modes.shapes[[0, 2, 3, 4]])
    model, (told,) = told_by(body, second)
    assert f"vibration 2 of the body is at {modes.frequencies[1]:.3g} Hz" in told
    assert f"that of the model at {modes.frequencies[2]:.3g} Hz" in told
    assert told.endswith("or take a larger size=")
    np.testing.assert_allclose(
        model.frequency_errors[:2],
        [0.0, modes.frequencies[2] / modes.frequencies[1] - 1],
        atol=1e-9,
    )
    assert told_by(body, sp.picked_basis(body, modes.shapes[:3]))[1] == []


def test_comparison_can_be_left_out_or_given():
    body = held_body()
    modes = sp.vibration_modes(body, 6)
    bad = sp.picked_basis(body, modes.shapes[3:])
    model, told = told_by(body, bad, compare=False)
    assert told == []
    assert model.frequency_errors is None
    given, told = told_by(body, bad, compare=modes)
    assert len(told) == 1
    found, _ = told_by(body, bad)
    np.testing.assert_allclose(given.frequency_errors, found.frequency_errors, rtol=1e-9)
    with pytest.raises(sp.InputError, match="compare"):
        sp.reduce(body, bad, compare=3)


@pytest.mark.filterwarnings("ignore::supple.ModelWarning")
def test_files_and_smaller_models_keep_them_and_edits_forget_them(tmp_path):
    body = held_body()
    model, _ = told_by(body, sp.modal_derivative_basis(body, modes=4, size=7))
    model.save(tmp_path / "a.supple")
    again = sp.load_model(tmp_path / "a.supple")
    np.testing.assert_array_equal(again.frequency_errors, model.frequency_errors)
    small = again.truncated(4)
    assert len(small.frequency_errors) == 4
    assert (small.frequency_errors[:2] < 1e-9).all()
    assert model.edited(young=3e6).frequency_errors is None


def test_bodies_on_hinges_are_reduced_without():
    """Two tetrahedra that share an edge have no stiffness about it, and so no modes."""
    points = np.array(
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0.5, 1), (0.2, -1, 0.3), (0.6, -1, -0.4)]
    )
    mesh = sp.TetMesh(points, np.array([[0, 1, 2, 3], [0, 1, 4, 5]]))
    body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.3), fixed=[2, 3, 0, 1])
    shapes = np.zeros((1, 6, 3))
    shapes[0, 4, 1] = 1.0
    model, told = told_by(body, sp.picked_basis(body, shapes))
    assert told == []
    assert model.frequency_errors is None
    with pytest.raises(sp.InputError, match="like a hinge"):
        sp.reduce(body, sp.picked_basis(body, shapes), compare=True)


def test_a_model_cut_short_tells_what_it_has_lost():
    body = held_body()
    modes = sp.vibration_modes(body, 6)
    model = sp.reduce(body, sp.picked_basis(body, modes.shapes[[0, 3, 4, 1, 2]]))
    with pytest.warns(sp.ModelWarning, match=f"at {modes.frequencies[3]:.3g} Hz"):
        fewer = model.truncated(3)
    np.testing.assert_allclose(
        fewer.frequency_errors[1], modes.frequencies[3] / modes.frequencies[1] - 1, atol=1e-9
    )
