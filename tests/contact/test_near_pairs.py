"""Pairs that are kept while the surface moves a little."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contact.test_pairs import folded

from supple.contact.contact_surface import ContactSurface
from supple.contact.near_pairs import NearPairs

pytest.importorskip("ipctk")


def walks(seed: int, count: int, length: float):
    """Steps of many lengths, of all vertices or of a few."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        step = length * 10.0 ** rng.uniform(-4, 0.5) * rng.normal(size=(578, 3))
        if k % 3 == 0:
            step[rng.permutation(578)[20:]] = 0.0
        yield step


def test_pairs_and_steps_are_those_of_a_new_search():
    layers, u, _ = folded(0.0)
    surface, scales = layers._surface, layers.scales
    edge = float(np.median(surface.lengths))
    kept, cut = NearPairs(surface, scales), 0
    x = np.ascontiguousarray(surface.carried.moved(u))
    for step in walks(1, 60, edge):
        step = np.ascontiguousarray(step[: len(x)])
        fresh = NearPairs(surface, scales)
        share = kept.collision_free_step(x, step)
        assert share == fresh.collision_free_step(x, step)
        assert share == surface.collision_free_step(x, step)
        cut += share < 1.0
        x = x + 0.9 * share * step
        mine, theirs = kept.at(x), NearPairs(surface, scales).at(x)
        chosen = []
        for found in (mine, theirs):
            near = surface.squared_distances(found.pairs, x) < found.reach**2
            chosen.append((found.pairs.of(near), found.reach[near], found.weights[near]))
        for one, other in zip(chosen[0][1:], chosen[1][1:], strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(chosen[0][0].quads, chosen[1][0].quads)
    assert 10 < cut < 55


def test_one_search_does_for_a_step_and_places_on_it(monkeypatch):
    layers, u, _ = folded(0.0)
    surface, made = layers._surface, []
    search = ContactSurface.candidates
    monkeypatch.setattr(
        ContactSurface, "candidates", lambda *given: made.append(1) or search(*given)
    )
    near = NearPairs(surface, layers.scales)
    x = np.ascontiguousarray(surface.carried.moved(u))
    near.at(x)
    step = np.zeros_like(x)
    step[:, 0] = 0.1 * float(np.median(surface.lengths))
    assert near.collision_free_step(x, step) == 1.0
    for share in (1.0, 0.5, 0.25, 0.7, 0.0):
        near.at(x + share * step)
        near.collision_free_step(x + share * step, 0.01 * step)
    assert len(made) == 2
