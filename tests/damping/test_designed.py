"""A designed damping says when its body is no longer the one that it was designed for."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import supple as sp
from supple.damping.designed import DesignWarning, same_material


def body(young: float = 1e5, density: float = 1000.0) -> sp.Body:
    mesh = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(4, 1, 1))
    mesh = mesh.with_region("far", mesh.cells_where(x=(0.5, 1.0)))
    material = sp.StVK(young=young, poisson=0.4, density=density)
    return sp.Body(mesh, material, fixed=mesh.where(x=0))


@pytest.fixture(scope="module")
def model() -> sp.ReducedModel:
    made_of = body()
    basis = sp.modal_derivative_basis(made_of, modes=3, size=6)
    return sp.reduce(made_of, basis, regions=["far"])


@pytest.fixture(scope="module")
def damping(model) -> sp.ExampleDamping:
    """Designed for the model: 40 % are left of a bend of 5 cm."""
    shape = model.vectors[0] * 0.05 / np.abs(model.vectors[0]).max()
    start = sp.ExampleDamping(sp.Rayleigh(mass=1.0), [sp.Example(shape, name="bend")])
    fit = sp.design_damping(model, start, [sp.Unloading("bend", 1.0, 0.4)], dt=1 / 200)
    assert fit.damping.designed is not None
    assert fit.damping.designed.body is model
    assert len(fit.damping.wishes["targets"]) == 1
    return fit.damping


def anew(damping: sp.ExampleDamping, of: object) -> sp.ExampleDamping:
    """The same design, of which nobody has been warned."""
    return damping.designed_for(of)


def test_an_edit_is_announced_once(model, damping):
    sim = model.simulation(damping=anew(damping, model))
    with pytest.warns(DesignWarning, match="redesign"):
        sim.edit(young=4e5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.edit(young=8e5)
        sim.step()


def test_of_a_region(model, damping):
    sim = model.simulation(damping=anew(damping, model))
    with pytest.warns(DesignWarning):
        sim.edit("far", density=300.0)


@pytest.mark.parametrize("given", ["model", "assigned"])
def test_a_model_that_was_edited_before(model, damping, given):
    known, edited = anew(damping, model), model.edited(young=4e5)
    sim = edited.simulation()
    with pytest.warns(DesignWarning):
        edited.simulation(damping=known) if given == "model" else setattr(sim, "damping", known)


def test_a_full_body(model, damping):
    known = anew(damping, model)
    sim = sp.Simulation(body(), damping=known)
    with pytest.warns(DesignWarning):
        sim.body = body(young=4e5)


def test_in_a_list(model, damping):
    sim = model.simulation(damping=[anew(damping, model), sp.Drag(strength=0.1)])
    with pytest.warns(DesignWarning):
        sim.edit(young=4e5)


def test_out_of_a_file(model, damping, tmp_path):
    """It knows the material, though not the body."""
    sp.save_damping(damping, tmp_path / "designed.toml")
    model.save(tmp_path / "model.supple")
    loaded = sp.load_model(tmp_path / "model.supple")
    for same, changed in ((body(), body(density=900.0)), (loaded, loaded.edited("far", young=2e5))):
        known = sp.load_damping(tmp_path / "designed.toml")
        with warnings.catch_warnings():
            warnings.simplefilter("error", DesignWarning)
            _moved(same, known)
        with pytest.warns(DesignWarning):
            _moved(changed, known)


def _moved(of, damping):
    if isinstance(of, sp.Body):
        return sp.Simulation(of, damping=damping)
    return of.simulation(damping=damping)


def test_silence_where_nothing_has_changed(model, damping):
    known = anew(damping, model)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DesignWarning)
        sim = model.simulation(damping=known)
        sim.gravity, sim.dt = (0, 0, -9.81), 1e-4
        sim.edit(young=1e5)
        sim.model = model.detail(4)
        sp.Simulation(body(), damping=known).step()
        changed = known.with_curves(known.curves)
        assert changed.designed is None
        model.edited(young=4e5).simulation(damping=changed)


def test_materials_are_compared_by_cell(model):
    assert same_material(body(), body())
    assert not same_material(body(), body(density=999.0))
    assert same_material(model, body())
    assert not same_material(model.edited("far", young=2e5), body())
    other = sp.reduce(body(), sp.modal_derivative_basis(body(), modes=3, size=6))  # one group
    assert same_material(model, other)
    assert not same_material(model.edited("far", young=2e5), other)
