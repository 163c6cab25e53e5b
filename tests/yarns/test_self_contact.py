"""Woven cloth that folds on itself: nothing passes, whatever the speed; derivatives, momentum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refused

import supple as sp
from supple.solvers import Cholesky
from supple.yarns import (
    WovenCloth,
    Yarn,
    YarnDamping,
    YarnNet,
    YarnSelfContact,
    YarnSimulation,
)
from supple.yarns.self_contact import SelfContactForces

SPACING, ROUND = 1e-3, 1.2e-3
YARN = Yarn(radius=2e-4, linear_density=1e-4, stretch=0.5, bending=1e-11)
THICK = 4 * YARN.radius
DAMPING = YarnDamping(stretch=3e-3, bending=0.05, shear=3e-3)


def strip(long: int = 28, wide: int = 4) -> WovenCloth:
    return WovenCloth(
        YarnNet.patch(long, wide, spacing=SPACING), warp=YARN, shear=1e-8, friction=0.3
    )


def folded(body: WovenCloth) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q of a strip bent over, and which crossings are below and above."""
    q = body.rest_state
    s, bend = q[:, 0].copy(), np.pi * ROUND
    half = (s.max() - bend) / 2
    angle = np.clip((s - half) / ROUND, 0, np.pi)
    q[:, 0] = np.minimum(s, half) + ROUND * np.sin(angle) - np.maximum(s - half - bend, 0)
    q[:, 2] = ROUND * (1 - np.cos(angle))
    return q, s < half, s > half + bend


def falling(speed: float = 0.0, **options) -> tuple[YarnSimulation, np.ndarray]:
    """The upper half of a strip is thrown at the lower, which is held."""
    body = strip()
    q, below, above = folded(body)
    given = {
        "damping": DAMPING,
        "gravity": (0, 0, -9.81),
        "fixed": below,
        "self_contact": YarnSelfContact(friction=0.3),
        "linear": Cholesky(),
        **options,
    }
    sim = YarnSimulation(body, **given)
    v = np.zeros_like(q)
    v[above, 2] = -speed
    sim.set_state(q=q, v=v)
    return sim, above


def pierced(net: YarnNet, x: np.ndarray) -> int:
    """How many yarn segments go through triangles of the cloth that they are not part of."""
    triangles = net.corners
    segments = net.segments[0]
    a, b, c = (x[triangles[:, k]][None] for k in range(3))
    p, q = (x[segments[:, k]][:, None] for k in range(2))

    def side(u, v, w, at):
        return np.einsum("stk,stk->st", np.cross(v - u, w - u), at - u)

    across = side(a, b, c, p) * side(a, b, c, q) < 0
    turns = [side(p, q, u, v) > 0 for u, v in ((a, b), (b, c), (c, a))]
    within = (turns[0] == turns[1]) & (turns[1] == turns[2])
    apart = (segments[:, None, :, None] != triangles[None, :, None, :]).all(axis=(2, 3))
    return int((across & within & apart).sum())


def distances(body: WovenCloth, x: np.ndarray) -> float:
    """The least distance of a crossing from the cloth elsewhere, by trying points of triangles."""
    net = body.net
    share = np.array([(i, j, 8 - i - j) for i in range(9) for j in range(9 - i)]) / 8
    points = np.einsum("ka,tai->tki", share, x[net.corners])
    gap = np.linalg.norm(points[None] - x[:, None, None], axis=3).min(axis=2)
    s = net.arc_lengths
    off = np.abs(s[net.corners][None] - s[:, None, None]).sum(axis=3).min(axis=2)
    return float(gap[off > 4.5 * SPACING].min())


def test_without_it_a_fold_goes_through_itself():
    sim, _ = falling(self_contact=None)
    sim.run(0.03, every=1000)
    assert pierced(sim.cloth.net, sim.q[:, :3]) > 0


@pytest.mark.parametrize("dt", [1e-3, 4e-3])
@pytest.mark.parametrize("speed", [0.0, 1.0, pytest.param(10.0, marks=pytest.mark.verify)])
def test_nothing_passes_at_any_speed(speed, dt):
    sim, above = falling(speed, dt=dt)
    motion = sim.run(0.024 if speed == 0 else 0.012)
    assert [pierced(sim.cloth.net, x) for x in motion.positions] == [0] * len(motion)
    assert distances(sim.cloth, motion.positions[-1]) > 0.9 * THICK
    lower = motion.positions[-1][above, 2].min()
    assert 0.5 * THICK < lower < 1.6 * ROUND  # it has come down, and none is inside the other half


@pytest.mark.parametrize("rule", [sp.TRBDF2(), sp.BDF2()], ids=repr)
def test_nothing_passes_by_rules_of_second_order(rule):
    sim, _ = falling(1.0, integrator=rule)
    motion = sim.run(0.01)
    assert [pierced(sim.cloth.net, x) for x in motion.positions] == [0] * len(motion)
    energy = motion.kinetic + motion.potential
    assert np.diff(energy).max() < 1e-3 * motion.kinetic.max()


