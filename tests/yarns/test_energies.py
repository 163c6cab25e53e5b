"""Energies of yarns: Taylor slopes, invariance, definite matrices, straight yarns."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.yarns.cases import SPACING, bent, cloth, derivatives, rates, remainders

from supple.yarns import WovenCloth, Yarn, YarnNet
from supple.yarns.material import YarnDamping

G = np.array([1.0, -2.0, -9.81])
TERMS = ("stretch", "bending", "shear", "contact")


def term(body, name):
    if name == "contact":
        return body.contact_potential
    return partial(body.strain_potential, name)


def close_together(body):
    """A state in which neighbours touch: arc lengths squeezed below two radii."""
    q = bent(body, size=0.02)
    q[:, 3:] *= 0.25
    return q


@pytest.mark.parametrize(
    ("name", "damped"), [*((name, False) for name in TERMS), *((name, True) for name in TERMS[:3])]
)
def test_derivatives_taylor_slopes(name, damped):
    body = cloth()
    q = close_together(body) if name == "contact" else bent(body)
    options = {}
    if damped:
        damping = YarnDamping(stretch=0.4, bending=0.6, shear=0.5, switch_angle=1e-6)
        options = {"before": body.before(bent(body, seed=5), damping, 1.0)}
    left = remainders(body, term(body, name), q, SPACING * rates(body, speed=1.0), **options)
    if name == "contact":  # quadratic where all touch
        energy, g, _ = derivatives(body, term(body, name), q)
        assert (left(1e-3) < 1e-9 * np.array([energy, np.linalg.norm(g)])).all()
        return
    np.testing.assert_allclose(np.log2(left(5e-4) / left(2.5e-4)), [3, 2], atol=0.15)


def test_gravity_gradient_is_exact():
    body = cloth()
    q, d = bent(body), SPACING * rates(body, speed=1.0)
    g = np.zeros_like(q)
    body.gravity_potential(q, G, g)
    difference = (body.gravity_potential(q + d, G) - body.gravity_potential(q - d, G)) / 2
    assert difference == pytest.approx(np.vdot(g, d), rel=1e-9)  # quadratic in q
    lifted = q + np.array([0, 0, 1.0, 0, 0])
    weight = body.gravity_potential(lifted, G) - body.gravity_potential(q, G)
    assert weight == pytest.approx(9.81 * mass_of(body, q), rel=1e-9)


def mass_of(body, q):
    nodes, family = body.net.segments
    density = np.array([body.warp.linear_density, body.weft.linear_density])[family]
    s = q[:, 3:]
    return float(np.sum(density * (s[nodes[:, 1], family] - s[nodes[:, 0], family])))


def test_vector_strain_of_damping_has_the_right_gradient():
    """Below the switch bending is measured by k/L (Eq. 22)."""
    body = cloth()
    q = bent(body, size=0.02)
    damping = YarnDamping(bending=0.6, switch_angle=0.9)
    before = body.before(bent(body, seed=5, size=0.02), damping, 1e-3)
    assert (before.bending[:, 2] == 1).all()
    d = SPACING * rates(body, speed=1.0)
    g = np.zeros_like(q)
    V = term(body, "bending")
    energy = V(q, g, before=before)
    steps = 1e-2 * 0.5 ** np.arange(5)
    left = [abs(V(q + h * d, before=before) - energy - h * np.vdot(g, d)) for h in steps]
    assert np.log2(left[-2] / left[-1]) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("name", TERMS[:3])
def test_definite_matrices_are_definite_and_right_where_nothing_is_pressed(name):
    body = cloth()
    for seed in range(3):
        q = bent(body, seed=seed, size=0.4)
        _, _, K = derivatives(body, term(body, name), q, definite=True)
        values = np.linalg.eigvalsh(body.pattern.full(K).toarray())
        assert values[0] > -1e-12 * values[-1]
    q = body.rest_state
    q[:, :2] *= 1.01  # pulled, flat
    _, _, exact = derivatives(body, term(body, name), q)
    _, _, stand_in = derivatives(body, term(body, name), q, definite=True)
    assert np.abs(exact - stand_in).max() <= 1e-9 * np.abs(exact).max()


@pytest.mark.parametrize("name", TERMS)
def test_energies_do_not_see_rigid_motion(name):
    body = cloth()
    q = bent(body)
    turn = Rotation.from_rotvec([0.4, -1.0, 2.0])
    moved = q.copy()
    moved[:, :3] = turn.apply(q[:, :3]) + np.array([0.1, 0.2, 0.3])
    energy, g, _ = derivatives(body, term(body, name), q)
    turned_energy, f, _ = derivatives(body, term(body, name), moved)
    assert turned_energy == pytest.approx(energy, rel=1e-9, abs=1e-30)
    size = np.linalg.norm(g) + 1e-30
    assert np.linalg.norm(f[:, :3] - turn.apply(g[:, :3])) <= 1e-9 * size
    assert np.linalg.norm(f[:, 3:] - g[:, 3:]) <= 1e-9 * size
    assert np.abs(g[:, :3].sum(axis=0)).max() <= 1e-10 * size
    assert np.abs(np.cross(q[:, :3], g[:, :3]).sum(axis=0)).max() <= 1e-10 * size * SPACING * 5


def test_bending_is_finite_and_continuous_through_straight():
    body = cloth()
    rest = body.rest_state
    energy, g, K = derivatives(body, term(body, "bending"), rest)
    assert energy == 0
    assert not g.any()
    bump = np.zeros_like(rest)
    bump[7, 2] = SPACING
    straight = body.pattern.full(K).toarray()
    assert np.isfinite(straight).all()
    for size in (1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4):
        for sign in (1, -1):
            q = rest + sign * size * bump
            _, g, K = derivatives(body, term(body, "bending"), q)
            expected = sign * size * (straight @ bump.ravel()).reshape(q.shape)
            assert np.abs(g - expected).max() <= size * np.abs(expected).max()
            near = body.pattern.full(K).toarray()
            assert np.abs(near - straight).max() <= size * np.abs(straight).max()


def test_closed_forms_of_one_yarn():
    """A stretched yarn pulls with EA ε; a yarn on a circle stores EI/(2 r²) a length."""
    yarn = Yarn(radius=1e-4, linear_density=5e-5, stretch=2.5, bending=3e-8)
    body = WovenCloth(YarnNet.patch(3, 200, spacing=SPACING), warp=yarn)
    q = body.rest_state
    q[:, 1] *= 1.02
    g = np.zeros_like(q)
    stretched = body.strain_potential("stretch", q, g)
    assert stretched == pytest.approx(3 * 0.5 * 2.5 * 0.02**2 * 0.199, rel=1e-9)
    assert g[199, 1] == pytest.approx(2.5 * 0.02, rel=1e-9)
    r = 0.05
    angle = body.rest_state[:, 1] / r
    q = body.rest_state
    q[:, 1], q[:, 2] = r * np.sin(angle), r * (1 - np.cos(angle))
    stored = 3 * 3e-8 / (2 * r**2) * 198 * SPACING  # where it can bend
    assert body.strain_potential("bending", q) == pytest.approx(stored, rel=1e-3)


def test_smearing_force_points_to_less_energy():
    """Eq. 18: a crossing slides towards the segment with more tension, to even it out."""
    body = cloth(friction=0)
    q = body.rest_state
    node = 7  # inside
    q[node, 1] += 0.1 * SPACING  # the segment before is stretched, the one after pressed
    g = np.zeros_like(q)
    before = body.strain_potential("stretch", q, g)
    assert g[node, 3] < 0  # energy falls as u grows
    q[node, 3] += 1e-3 * SPACING
    assert body.strain_potential("stretch", q) < before
