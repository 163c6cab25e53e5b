"""Levels of detail: reduced models in fewer coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reduction.conftest import every_cell, relative, two_part_beam
from tests.reduction.runtime.floating_bodies import small
from tests.refusals import refused

import supple as sp
from supple.reduction.detail import change_of_coordinates
from supple.reduction.polynomial import Quartic, coefficient_count


def in_basis(body: sp.Body, vectors: np.ndarray) -> sp.Basis:
    return sp.Basis(vectors, np.ones(len(vectors)))


@pytest.mark.parametrize("sizes", [(1, 1), (3, 2), (5, 5), (7, 3)])
def test_a_transformed_polynomial_is_the_same_at_the_same_place(sizes):
    rng = np.random.default_rng(0)
    quartic = Quartic(sizes[0], rng.normal(size=coefficient_count(sizes[0])))
    T = rng.normal(size=sizes)
    p = rng.normal(size=sizes[1])
    energy, R, K = quartic.evaluate(T @ p)
    found = quartic.transformed(T).evaluate(p)
    assert relative(found[0], energy) < 1e-12
    assert relative(found[1], T.T @ R) < 1e-12
    assert relative(found[2], T.T @ K @ T) < 1e-12


class TestDetail:
    def test_the_slowest_vibrations_stay(self, model):
        for size in (1, 6, 12):
            fewer = model.detail(size)
            assert fewer.size == size
            assert np.allclose(fewer.frequencies, model.frequencies[:size], rtol=1e-9)

    def test_whatever_the_order_of_the_vectors(self, beam, basis, model):
        turned = sp.reduce(beam, in_basis(beam, basis.vectors[::-1].copy()))
        assert turned.truncated(6).frequencies[0] > 2 * model.frequencies[0]
        assert np.allclose(turned.detail(6).frequencies, model.frequencies[:6], rtol=1e-8)

    def test_it_is_the_model_of_its_basis(self, beam, basis):
        model = sp.reduce(beam, basis, regions=["far"])
        fewer = model.detail(5, modes=3)
        rebuilt = sp.reduce(beam, in_basis(beam, fewer.vectors), regions=["far"])
        q = 0.3 * np.random.default_rng(1).normal(size=5) / np.abs(fewer.vectors).max()
        for one, other in (
            (fewer, rebuilt),
            (
                fewer.edited("far", young=3e5, density=200.0),
                rebuilt.edited("far", young=3e5, density=200.0),
            ),
        ):
            for found, wanted in zip(one.evaluate(q), other.evaluate(q), strict=True):
                assert relative(found, wanted) < 1e-9
            assert relative(one.mass, other.mass) < 1e-9
            assert relative(one.weight((1, 2, 3)), other.weight((1, 2, 3))) < 1e-9
            found, wanted = (m.momenta(q, q[::-1]) for m in (one, other))
            assert relative(found[0], wanted[0]) < 1e-9
            assert relative(found[1], wanted[1]) < 1e-9

    def test_where_large_vibrations_lead_softens_them(self, beam, model):
        """A large deflection under a force, against the larger model that both are parts of."""
        push = model.pull(int(beam.mesh.vertices[:, 0].argmax()), (0.0, 0.0, 30.0))

        def deflection(part: sp.ReducedModel) -> float:
            sim = part.simulation(
                damping=sp.Rayleigh(mass=20.0), dt=0.01, integrator=sp.BackwardEuler()
            )
            sim.run_steps(400, force=change_of_coordinates(part, model).T @ push)
            return float(np.abs(sim.displacements()).max())

        whole = deflection(model)
        plain, led = deflection(model.detail(6)), deflection(model.detail(6, modes=3))
        assert whole > 0.2  # of a length of 1 m
        assert abs(led - whole) < 0.5 * abs(plain - whole)
        assert np.allclose(
            model.detail(6, modes=3).frequencies[:3], model.frequencies[:3], rtol=1e-9
        )

    def test_more_than_derivatives_can_fill(self, model):
        fewer = model.detail(11, modes=2)  # two vibrations have three derivatives
        assert np.allclose(fewer.mass, np.eye(11), atol=1e-9)
        assert np.allclose(fewer.frequencies[:2], model.frequencies[:2], rtol=1e-9)

    def test_of_other_materials(self):
        body = two_part_beam(sp.StableNeoHookean(young=1e5, poisson=0.4))
        basis = sp.modal_derivative_basis(body, modes=3, size=6)
        model = sp.reduce(body, basis, cubature=every_cell(body, basis.vectors))
        fewer = model.detail(4)
        assert np.allclose(fewer.frequencies, model.frequencies[:4], rtol=1e-9)
        rebuilt = sp.reduce(
            body, in_basis(body, fewer.vectors), cubature=every_cell(body, fewer.vectors)
        )
        q = 0.02 * np.random.default_rng(1).normal(size=4)
        assert relative(fewer.force(q), rebuilt.force(q)) < 1e-9

    def test_of_a_free_body(self):
        model = small()
        fewer = model.detail(3)
        assert np.allclose(fewer.frequencies, model.frequencies[:3], rtol=1e-8)
        sim = fewer.simulation(dt=1e-3)
        sim.spin = (1.0, 2.0, 3.0)
        before = sim.angular_momentum
        sim.run_steps(20)
        assert np.allclose(sim.angular_momentum, before, rtol=1e-10)

    def test_a_skin_goes_along(self, beam, model):
        surface = beam.mesh.boundary()
        skinned = model.with_skin(sp.Embedding(beam.mesh, surface))
        fewer = skinned.detail(4)
        assert fewer.skin is not None
        assert relative(fewer.skin.vectors, fewer.vectors[:, surface.vertex_ids]) < 1e-9

    def test_bad_sizes(self, model):
        for size in (0, 13, 2.5):
            refused("size=", model.detail, size)
        refused("modes=", model.detail, 3, modes=4)
        refused("modes=", model.detail, 3, modes=0)


class TestWithout:
    def test_any_vector(self, beam, basis, model):
        kept = [0, 1, 3, 4, 6, 7, 8, 9, 10, 11]
        fewer = model.without([2, 5])
        rebuilt = sp.reduce(beam, in_basis(beam, basis.vectors[kept]))
        q = 0.3 * np.random.default_rng(2).normal(size=10) / np.abs(basis.vectors).max()
        for found, wanted in zip(fewer.evaluate(q), rebuilt.evaluate(q), strict=True):
            assert relative(found, wanted) < 1e-11
        assert np.array_equal(fewer.vectors, model.vectors[kept])
        last = model.without(11)
        assert (
            relative(last.force(q[:1].repeat(11)), model.truncated(11).force(q[:1].repeat(11)))
            < 1e-12
        )

    def test_what_cannot_be_left_out(self, model):
        refused("vectors=", model.without, [2, 12])
        refused("vectors=", model.without, -1)
        refused("keep some", model.without, range(12))


class TestChangeOfCoordinates:
    def test_down_and_up(self, model):
        fewer = model.detail(5)
        down, up = change_of_coordinates(model, fewer), change_of_coordinates(fewer, model)
        assert np.allclose(down @ up, np.eye(5), atol=1e-12)
        q = np.random.default_rng(3).normal(size=12)
        left = q - up @ (down @ q)
        assert np.abs(up.T @ model.mass @ left).max() < 1e-12  # what is lost is orthogonal by mass

    def test_between_parts_of_one_model(self, model):
        one, other = model.detail(8), model.detail(8).detail(3)
        X = change_of_coordinates(one, other)
        assert np.allclose(np.abs(X), np.eye(3, 8), atol=1e-9)

    def test_without_a_common_origin(self, beam, basis, model):
        twin = sp.reduce(beam, basis)
        assert np.allclose(change_of_coordinates(model, twin), np.eye(12), atol=1e-10)
        assert np.allclose(
            change_of_coordinates(model, twin.truncated(4)), np.eye(4, 12), atol=1e-10
        )

    def test_of_another_mesh(self, model):
        refused("another mesh", change_of_coordinates, model, small())