def test_nothing_passes_in_one_iteration_a_step():
    sim, _ = falling(1.0, iterations=1)
    motion = sim.run(0.02)
    assert [pierced(sim.cloth.net, x) for x in motion.positions] == [0] * len(motion)


def test_energy_never_grows():
    for speed in (0.0, 3.0):
        motion = falling(speed)[0].run(0.012)
        energy = motion.kinetic + motion.potential
        assert np.diff(energy).max() < 1e-6 * np.ptp(energy)
        assert (np.diff(motion.dissipated) >= 0).all()


def two_sheets(gap: float, n: int = 6) -> tuple[WovenCloth, np.ndarray]:
    """Two patches in one net, the second over the first and turned a little; which are above."""
    one = YarnNet.patch(n, n, spacing=SPACING)
    other = YarnNet.patch(n - 2, n - 2, spacing=SPACING, origin=(0.9e-3, 1.2e-3, gap))
    turned = other.positions.copy()
    turned[:, 0] += 0.2 * turned[:, 1]
    shifted = np.where(other.along >= 0, other.along + one.n_nodes, -1)
    net = YarnNet(
        np.concatenate([one.positions, turned]),
        np.concatenate([one.arc_lengths, other.arc_lengths]),
        np.concatenate([one.along, shifted]),
        np.concatenate([one.warp_on_top, other.warp_on_top]),
    )
    body = WovenCloth(net, warp=YARN, shear=1e-7, friction=0.3, slip_speed=1e-3)
    return body, np.arange(net.n_nodes) >= one.n_nodes


def test_gaps_are_those_between_the_layers():
    body, above = two_sheets(0.6 * THICK)
    sim = YarnSimulation(body, self_contact=YarnSelfContact())
    assert len(sim.layer_gaps) >= above.sum()
    assert sim.layer_gaps.min() == pytest.approx(0.6 * THICK)
    assert sim.layer_gaps.max() < THICK
    far, _ = two_sheets(1.1 * THICK)
    assert not len(YarnSimulation(far, self_contact=YarnSelfContact()).layer_gaps)
    assert not len(YarnSimulation(body).layer_gaps)


def test_forces_are_the_gradient_and_add_up_to_nothing():
    body, above = two_sheets(0.6 * THICK)
    forces = SelfContactForces(body, YarnSelfContact(friction=0.5))
    rng = np.random.default_rng(4)
    x = body.net.positions + 0.05 * SPACING * rng.normal(size=(body.n_nodes, 3))
    past = x + 1e-6 * rng.normal(size=x.shape)
    forces.begin(x, past, 1e-3)
    d = rng.normal(size=x.shape)
    for potential in (forces.energy, forces.rubbed):
        push = np.zeros_like(x)
        assert potential(x, push) > 0
        e = 1e-9
        slope = (potential(x + e * d) - potential(x - e * d)) / (2 * e)
        assert slope == pytest.approx(np.vdot(push, d), rel=1e-5)
        size = np.abs(push).max()
        np.testing.assert_allclose(push.sum(axis=0), 0, atol=1e-12 * size)
    push = np.zeros_like(x)
    forces.energy(x, push)
    torque = np.cross(x, push).sum(axis=0)
    np.testing.assert_allclose(torque, 0, atol=1e-12 * np.abs(push).max() * SPACING * 10)
    assert push[above, 2].sum() < 0 < push[~above, 2].sum()


def test_matrix_is_symmetric_definite_and_that_of_friction_exact():
    body, _ = two_sheets(0.6 * THICK)
    forces = SelfContactForces(body, YarnSelfContact(friction=0.5))
    x = body.net.positions.copy()
    past = x + 1e-6 * np.random.default_rng(1).normal(size=x.shape)
    forces.begin(x, past, 1e-3)
    zero = np.zeros((body.pattern.n_blocks, 5, 5))
    values = forces.with_matrix(zero, x, majorized=False)
    full = forces.pattern.full(values).toarray()
    np.testing.assert_allclose(full, full.T, rtol=0, atol=1e-15 * np.abs(full).max())
    sizes = np.linalg.eigvalsh(full)
    assert sizes[0] > -1e-9 * sizes[-1]
    rubbing = SelfContactForces(body, YarnSelfContact(friction=0.5))
    rubbing.begin(x, past, 1e-3)
    none = SelfContactForces(body, YarnSelfContact())
    none.begin(x, past, 1e-3)
    pressed = none.with_matrix(zero, x, majorized=False)
    of_friction = full - none.pattern.full(pressed).toarray()
    d, e = np.random.default_rng(2).normal(size=x.shape), 1e-10
    ends = []
    for at in (x + e * d, x - e * d):
        ends.append(np.zeros_like(x))
        rubbing.rubbed(at, ends[-1])
    wide = np.zeros((len(x), 5))
    wide[:, :3] = d
    found = (of_friction @ wide.ravel()).reshape(-1, 5)[:, :3]
    np.testing.assert_allclose(
        (ends[0] - ends[1]) / (2 * e), found, atol=1e-4 * np.abs(found).max()
    )


