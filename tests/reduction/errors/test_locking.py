"""Whether reduced models tell where they are too stiff in large swings."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers import MESH_NAMES
from tests.reduction.conftest import every_cell, free_body, held_body

import supple as sp
from supple.reduction.errors.locking import SWING, energy_text, locking_note, locking_text


def beam(material=None, width=0.2):
    mesh = sp.TetMesh.box(size=(1.0, width, 0.1), cells=(8, 2, 1))
    given = material or sp.StVK(young=1e5, poisson=0.3, density=1000)
    return sp.Body(mesh, given, fixed=mesh.where(x=0))


def linear_modes(body, count=5):
    modes = sp.vibration_modes(body, count + body.free_rigid_motions)
    return sp.picked_basis(body, modes.shapes[modes.rigid :])


def quietly(body, basis, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.ModelWarning)
        return sp.reduce(body, basis, **options)


def relaxed_energy(body, shape, amount):
    """The least energy [J] of the body where its share of a mass-orthonormal shape is given."""
    free = body.free.ravel()
    row = body.mass_times(shape).ravel()[free]
    u = amount * shape
    for _ in range(8):  # of Newton's method, with a Lagrange multiplier
        K = body.stiffness(u).toarray()[np.ix_(free, free)]
        g = body.evaluate(u, order=1).gradient.ravel()[free]
        system = np.block([[K, row[:, None]], [row[None], np.zeros((1, 1))]])
        step = np.linalg.solve(system, np.append(-g, 0.0))[:-1]
        u = u.copy()
        u.reshape(-1)[free] += step
    return body.evaluate(u, order=0).energy


def test_locking_is_the_energy_that_giving_way_takes_off():
    """In a swing so small that higher orders vanish, of a beam wider than high."""
    body = beam(width=0.4)
    modes = sp.vibration_modes(body, 2)
    assert modes.frequencies[1] > 1.5 * modes.frequencies[0]  # one vibration alone counts
    model = quietly(body, sp.picked_basis(body, modes.shapes[:1]))
    share = 0.02
    amount = share * SWING / np.linalg.norm(modes.shapes[0], axis=1).max()  # of 1 m
    more = model.energy([amount]) - relaxed_energy(body, modes.shapes[0], amount)
    wanted = more / (0.5 * modes.squares[0] * amount**2) / share**2
    assert model.locking > 10.0
    assert model.locking == pytest.approx(wanted, rel=2e-2)  # the next order is share² of this one


def test_linear_modes_lock_and_modal_derivatives_do_not():
    body = beam()
    with pytest.warns(sp.ModelWarning, match="the basis locks: .* times the energy") as caught:
        stiff = sp.reduce(body, linear_modes(body))
    (told,) = [str(each.message) for each in caught]
    assert f"{1 + stiff.locking:.3g} times" in told
    assert "repaired_basis" in told
    assert "motion_error" in told
    with warnings.catch_warnings():
        warnings.simplefilter("error", sp.ModelWarning)
        good = sp.reduce(body, sp.modal_derivative_basis(body, modes=5, size=10))
    assert good.locking < 1e-3


def test_basis_of_another_motion_locks():
    """Its own vibration is held with all that it needs, the slowest as a straight line only."""
    body = beam()
    modes = sp.vibration_modes(body, 4)
    other = sp.Simulation(body, dt=2e-3)
    other.state.v = modes.shapes[1] / np.abs(modes.shapes[1]).max() * modes.frequencies[1]
    motion = other.run(0.4).displacements[1:]
    shapes = np.concatenate([modes.shapes[:3], sp.motion_basis(body, motion, 4).vectors])
    basis = sp.joined_basis(body, *(sp.picked_basis(body, shape[None]) for shape in shapes))
    with pytest.warns(sp.ModelWarning, match="the basis locks"):
        model = sp.reduce(body, basis)
    assert np.abs(model.frequency_errors[:3]).max() < 1e-6


@pytest.mark.parametrize("make", [held_body, free_body])
@pytest.mark.parametrize("name", MESH_NAMES)
def test_locking_never_grows_with_the_basis(make, name):
    body = make(name)
    basis = sp.joined_basis(
        body, linear_modes(body, 3), sp.modal_derivative_basis(body, modes=3, size=9)
    )
    model = quietly(body, basis)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.ModelWarning)
        found = [model.truncated(size).locking for size in range(3, model.size + 1)]
        again = quietly(body, basis.truncated(5)).locking
    assert found[2] == pytest.approx(again, rel=1e-9)
    assert (np.diff(found) <= 1e-9 * found[0]).all()
    # the derivatives of a free body are those with inertia, which holds them back a little
    assert found[-1] < (0.1 if make is free_body else 1e-3) * found[0]


def test_locking_of_a_cubature_is_that_of_the_basis():
    """Cubature errs in the stiffness by a per cent, of which locking is a large multiple."""
    body = beam(sp.StableNeoHookean(young=1e5, poisson=0.3, density=1000))
    basis = sp.modal_derivative_basis(body, modes=3, size=6)
    cells = np.arange(body.mesh.n_cells)
    rough = sp.Cubature.of_cells(body, basis.vectors, cells, np.full(len(cells), 1.02))
    wanted = quietly(body, basis, cubature=every_cell(body, basis.vectors))
    found = quietly(body, basis, cubature=rough)
    assert found.locking == pytest.approx(wanted.locking, abs=1e-12)
    assert replace(found.swings, stiffness=found.rest_stiffness).excess > 0.05


def test_files_and_parts_keep_it_and_edits_forget_it(tmp_path):
    body = beam()
    model = quietly(body, linear_modes(body))
    model.save(tmp_path / "a.supple")
    again = sp.load_model(tmp_path / "a.supple")
    assert again.locking == model.locking
    assert model.detail(2).locking >= model.locking
    assert model.edited(young=3e6).locking is None
    with pytest.warns(sp.ModelWarning, match="the basis locks"):
        sp.load_model(tmp_path / "a.supple", size=4)


def test_comparison_may_be_given_or_left_out():
    body = beam()
    basis = linear_modes(body)
    found = quietly(body, basis)
    given = quietly(body, basis, compare=sp.vibration_modes(body, 6))
    assert given.locking == pytest.approx(found.locking, rel=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sp.ModelWarning)
        assert sp.reduce(body, basis, compare=False).locking is None
    with pytest.raises(sp.InputError, match="the body has 54"):
        sp.reduce(body, basis, compare=sp.vibration_modes(held_body(), 6))


def test_words_say_how_much():
    assert energy_text(0.123) == "12 % more energy than it should"
    assert energy_text(6.16) == "7.16 times the energy that it should"
    assert locking_text(0.0).endswith("takes the energy that it should")
    body = beam()
    assert locking_note(quietly(body, sp.modal_derivative_basis(body, modes=5, size=10))) is None
