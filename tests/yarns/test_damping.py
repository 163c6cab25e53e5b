"""Dissipation of yarns: by strain rate, zero for rigid motion, never a gain; friction too."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.yarns.cases import SPACING, bent, cloth, derivatives, rates, turning

from supple.yarns import WovenCloth, Yarn, YarnDamping, YarnNet
from supple.yarns.cloth import STRAINS

KINDS = {
    "stretch": YarnDamping(stretch=0.03),
    "large bending": YarnDamping(bending=0.16, switch_angle=1e-6),
    "small bending": YarnDamping(bending=0.16, switch_angle=0.99),
    "shear": YarnDamping(shear=0.1),
}
every_kind = pytest.mark.parametrize("damping", KINDS.values(), ids=KINDS.keys())


@every_kind
def test_force_is_the_velocity_gradient_of_the_potential(damping):
    body = cloth()
    q, v = bent(body, size=0.05), rates(body)
    V, f = body.dissipation(q, v, damping)
    assert V > 0
    d = rates(body, seed=4)
    slope = (body.dissipation(q, v + d, damping)[0] - body.dissipation(q, v - d, damping)[0]) / 2
    assert slope == pytest.approx(-np.vdot(f, d), rel=1e-9)  # quadratic in v
    assert np.vdot(f, v) == pytest.approx(-2 * V, rel=1e-10)


@every_kind
def test_rate_of_strain_is_the_derivative_of_strain_along_the_motion(damping):
    """V_d of a step, with strains of the step for rates, tends to V_d at (q, v) as h does to 0.

    What two steps leave at first order is taken out between them; the rest is of second order.
    """
    body = cloth()
    q, v = bent(body, size=0.05), rates(body)
    V, f = body.dissipation(q, v, damping)
    found = []
    for h in (1e-6, 5e-7):
        before = body.before(q, damping, h)
        step = stored = 0.0
        g = np.zeros_like(q)
        for name in STRAINS:
            step += body.strain_potential(name, q + h * v, g, before=before)
            g_elastic = np.zeros_like(q)
            stored += body.strain_potential(name, q + h * v, g_elastic)
            g -= g_elastic
        found.append(np.append(-g / np.abs(f).max(), (step - stored) / h / V))
    exact = np.append(f / np.abs(f).max(), 1.0)
    coarse, fine = (np.abs(each - exact).max() for each in found)
    assert coarse / fine == pytest.approx(2, rel=0.1)
    assert np.abs(2 * found[1] - found[0] - exact).max() < 2e-4


@pytest.mark.parametrize("name", ["stretch", "large bending", "shear"])
def test_rigid_motion_is_not_damped(name):
    body = cloth()
    q = bent(body)
    rigid = turning(q, np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -0.2]))
    V, f = body.dissipation(q, rigid, KINDS[name])
    V_shaken, f_shaken = body.dissipation(q, rates(body, speed=np.abs(rigid).max()), KINDS[name])
    assert 0 <= V <= 1e-20 * V_shaken
    assert np.abs(f).max() <= 1e-10 * np.abs(f_shaken).max()


def test_rigid_motion_of_straight_yarns_is_not_damped_below_the_switch():
    body = cloth()
    q = body.rest_state
    rigid = turning(q, np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -0.2]))
    V, f = body.dissipation(q, rigid, KINDS["small bending"])
    _, f_shaken = body.dissipation(q, rates(body), KINDS["small bending"])
    assert np.abs(f).max() <= 1e-12 * np.abs(f_shaken).max()
    assert V >= 0


def test_below_the_switch_rigid_motion_is_damped_by_the_square_of_the_angle():
    """What the vector strain costs: V_d of a spin falls with θ², so the switch keeps it small."""
    body = cloth()
    lost = []
    for size in (0.02, 0.01):
        q = body.rest_state
        q[:, :3] += size * (bent(body)[:, :3] - q[:, :3])
        rigid = turning(q, np.array([1.0, -2.0, 0.5]), np.zeros(3))
        lost.append(body.dissipation(q, rigid, KINDS["small bending"])[0])
    assert lost[0] / lost[1] == pytest.approx(4, rel=0.02)


def test_whole_turns_in_one_step_are_not_damped():
    body = cloth()
    q = bent(body)
    damping = YarnDamping(stretch=0.03, bending=0.16, shear=0.1, switch_angle=1e-6)
    before = body.before(q, damping, 1e-3)
    turned = q.copy()
    turned[:, :3] = Rotation.from_rotvec([0.5, 1.0, -0.3]).apply(q[:, :3]) + np.array([1, 2, 3])
    for name in STRAINS:
        f, g = np.zeros_like(q), np.zeros_like(q)
        with_damping = body.strain_potential(name, turned, f, before=before)
        assert with_damping == pytest.approx(body.strain_potential(name, turned, g), rel=1e-9)
        assert np.abs(f - g).max() <= 1e-7 * np.abs(g).max()


def test_bending_force_is_finite_and_continuous_through_straight():
    """A yarn that is bent through θ = 0 at a steady rate feels a steady force."""
    body = cloth()
    damping = YarnDamping(bending=0.16)
    v = np.zeros((body.n_nodes, 5))
    v[7, 2] = 1.0
    forces = []
    heights = np.concatenate([-np.geomspace(1e-2, 1e-14, 40), [0], np.geomspace(1e-14, 1e-2, 40)])
    for height in heights:
        q = body.rest_state
        q[7, 2] += height * SPACING
        forces.append(body.dissipation(q, v, damping)[1])
    forces = np.array(forces)
    assert np.isfinite(forces).all()
    middle = np.abs(forces[40]).max()
    assert middle > 0
    # The force turns with the yarn, by the angle, and changes in size by its square.
    change = np.abs(forces - forces[40]).max(axis=1) / middle
    assert (change[:, 2] <= 5 * heights**2 + 1e-15).all()
    assert (change.max(axis=1) <= 0.5 * np.abs(heights) + 1e-15).all()


def test_forces_agree_across_the_switch():
    """Bent in one plane, both measures give nearly the same force, and the blend lies between."""
    body = cloth()
    v = np.zeros((body.n_nodes, 5))
    v[7, 2] = 1.0
    sizes = []
    for angle in np.linspace(0.01, 0.08, 15):
        q = body.rest_state
        q[7, 2] += angle * 0.5 * SPACING
        sizes.append(np.abs(body.dissipation(q, v, YarnDamping(bending=1.0))[1]).max())
    assert np.ptp(sizes) < 0.02 * np.mean(sizes)
    assert np.abs(np.diff(sizes)).max() < 0.005 * np.mean(sizes)


# -- friction ------------------------------------------------------------------------------------


def test_pressure_of_a_pulled_plain_weave():
    """Tension T over crimp of height R: each yarn presses with T·2·(2R)/spacing."""
    yarn = Yarn(radius=1e-4, linear_density=5e-5, stretch=2.0, bending=0.0)
    body = WovenCloth(YarnNet.patch(9, 9, spacing=SPACING), warp=yarn)
    assert np.abs(body.pressure(body.rest_state)).max() < 1e-15
    q = body.rest_state
    q[:, :2] *= 1.01
    inside = ~body.net.edge
    tension = 2.0 * 0.01
    expected = tension * 2 * (2 * 1e-4) / (1.01 * SPACING)
    np.testing.assert_allclose(body.pressure(q)[inside], expected, rtol=1e-9)


def test_pressure_of_crimp_alone():
    """A plain weave bends every yarn by 4R/spacing at each crossing; its stiffness presses."""
    yarn = Yarn(radius=1e-4, linear_density=5e-5, stretch=2.0, bending=1e-9)
    body = WovenCloth(YarnNet.patch(9, 9, spacing=SPACING), warp=yarn)
    moment = 1e-9 * 4 * 1e-4 / SPACING / SPACING
    middle = 4 * 9 + 4
    assert body.pressure(body.rest_state)[middle] == pytest.approx(4 * moment / SPACING)


def test_friction_has_a_gradient_and_dissipates():
    body = cloth()
    q0 = bent(body, size=0.05)
    q = q0 + 1e-6 * rates(body, speed=1.0)
    slope, pressure = body.slopes(q0), np.abs(rates(body)[:, 0])
    d = 1e-6 * rates(body, seed=7, speed=1.0)
    h = 1e-3

    def potential(q, *into):
        return body.friction_potential(q, q0, slope, pressure, h, *into)

    energy, g, K = derivatives(body, potential, q)
    assert energy > 0
    assert potential(q0) == 0
    e = 1e-4
    (ahead, far, _), (behind, near, _) = (derivatives(body, potential, q + s * d) for s in (e, -e))
    assert (ahead - behind) / (2 * e) == pytest.approx(np.vdot(g, d), rel=1e-5)
    Kd = body.pattern.multiply(K, d)
    np.testing.assert_allclose((far - near) / (2 * e), Kd, atol=1e-4 * np.abs(Kd).max())
    assert np.vdot(g, q - q0) > 0
    assert not g[:, :3].any()


def test_friction_tends_to_coulombs_limit():
    body = cloth(friction=0.5, slip_speed=1e-6)
    q0 = body.rest_state
    q = q0.copy()
    q[7, 3] += 1e-4  # at 0.1 m/s
    g = np.zeros_like(q)
    body.friction_potential(q, q0, body.slopes(q0), np.full(body.n_nodes, 0.2), 1e-3, g)
    assert g[7, 3] == pytest.approx(0.5 * 0.2, rel=1e-6)