def test_momentum_is_kept_in_a_collision():
    body, above = two_sheets(1.5 * THICK)
    sim = YarnSimulation(
        body, damping=DAMPING, self_contact=YarnSelfContact(friction=0.5), tolerance=1e-9
    )
    v = np.zeros((body.n_nodes, 3))
    v[above] = 0.3, 0.1, -1.0
    sim.set_state(v=v)
    start = sim.linear_momentum
    sim.run(0.01)
    after = sim.linear_momentum
    np.testing.assert_allclose(after, start, atol=1e-7 * np.abs(start).max())
    assert sim.v[~above, 2].mean() < -0.05  # the lower one was hit


@pytest.mark.parametrize(("friction", "stays"), [(0.0, False), (1.0, True)])
def test_a_patch_slides_on_the_other_or_stays_as_friction_says(friction, stays):
    body, above = two_sheets(0.99 * THICK, n=8)
    sim = YarnSimulation(
        body,
        damping=DAMPING,
        gravity=(2.0, 0, -9.0),
        fixed=~above,
        self_contact=YarnSelfContact(friction=friction),
    )
    sim.run(0.02, every=1000)
    slid = (sim.q[above, 0] - body.net.positions[above, 0]).mean()
    free = 2.0 * 0.02**2 / 2
    assert slid < 0.3 * free if stays else slid == pytest.approx(free, rel=0.15)


def test_flat_and_bent_cloth_does_not_touch_itself():
    body = strip()
    forces = SelfContactForces(body, YarnSelfContact())
    assert forces.energy(body.net.positions) == 0
    assert forces.energy(np.ascontiguousarray(folded(body)[0][:, :3])) == 0


def test_seams_are_no_contact():
    from tests.yarns.test_garments import sleeve

    net = YarnNet.from_garment(sleeve(), spacing=5e-3)
    yarn = replace(YARN, radius=5e-4)
    forces = SelfContactForces(WovenCloth(net, warp=yarn), YarnSelfContact())
    assert forces.energy(net.positions) == 0


def test_pairs_are_all_that_are_near():
    body, _ = two_sheets(1.2 * THICK)
    forces = SelfContactForces(body, YarnSelfContact())
    x = body.net.positions + 0.1 * SPACING * np.random.default_rng(8).normal(size=(body.n_nodes, 3))
    forces._look(x, 0.5 * THICK)
    share = np.array([(i, j, 30 - i - j) for i in range(31) for j in range(31 - i)]) / 30
    points = np.einsum("ka,tai->tki", share, x[forces._triangles])
    gap = np.linalg.norm(points[None] - x[:, None, None], axis=3).min(axis=2)
    for i, row in enumerate(gap):
        near = forces._near[forces._near_at[i] : forces._near_at[i + 1]]
        own = np.isin(forces._triangles, near).any(axis=1)
        found = set(forces._pairs[forces._pairs[:, 0] == i, 1].tolist())
        surely = set(np.flatnonzero(~own & (row < 1.5 * THICK - 0.02 * SPACING)).tolist())
        perhaps = set(np.flatnonzero(~own & (row < 1.5 * THICK + 0.02 * SPACING)).tolist())
        assert surely <= found <= perhaps
    assert len(forces._pairs)


def test_a_step_is_cut_before_anything_passes():
    body, above = two_sheets(2.0 * THICK)
    forces = SelfContactForces(body, YarnSelfContact())
    x = body.net.positions
    way = np.zeros_like(x)
    way[above, 2] = -20 * THICK
    share = forces.collision_free_step(x, way)
    assert 0 < share < 0.1
    assert forces.collision_free_step(x, -way) > share
    rigid = np.tile([1.0, 2.0, 3.0], (len(x), 1))
    assert forces.collision_free_step(x, rigid) == 1.0


def test_the_motion_after_a_snapshot_is_the_same_again(tmp_path):
    sim, _ = falling(1.0)
    other, _ = falling(1.0)
    for _ in range(6):
        sim.step()
    kept = sim.snapshot()
    ways = []
    for each in (sim, sim, other):
        if each is sim:
            sim.restore(kept)
        for _ in range(8 if each is sim else 14):
            each.step()
        ways.append(each.q.tobytes() + each.v.tobytes())
    assert ways[0] == ways[1] == ways[2]

    class Stop(Exception):
        pass

    def stop(done: int, total: int, what: str) -> None:
        if done == 9:
            raise Stop

    path = tmp_path / "fold.motion"
    whole = falling(1.0)[0].run(0.012, every=2, record=tmp_path / "whole.motion")
    with pytest.raises(Stop):
        falling(1.0)[0].run(0.012, every=2, record=path, progress=stop)
    again = falling(1.0)[0].run(0.012, every=2, record=path, resume=True)
    assert np.array_equal(whole.positions, again.positions)


def test_what_cannot_be():
    refused("self_contact", YarnSimulation, strip(), self_contact=True)
    refused("friction", YarnSelfContact, friction=-1)
