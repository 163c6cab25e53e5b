"""Height fields: the landscape is the one described, and the nearest place on it is found."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from tests.contact.obstacles import samples
from tests.helpers import EPS

import supple as sp

FIELD = samples.OBSTACLES["height field"]


def test_surface_goes_through_the_heights():
    heights = samples.waves()
    i, j = np.meshgrid(*(np.arange(n) for n in heights.shape), indexing="ij")
    places = np.stack([-1.0 + 0.25 * i, -0.8 + 0.3 * j], axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(FIELD.height(places), heights.ravel() + 0.1, atol=10 * EPS)
    drawn = FIELD.surface()
    np.testing.assert_allclose(drawn.bounds[:, :2], [(-1, -0.8), (1, 1)], atol=10 * EPS)


def test_slope_is_continuous_also_at_the_rim():
    """Across every line of nodes, and across the rim."""
    h = 1e-7
    for axis in range(2):
        step = h * np.eye(2)[axis]
        for index in range(samples.waves().shape[axis]):
            at = np.random.default_rng(index).uniform(-1.5, 1.5, (20, 2))
            at[:, axis] = FIELD.origin[axis] + index * FIELD.spacing[axis]
            left, middle, right = (FIELD.height(at + s * step) for s in (-1, 0, 1))
            # Second derivatives are below 10 / m.
            assert np.abs((right - middle) - (middle - left)).max() < 10 * h**2 + 4 * EPS


def test_level_beyond_the_rim():
    rim, beyond = FIELD.height([(-1.0, 0.13), (0.2, 1.0)]), FIELD.height([(-4, 0.13), (0.2, 9)])
    np.testing.assert_allclose(rim, beyond, atol=4 * EPS)
    x = np.array([(-4.0, 0.13, 0.5), (30.0, 30.0, -1.0)])
    distance, normal = FIELD.signed_distance(x)
    np.testing.assert_allclose(distance[1], -1.0 - FIELD.height([(1.0, 1.0)])[0])
    np.testing.assert_allclose(normal[1], (0, 0, 1))
    assert 0 < distance[0] <= 0.5 - beyond[0] + EPS


def test_even_slope_is_a_plane_far_from_the_rim():
    i, j = np.meshgrid(np.arange(60), np.arange(60), indexing="ij")
    field = sp.HeightField(0.3 * i - 0.1 * j, spacing=0.5, origin=(0, 0, 1))
    plane = sp.Plane(normal=(-0.6, 0.2, 1), offset=1 / np.sqrt(1.4))
    x = np.random.default_rng(0).uniform((12, 12, 4), (18, 18, 10), (200, 3))
    for found, expected in zip(field.signed_distance(x), plane.signed_distance(x), strict=True):
        # What the rim does to the spline dies down by 0.27 a cell, over 20 cells.
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_nearest_place_among_steep_hills():
    """Against a dense sampling, with many hills as near, from above and from below."""
    rough = sp.HeightField(np.random.default_rng(4).normal(size=(12, 10)) * 0.2, spacing=0.5)
    rng = np.random.default_rng(5)
    x = rng.uniform((0.5, 0.5, -1.5), (5, 4, 1.5), (400, 3))
    fine = np.stack(np.meshgrid(*(np.linspace(-2, 8, 1001),) * 2, indexing="ij"), axis=-1)
    places = fine.reshape(-1, 2)
    sampled, _ = cKDTree(np.column_stack([places, rough.height(places)])).query(x)
    distance, normal = rough.signed_distance(x)
    foot = x - distance[:, None] * normal
    np.testing.assert_allclose(rough.height(foot[:, :2]), foot[:, 2], atol=1e-9)
    np.testing.assert_array_equal(distance > 0, x[:, 2] > rough.height(x[:, :2]))
    missed = np.abs(distance) > sampled + 1e-9
    assert not missed[np.abs(distance) < 0.5].any()
    assert missed.mean() < 0.02
    assert (np.abs(distance) - sampled).max() < 0.02
    # A sample is up to half a diagonal of the sampling, 7 mm times √(1 + 2.5²), from the place.
    assert (sampled - np.abs(distance)).max() < 0.02
