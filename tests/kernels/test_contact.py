"""Contact of single vertices with planes, against a constrained minimisation by SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from supple._kernels.contact.vertices import (
    FREE,
    SLIDING,
    STICKING,
    contact_energy,
    project_contacts,
)


def random_pairs(count: int = 60, seed: int = 0):
    """Vertices on both sides of planes in general position, those that stick and that slide."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(count, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    s, origin = rng.normal(size=(2, count, 3))
    offset = np.einsum("ki,ki->k", normal, s) + rng.normal(size=count)
    friction = rng.uniform(0, 3, count)
    friction[::7] = 0.0
    return s, normal, offset, origin, friction


def projected(s, normal, offset, origin, friction, limits, *, majorized=False):
    z, kind = np.empty_like(s), np.empty(len(s), dtype=np.int64)
    blocks = np.empty((len(s), 3, 3))
    project_contacts(s, normal, offset, origin, friction, limits, z, kind, blocks, majorized)
    return z, kind, blocks


def objective(z, s, n, o, limit):
    """½ ‖z − s‖² + limit ‖T (z − o)‖, over the weight."""
    return 0.5 * np.sum((z - s) ** 2) + limit * np.linalg.norm((z - o) - n * (n @ (z - o)))


def minimised(s, n, b, o, limit):
    """The same by SciPy, from where the friction is smooth."""
    found = minimize(
        lambda z: objective(z, s, n, o, limit),
        s + 0.3,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda z: n @ z - b, "jac": lambda z: n},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.x


@pytest.mark.parametrize("given", [True, False], ids=["limits", "depth"])
def test_held_out_as_scipy_finds(given):
    s, normal, offset, origin, friction = random_pairs()
    depth = np.maximum(offset - np.einsum("ki,ki->k", normal, s), 0)
    limits = np.random.default_rng(1).uniform(0, 2, len(s)) if given else friction * depth
    z, kind, _ = projected(s, normal, offset, origin, friction, limits if given else np.zeros(0))
    assert {FREE, SLIDING, STICKING} - set(kind.tolist()) <= ({FREE} if given else set())
    for k in range(len(s)):
        n, o = normal[k], origin[k]
        assert n @ z[k] >= offset[k] - 1e-14
        other = minimised(s[k], n, offset[k], o, limits[k])
        mine, theirs = (objective(x, s[k], n, o, limits[k]) for x in (z[k], other))
        assert mine <= theirs + 1e-12
        # the objective is 1-strongly convex: ½ ‖z − z*‖² is at most what the value is off
        slack = max(theirs - mine, 0.0) + 1e-9  # SLSQP violates the constraint by some rounding
        assert np.sum((z[k] - other) ** 2) <= 2 * slack


def test_friction_does_not_exceed_its_limit_and_opposes_slip():
    s, normal, offset, origin, friction = random_pairs(seed=4)
    z, kind, _ = projected(s, normal, offset, origin, friction, np.zeros(0))
    force = z - s
    f_n = np.einsum("ki,ki->k", force, normal)
    f_t = force - f_n[:, None] * normal
    slip = (z - origin) - np.einsum("ki,ki->k", z - origin, normal)[:, None] * normal
    size, fast = np.linalg.norm(f_t, axis=1), np.linalg.norm(slip, axis=1)
    assert (f_n >= 0).all()
    assert (size <= friction * f_n * (1 + 1e-14) + 1e-15).all()
    assert fast[kind == STICKING].max() <= 1e-15 * 10
    sliding = (kind == SLIDING) & (friction > 0)
    np.testing.assert_allclose(size[sliding], (friction * f_n)[sliding], rtol=1e-13)
    along = np.einsum("ki,ki->k", f_t, slip)[sliding]
    np.testing.assert_allclose(along, -(size * fast)[sliding], rtol=1e-13)
    assert sliding.sum() > 5
    assert (kind == STICKING).sum() > 5


