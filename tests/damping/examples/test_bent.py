"""Examples that bend with the body: s(χ) = χ x + χ² y₂ + …, and motion along s'(χ)."""

from __future__ import annotations

import numpy as np
import pytest
from tests.damping.examples.scenes import EQUIVARIANT, block, carried, forces, moved, quarter_turn

import supple as sp
from supple.bodies.shape import Shape

REACH = 1.5


def bent(mesh: sp.TetMesh, *, seed: int = 0, curve: sp.Curve | float = 4.0) -> sp.Example:
    """A random example of the part that is not held, of powers up to the fourth."""
    rng = np.random.default_rng(seed)
    free = (mesh.vertices[:, :1] > 0.1) * 1.0
    fields = free * rng.normal(size=(4, mesh.n_vertices, 3))
    x, bend = 0.1 * fields[0], 0.03 * fields[1:]
    return sp.Example(x, curve, name="bent").with_bend(bend, REACH)


@pytest.mark.parametrize("chi", [-4.0, -1.0, 0.0, 0.3, 1.4, 2.5])
def test_its_tangent_is_the_derivative_of_its_shape(chi):
    """Central differences of second order: the error falls to a quarter at half the distance."""
    example = bent(block())
    errors = []
    for h in (1e-2, 5e-3):
        slope = (example.at(chi + h) - example.at(chi - h)) / (2 * h)
        errors.append(np.abs(slope - example.tangent(chi)).max())
    assert errors[1] <= 0.26 * errors[0] + 1e-12
    assert np.abs(example.tangent(0.0) - example.shape).max() == 0.0


def test_beyond_its_reach_it_goes_on_straight():
    example = bent(block())
    end, way = example.at(REACH), example.tangent(REACH)
    assert np.allclose(example.at(REACH + 2), end + 2 * way, rtol=1e-13)
    assert np.array_equal(example.tangent(-9.0), example.tangent(-REACH))


def test_scaling_keeps_the_path():
    example = bent(block())
    larger = example.scaled(3 * example.amplitude)
    for chi in (-2.0, 0.4, 1.5, 4.0):
        assert np.allclose(larger.at(chi / 3), example.at(chi), rtol=1e-12, atol=1e-15)
    assert larger.with_curve(2.0).reach == pytest.approx(REACH / 3)
    assert not example.with_shape(example.shape).is_bent


@pytest.mark.parametrize("given", [{"bend": np.ones((1, 4, 3))}, {"reach": 1.0}])
def test_half_of_it_is_refused(given):
    with pytest.raises(sp.InputError, match="belong together"):
        sp.Example(np.ones((4, 3)), **given)


def test_coefficients_of_another_mesh_are_refused():
    with pytest.raises(sp.InputError, match=r"\(p, 4, 3\)"):
        sp.Example(np.ones((4, 3)), bend=np.ones((2, 5, 3)), reach=1.0)


@pytest.mark.parametrize("base", EQUIVARIANT.values(), ids=EQUIVARIANT.keys())
@pytest.mark.parametrize("chi", [-1.0, 0.7, 3.0])
def test_motion_along_it_feels_its_strength(base, chi):
    """At s(χ) the force against s'(χ) is γ times that of the base, wherever χ is."""
    mesh = block()
    body = sp.Body(mesh, sp.StVK(young=1e4, poisson=0.3), fixed=mesh.where(x=(None, 0.1)))
    # y without what is x by mass, so that s(χ) has the excitation χ
    given = bent(mesh)
    x, Mx = given.shape, body.mass_times(given.shape)
    bend = [y - np.vdot(y, Mx) / np.vdot(x, Mx) * x for y in given.bend]
    example = given.with_bend(bend, REACH)
    damping = sp.ExampleDamping(base, [example])
    shape = Shape(body, example.at(chi), order=2)
    assert damping.excitations(body, shape.u)[0] == pytest.approx(chi, rel=1e-12)
    v = example.tangent(chi)
    bases = [base] if isinstance(base, sp.Damping) else base
    plain = sum(each.bind(body).evaluate(shape, v)[1] for each in bases)
    found = damping.bind(body).evaluate(shape, v)[1]
    assert np.allclose(found, 4.0 * plain, atol=1e-9 * np.abs(plain).max())


@pytest.mark.parametrize("base", EQUIVARIANT.values(), ids=EQUIVARIANT.keys())
def test_it_turns_with_the_body(base):
    """Supports turned by 90°: forces are turned, and nothing else."""
    mesh, R = block(), quarter_turn()
    rng = np.random.default_rng(3)
    u, v = 0.02 * rng.normal(size=(2, mesh.n_vertices, 3))
    held = mesh.where(x=(None, 0.1))
    u[held] = v[held] = 0.0
    damping = sp.ExampleDamping(base, [bent(mesh, curve=sp.Curve.linear([(0.1, 0.2), (1.0, 5.0)]))])
    shift = np.array([0.3, -1.0, 2.0])
    force, scale = forces(carried(mesh), damping, u, v)
    turned, _ = forces(
        carried(mesh, R, tuple(R @ np.zeros(3) + shift)), damping, moved(mesh, u, R, shift), v @ R.T
    )
    assert np.abs(turned - force @ R.T).max() <= 1e-9 * np.abs(scale).max()


def test_files_keep_it(tmp_path):
    mesh = block()
    given = sp.ExampleDamping(sp.Rayleigh(mass=1.0), [bent(mesh), bent(mesh, seed=1)])
    sp.save_damping(given, tmp_path / "bent.toml")
    read = sp.load_damping(tmp_path / "bent.toml")
    for one, other in zip(given.examples, read.examples, strict=True):
        assert np.array_equal(one.bend, other.bend)
        assert one.reach == other.reach


def test_a_part_that_bends_beyond_itself_is_refused():
    mesh = block(regions=True)
    body = sp.Body(mesh, sp.StVK(young=1e4, poisson=0.3), fixed=mesh.where(x=(None, 0.1)))
    shape = sp.shape_within(body, bent(mesh).shape, "right")
    example = sp.Example(shape, region="right").with_bend(bent(mesh).bend, REACH)
    with pytest.raises(sp.InputError, match="outside"):
        sp.ExampleDamping(sp.Rayleigh(mass=1.0), [example]).bind(body)
