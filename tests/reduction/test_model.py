"""Reduced models against the bodies they are made of; edits and variants."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reduction.conftest import (
    assert_projected,
    complete_basis,
    every_cell,
    relative,
    two_part_beam,
)
from tests.refusals import refused

import supple as sp


def some_coordinates(model: sp.ReducedModel, amplitude: float = 0.3, seed: int = 0) -> np.ndarray:
    """Coordinates of a shape whose largest displacement is ``amplitude`` [m]."""
    q = np.random.default_rng(seed).normal(size=model.size)
    return amplitude * q / np.abs(model.displacements(q)).max()


def assert_alike(one: sp.ReducedModel, other: sp.ReducedModel) -> None:
    q = some_coordinates(one)
    for found, wanted in zip(one.evaluate(q), other.evaluate(q), strict=True):
        assert relative(found, wanted) < 1e-12
    assert relative(one.mass, other.mass) < 1e-12
    assert relative(one.weight((1, 2, 3)), other.weight((1, 2, 3))) < 1e-12


class TestAgainstTheBody:
    def test_force_and_stiffness_are_projected(self, beam, model):
        q = some_coordinates(model)
        assert_projected(model, beam, model.vectors, q)
        assert (model.energy(q), *model.force(q)) == (model.evaluate(q)[0], *model.evaluate(q)[1])
        assert np.array_equal(model.stiffness(q), model.evaluate(q)[2])

    def test_mass_is_the_identity(self, model):
        assert np.abs(model.mass - np.eye(model.size)).max() < 1e-12

    def test_low_frequencies_are_the_body_s(self, beam, model):
        exact = sp.vibration_modes(beam, 3).frequencies
        assert np.allclose(model.frequencies[:3], exact, rtol=1e-6)

    def test_weight_and_forces(self, beam, model, tip):
        flat = model.vectors.reshape(model.size, -1)
        weight = flat @ beam.weight((1.0, -2.0, 3.0)).ravel()
        assert relative(model.weight((1.0, -2.0, 3.0)), weight) < 1e-12
        push = beam.point_force([tip], (4.0, 5.0, -6.0))
        assert relative(model.pull(tip, (4.0, 5.0, -6.0)), flat @ push.ravel()) < 1e-14
        assert np.array_equal(model.project(push), flat @ push.ravel())

    def test_pull_fills_what_it_is_given(self, model, tip):
        room = np.empty(model.size)
        assert model.pull(tip, (0.0, 0.0, 1.0), out=room) is room
        assert np.array_equal(room, model.vectors[:, tip, 2])

    def test_coordinates_are_found_again(self, model):
        q = some_coordinates(model)
        assert np.allclose(model.coordinates(model.displacements(q)), q, rtol=1e-10)

    @pytest.mark.parametrize("lumped", [False, True])
    def test_bricks_and_mixed_materials(self, lumped):
        mesh = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(4, 2, 2))
        rng = np.random.default_rng(0)
        material = sp.StVK(
            young=rng.uniform(1e5, 3e5, mesh.n_cells),
            poisson=rng.uniform(0.2, 0.45, mesh.n_cells),
            density=rng.uniform(500, 1500, mesh.n_cells),
        )
        mass_model = sp.LumpedMass() if lumped else sp.ConsistentMass()
        body = sp.Body(mesh, material, fixed=mesh.where(x=0), mass_model=mass_model)
        model = sp.reduce(body, sp.modal_derivative_basis(body, modes=4, size=10))
        assert_projected(model, body, model.vectors, some_coordinates(model))
        flat = model.vectors.reshape(model.size, -1)
        assert relative(model.mass, flat @ (body.mass @ flat.T)) < 1e-12

    def test_skin_moves_with_the_volume(self, beam, basis):
        surface = sp.Surface(
            np.array([[0.9, 0.1, 0.2], [0.9, 0.2, 0.1], [0.7, 0.1, 0.1], [0.5, 0.0, 0.2]]),
            np.array([[0, 1, 2], [1, 2, 3]]),
        )
        embedding = sp.Embedding(beam.mesh, surface)
        model = sp.reduce(beam, basis, skin=embedding)
        live = model.simulation()
        live.q = some_coordinates(model)
        expected = embedding.deform(live.displacements())
        assert np.allclose(live.skin_vertices(), expected, atol=1e-14)
        room = np.empty_like(expected)
        assert live.skin_vertices(out=room) is room
        assert np.allclose(room, expected, atol=1e-14)


class TestEdits:
    CHANGES = (
        {"young": 3e5},
        {"poisson": 0.2},
        {"density": 400.0},
        {"young": 5e4, "poisson": 0.45, "density": 2000.0},
    )

    @pytest.mark.parametrize("change", CHANGES)
    def test_an_edit_is_a_model_made_anew(self, basis, model, change):
        settings = {"young": 1e5, "poisson": 0.4, "density": 1000.0} | change
        changed = sp.reduce(two_part_beam(far=sp.StVK(**settings)), basis)
        assert_alike(model.edited("far", **change), changed)

    def test_the_whole_body(self, basis, model):
        changed = sp.reduce(two_part_beam(sp.StVK(young=2e5, poisson=0.3, density=700)), basis)
        assert_alike(model.edited(young=2e5, poisson=0.3, density=700), changed)

    def test_an_edit_while_it_runs(self, basis, model, tip):
        changed = sp.reduce(two_part_beam(far=sp.StVK(young=4e5, poisson=0.3, density=500)), basis)
        load = model.pull(tip, (0.0, 0.0, -5.0))
        options = {"damping": sp.Rayleigh(mass=0.1, stiffness=1e-3), "gravity": (0, 0, -9.81)}
        live = model.simulation(**options)
        live.run_steps(100, force=load)
        fresh = changed.simulation(**options)
        fresh.q, fresh.v = live.q, live.v
        live.edit("far", young=4e5, poisson=0.3, density=500)
        for simulation in (live, fresh):
            simulation.run_steps(100, force=load)
        assert relative(live.q, fresh.q) < 1e-10
        assert live.time == pytest.approx(0.2)

    def test_back_again_is_exact(self, model):
        q = some_coordinates(model)
        there = model.edited("far", young=7e5, poisson=0.1)
        assert np.array_equal(there.edited("far", young=1e5, poisson=0.4).force(q), model.force(q))

    def test_materials_that_vary(self, basis):
        mesh = two_part_beam().mesh
        young = np.random.default_rng(0).uniform(1e5, 2e5, mesh.n_cells)
        varied = sp.Body(mesh, sp.StVK(young=young, poisson=0.4), fixed=mesh.where(x=0))
        model = sp.reduce(varied, basis, regions=["far"])
        refused("young differs from cell to cell in 'far'", model.edited, "far", poisson=0.3)
        young[mesh.regions["far"]] = 5e5
        changed = sp.Body(mesh, sp.StVK(young=young, poisson=0.4), fixed=mesh.where(x=0))
        assert_alike(model.edited("far", young=5e5), sp.reduce(changed, basis))

    def test_overlapping_regions(self, beam, basis):
        mesh = beam.mesh.with_region("middle", beam.mesh.cells_where(x=(0.25, 0.75)))
        body = sp.Body(mesh, sp.StVK(young=1e5, poisson=0.4), fixed=mesh.where(x=0))
        model = sp.reduce(body, basis, regions=["far", "middle"])
        young = np.full(mesh.n_cells, 1e5)
        young[mesh.regions["far"]] = 2e5
        young[mesh.regions["middle"]] = 3e5
        changed = sp.Body(mesh, sp.StVK(young=young, poisson=0.4), fixed=mesh.where(x=0))
        edited = model.edited("far", young=2e5).edited("middle", young=3e5)
        assert_alike(edited, sp.reduce(changed, basis))

    def test_what_cannot_be_edited(self, model):
        refused(r"regions=\['near'\]", model.edited, "near", young=1e6)
        for bad in ({"young": 0.0}, {"poisson": 0.5}, {"density": -1.0}, {"young": np.nan}):
            refused(next(iter(bad)), model.edited, "far", **bad)


class TestTruncation:
    @pytest.mark.parametrize("size", [1, 5, 12])
    def test_first_vectors_only(self, beam, basis, size):
        model = sp.reduce(beam, basis, regions=["far"]).truncated(size)
        rebuilt = sp.reduce(beam, basis.truncated(size), regions=["far"])
        assert_alike(model, rebuilt)
        edits = {"young": 2e5, "density": 300.0}
        assert_alike(model.edited("far", **edits), rebuilt.edited("far", **edits))

    @pytest.mark.parametrize("size", [0, 13, 2.5])
    def test_bad_sizes(self, model, size):
        refused("size=", model.truncated, size)


class TestOtherMaterials:
    def test_all_cells_give_the_body(self, beam):
        soft = sp.StableNeoHookean(young=1e5, poisson=0.4)
        body = two_part_beam(soft)
        basis = sp.modal_derivative_basis(body, modes=3, size=6)
        model = sp.reduce(body, basis, cubature=every_cell(body, basis.vectors), regions=["far"])
        q = some_coordinates(model, 0.2)
        assert_projected(model, body, model.vectors, q)
        changed = two_part_beam(soft, far=sp.StableNeoHookean(young=3e5, poisson=0.3))
        assert_projected(model.edited("far", young=3e5, poisson=0.3), changed, model.vectors, q)
        assert relative(model.truncated(4).force(q[:4]), model.force([*q[:4], 0, 0])[:4]) < 1e-12

    def test_a_cubature_of_something_else_is_refused(self):
        body, other = (two_part_beam(sp.NeoHookean(young=e, poisson=0.4)) for e in (1e5, 1e7))
        basis = sp.modal_derivative_basis(body, modes=3, size=5)
        cubature = sp.train_cubature(body, basis.vectors)
        turned = sp.Basis(basis.vectors[::-1].copy(), basis.importance[::-1].copy())
        for wrong_body, wrong_basis in ((other, basis), (body, turned)):
            refused("another body or basis", sp.reduce, wrong_body, wrong_basis, cubature=cubature)

    def test_a_cubature_is_trained_where_needed(self):
        body = two_part_beam(sp.NeoHookean(young=1e5, poisson=0.4))
        model = sp.reduce(body, sp.modal_derivative_basis(body, modes=3, size=5))
        assert model.cubature is not None
        assert model.cubature.training_error < 0.03
        assert model.quartic is None


class TestRefusals:
    def test_wrong_arguments(self, beam, basis):
        refused("modal_derivative_basis", sp.reduce, beam, basis.vectors)
        refused("is one name", sp.reduce, beam, basis, regions="far")
        refused("nowhere", sp.reduce, beam, basis, regions=["nowhere"])
        other = sp.TetMesh.box(size=(1, 1, 1), cells=(1, 1, 1))
        body = sp.Body(other, sp.StVK(young=1e5, poisson=0.3), fixed=other.where(x=0))
        refused("make the basis from this body", sp.reduce, body, basis)

    def test_bodies_that_cannot_be_reduced(self, beam, basis):
        mesh, material = beam.mesh, beam.material
        swinging = sp.Support.oscillating(mesh.where(x=0), (0, 0, 0.1), 1.0)
        with pytest.raises(sp.InputError, match="supports that move"):
            sp.reduce(sp.Body(mesh, material, supports=[swinging]), basis)
        refused("rigid motions free", sp.reduce, sp.Body(mesh, material, fixed=[0]), basis)

    def test_supports_that_the_basis_ignores(self, beam):
        free = sp.Body(beam.mesh, beam.material, fixed=beam.mesh.where(x=1.0))
        refused("components that are held", sp.reduce, free, complete_basis(beam))

    def test_arrays_that_cannot_be_filled(self, model):
        q, shape = np.zeros(model.size), model.mesh.vertices.shape
        for out in (np.zeros(model.size + 5), np.zeros(3), np.zeros(model.size, dtype=int)):
            refused("out must be", model.pull, 0, (0, 0, 1), out=out)
        wide = np.zeros((shape[0], 4))[:, :3]
        for out in (wide, np.zeros(shape, order="F"), np.zeros(shape[::-1])):
            refused("out must be", model.displacements, q, out=out)

    def test_numbers_of_any_kind(self, model, tmp_path):
        model.edited(young=np.float32(2e5), density=np.int64(1200)).save(tmp_path / "m.supple")
        assert sp.load_model(tmp_path / "m.supple").groups[0].density == 1200.0

    @pytest.mark.parametrize("vertex", [1.5, True, "1", [0, 1]])
    def test_vertices_are_whole_numbers(self, model, vertex):
        refused("vertex=", model.pull, vertex, (0, 0, 1))

    def test_bad_vertices_and_shapes(self, model):
        refused("vertex=10000", model.pull, 10000, (0, 0, 1))
        refused("shape", model.force, np.zeros(3))
        refused("shape", model.project, np.zeros((2, 3)))
        refused("no skin", model.simulation().skin_vertices)


class TestForcesOnTheSkin:
    """Forces on a surface are those that its vertices pass on to the mesh (§3.1)."""

    def surface(self, body):
        inside = body.mesh.vertices[body.mesh.cells[:, :4]].mean(axis=1)
        return sp.Embedding(body.mesh, sp.Surface(inside, np.array([[0, 1, 2], [1, 2, 3]])))

    @pytest.mark.parametrize("held", [True, False], ids=["held", "free"])
    def test_power_is_that_of_the_forces(self, beam, held):
        body = beam if held else sp.Body(beam.mesh, sp.StVK(young=1e5, poisson=0.4))
        basis = sp.modal_derivative_basis(body, modes=4, size=7)
        model = sp.reduce(body, basis, skin=self.surface(body))
        rng = np.random.default_rng(2)
        forces = rng.normal(size=model.skin.vertices.shape)
        cells = body.mesh.cells
        on_mesh = np.zeros_like(body.mesh.vertices)  # barycentres: a quarter to each node
        for k, nodes in enumerate(cells[:, :4]):
            on_mesh[nodes] += forces[k] / 4
        whole, passed_on = model.project(forces, at="skin"), model.project(on_mesh)
        pulls = [model.pull(k, f, at="skin") for k, f in enumerate(forces)]
        for found in (whole, sum(pulls[1:], pulls[0])):
            if held:
                np.testing.assert_allclose(found, passed_on, atol=1e-10)
            else:
                np.testing.assert_allclose(found.force, passed_on.force, atol=1e-10)
                np.testing.assert_allclose(found.moments, passed_on.moments, atol=1e-10)
        live = model.simulation(dt=1e-3)
        live.step(force=whole)
        crowd_force = np.stack([whole, 2 * whole]) if held else None
        if crowd_force is not None:
            crowd = model.simulation(copies=2, dt=1e-3)
            crowd.run_steps(1, force=crowd_force)
            np.testing.assert_allclose(crowd.q[0], live.q, rtol=1e-6)

    def test_bad_places_named(self, model):
        with pytest.raises(sp.InputError, match="this model has no skin"):
            model.pull(0, (0, 0, 1), at="skin")
        with pytest.raises(sp.InputError, match="on the 'mesh' or on the 'skin'"):
            model.project(np.zeros_like(model.mesh.vertices), at="air")
        skinned = model.with_skin(self.surface(model.body))
        with pytest.raises(sp.InputError, match="has a skin with vertices 0 to 19"):
            skinned.pull(20, (0, 0, 1), at="skin")