def test_sticks_up_to_the_limit():
    """Eq. 59: the slip that the limit just takes back is none at all; the next float is one."""
    n, o = np.array([[0.0, 0.0, 1.0]]), np.zeros((1, 3))
    mu, depth = np.array([0.5]), 0.5
    for slip, expected in ((0.25, STICKING), (np.nextafter(0.25, 1), SLIDING)):
        z, kind, _ = projected(np.array([[slip, 0.0, -depth]]), n, np.zeros(1), o, mu, np.zeros(0))
        assert kind[0] == expected
        assert z[0, 2] == 0
        assert z[0, 0] == (0 if expected == STICKING else pytest.approx(0, abs=1e-16))


def test_blocks_are_the_derivative():
    """With limits given, I − ∂z/∂s by differences; symmetric and positive semidefinite."""
    s, normal, offset, origin, friction = random_pairs(seed=2)
    pairs = normal, offset, origin, friction, np.random.default_rng(3).uniform(0, 2, len(s))
    _, kind, blocks = projected(s, *pairs)
    h, slope = 1e-6, np.empty((len(s), 3, 3))
    smooth = np.ones(len(s), dtype=bool)
    for j in range(3):
        ahead, behind = (projected(s + sign * h * np.eye(3)[j], *pairs) for sign in (1, -1))
        slope[:, :, j] = (ahead[0] - behind[0]) / (2 * h)
        smooth &= (ahead[1] == kind) & (behind[1] == kind)
        depth = [offset - np.einsum("ki,ki->k", normal, s + g * np.eye(3)[j]) for g in (h, -h)]
        smooth &= np.sign(depth[0]) == np.sign(depth[1])
    assert smooth.mean() > 0.9
    # curvature of z is at most 1/slip; slips are above 0.01 here
    np.testing.assert_allclose(np.eye(3) - slope[smooth], blocks[smooth], atol=1e-7)
    np.testing.assert_allclose(blocks, blocks.transpose(0, 2, 1), atol=1e-15)
    assert np.linalg.eigvalsh(blocks).min() >= -1e-14


def test_cautious_blocks_are_those_of_a_larger_pull():
    """The same places, and blocks that differ by something positive semidefinite."""
    s, normal, offset, origin, friction = random_pairs(seed=2)
    z, kind, blocks = projected(s, normal, offset, origin, friction, np.zeros(0))
    same, _, larger = projected(s, normal, offset, origin, friction, np.zeros(0), majorized=True)
    np.testing.assert_array_equal(same, z)
    assert np.linalg.eigvalsh(larger - blocks).min() >= -1e-14
    differ = np.abs(larger - blocks).max(axis=(1, 2)) > 1e-9
    np.testing.assert_array_equal(differ, (kind == SLIDING) & (friction > 0))


def test_force_is_the_gradient_of_the_energy():
    """w (s − z) by differences of what a line search sees, and the energy is the minimum."""
    s, normal, offset, origin, friction = random_pairs(seed=5)
    rng = np.random.default_rng(6)
    limits, weights = rng.uniform(0, 2, len(s)), rng.uniform(1, 50, len(s))
    z, _, _ = projected(s, normal, offset, origin, friction, limits)
    h, slope = 1e-5, np.empty_like(s)
    for k in range(len(s)):
        for i in range(3):
            either = []
            for sign in (1, -1):
                moved = s.copy()
                moved[k, i] += sign * h
                either.append(contact_energy(moved, normal, offset, origin, limits, weights))
            slope[k, i] = (either[0] - either[1]) / (2 * h)
    # differences of a total of some hundred joules: rounding 1e-14 · 100 / h; corners w h
    np.testing.assert_allclose(slope, weights[:, None] * (s - z), atol=50 * h)
    total = sum(
        w * objective(x, a, n, o, limit)
        for x, a, n, o, limit, w in zip(z, s, normal, origin, limits, weights, strict=True)
    )
    found = contact_energy(s, normal, offset, origin, limits, weights)
    assert found == pytest.approx(total, rel=1e-13)


def test_nothing_in_the_way_is_left_alone():
    s, normal, offset, origin, friction = random_pairs(seed=7)
    offset = np.einsum("ki,ki->k", normal, s) - 1e-9  # clear of every plane, barely
    z, kind, blocks = projected(s, normal, offset, origin, friction, np.zeros(0))
    assert (z == s).all()
    assert (kind == FREE).all()
    assert (blocks == 0).all()
