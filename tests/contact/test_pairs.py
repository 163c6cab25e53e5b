"""Pairs near each other: how they are found, how far they go, where and how hard they push."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.contact.layers import FILM, meeting, stacked
from tests.helpers import stepped
from tests.refusals import refused

import supple as sp
from supple.contact.contact_surface import ContactSurface
from supple.contact.self_contact_forces import SelfContactForces
from supple.core.threads import set_thread_count

ipctk = pytest.importorskip("ipctk")


def crumpled(seed: int) -> tuple[ContactSurface, np.ndarray, object]:
    """Three sheets at random, of large and small triangles, and the toolkit's mesh of them."""
    sheets = [sp.SheetMesh.grid((1.0, 1.0), (n, n)) for n in (2, 5, 9)]
    body = sp.Cloth(stacked(*sheets, offsets=[(0, 0, 0), (0, 0, 0.1), (0.2, 0.1, 0.2)]), FILM)
    surface = ContactSurface(body)
    x = surface.X + 0.05 * np.random.default_rng(seed).normal(size=surface.X.shape)
    edges, triangles = surface.edges.astype(np.int32), surface.triangles.astype(np.int32)
    return surface, x, ipctk.CollisionMesh(surface.X, edges, triangles)


def found_by_toolkit(
    mesh: object, x: np.ndarray, reach: float
) -> dict[tuple[str, int, int], float]:
    """The pairs whose boxes overlap, with their squared distances."""
    candidates, at = ipctk.Candidates(), np.asfortranarray(x)
    candidates.build(mesh, at, reach / 2)
    found = {}
    for pair in candidates.fv_candidates:
        where = pair.dof(at, mesh.edges, mesh.faces)
        found["vf", pair.vertex_id, pair.face_id] = pair.compute_distance(where)
    for pair in candidates.ee_candidates:
        where = pair.dof(at, mesh.edges, mesh.faces)
        ids = sorted((pair.edge0_id, pair.edge1_id))
        found["ee", ids[0], ids[1]] = pair.compute_distance(where)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_nothing_near_is_missed(seed):
    surface, x, mesh = crumpled(seed)
    reach = 0.04
    theirs = found_by_toolkit(mesh, x, reach)
    near = {key for key, square in theirs.items() if square < reach**2}
    pairs = surface.candidates(x, np.full(len(x), reach))
    squares = surface.squared_distances(pairs, x)
    names = np.where(pairs.kinds == 0, "vf", "ee")
    mine = {
        (str(name), int(a), int(b)): square
        for name, (a, b), square in zip(names, pairs.sides, squares, strict=True)
    }
    assert len(mine) == len(pairs)  # each once
    assert {key for key, square in mine.items() if square < reach**2} == near
    assert len(near) > 100
    for key in near:
        assert mine[key] == pytest.approx(theirs[key], rel=1e-9, abs=1e-18)


@pytest.mark.parametrize("size", [0.02, 0.3, 5.0])
def test_a_step_goes_as_far_as_the_toolkit_lets_it(size):
    """Short of the exact time of impact, but not shorter than its conservative advancement."""
    cut = 0
    for seed in range(12):
        surface, _, mesh = crumpled(seed)
        rng = np.random.default_rng(100 + seed)
        x, step = surface.X, size * rng.normal(size=surface.X.shape)
        mine = surface.collision_free_step(x, step)
        ends = np.asfortranarray(x), np.asfortranarray(x + step)
        exact, advancing = (
            ipctk.compute_collision_free_stepsize(mesh, *ends, narrow_phase_ccd=by)
            for by in (ipctk.TightInclusionCCD(), ipctk.AdditiveCCD(conservative_rescaling=0.9))
        )
        assert mine <= exact + 1e-5
        assert mine >= (1 - 1e-9) * advancing
        if mine == 1.0:
            continue
        cut += 1
        assert not ipctk.has_intersections(mesh, np.asfortranarray(x + mine * step))
    assert cut > (6 if size > 0.1 else 0)


def folded(friction: float) -> tuple[SelfContactForces, np.ndarray, np.ndarray]:
    """Two rumpled sheets in contact, with displacements and velocities."""
    sim = meeting(speed=0.0, gap=0.1, cells=16, self_contact=sp.SelfContact(friction=friction))
    u = 0.001 * np.random.default_rng(3).normal(size=sim.state.u.shape)
    u[len(u) // 2 :, 2] -= 0.095
    v = np.random.default_rng(4).normal(size=u.shape)
    return sim.self_contact.bind(sim.body), u, v


def test_threads_do_not_change_a_byte():
    found = []
    try:
        for threads in (1, 2, 3):
            set_thread_count(threads)
            layers, u, v = folded(0.4)
            layers.begin(u)
            keys, blocks = layers.matrix(u, v, 2.0, definite=True)
            step = layers.collision_free_step(u, 0.3 * v)
            forces = layers.force(u), layers.friction(v)
            found.append([keys, blocks, *forces, layers.energy(u), step])
            assert layers.count(u) > 2000
    finally:
        set_thread_count(0)
    for other in found[1:]:
        for mine, theirs in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_what_was_near_before_does_not_change_a_byte():
    layers, u, v = folded(0.4)
    fresh, _, _ = folded(0.4)
    for share in (0.9, 0.995, 1.01):
        layers.force(share * u)
    layers.begin(u)
    fresh.begin(u)
    np.testing.assert_array_equal(layers.force(u), fresh.force(u))
    np.testing.assert_array_equal(layers.friction(v), fresh.friction(v))


def test_what_is_known_to_be_near_does_not_change_how_far_a_step_goes():
    """Whether all are looked at, or only pairs that were near elsewhere; and of these not all."""
    layers, u, _ = folded(0.0)
    surface, rng = layers._surface, np.random.default_rng(6)
    found = []
    for size in (0.0, 1e-4, 1e-3, 3e-3, 1e-2, 0.1):
        layers.begin(u)
        ways = size * rng.normal(size=(2, *u.shape))
        ways[1, : len(u) // 20] *= 20.0  # some go far
        for way in (*ways, ways[0] + 0.3):
            x, step = (np.ascontiguousarray(each) for each in (surface.carried.moved(u), way))
            share = layers.collision_free_step(u, way)
            assert share == surface.collision_free_step(x, step)
            found.append(share)
        u = u + 0.5 * found[-3] * ways[0]
    assert found[0] == found[2] == 1.0
    assert 0 < min(found) < 0.1
    assert len(set(found)) > 6


def test_pairs_in_reach_are_found_from_those_that_were_near():
    layers, u, _ = folded(0.0)
    rng = np.random.default_rng(7)
    for size in (1e-5, 1e-4, 1e-3, 1e-3, 2e-3):
        u = u + size * rng.normal(size=u.shape)
        u[: len(u) // 30, 2] += 3 * size  # some go farther
        near = layers._near(u)
        assert near.least > 0
        everywhere = layers._surface.candidates(near.x, layers.scales.room)
        reach = layers.scales.of(everywhere)[0]
        squares = layers._surface.squared_distances(everywhere, near.x)
        expected = everywhere.of(squares < reach**2)
        np.testing.assert_array_equal(near.pairs.quads, expected.quads)
        np.testing.assert_array_equal(near.pairs.sides, expected.sides)


# -- where pairs push, and how hard -----------------------------------------------------------


def block(at: tuple[float, float, float], young: float = 1e5, cells: int = 2) -> sp.Body:
    mesh = sp.TetMesh.box((0.1, 0.1, 0.1), (cells, cells, cells))
    moved = sp.TetMesh(mesh.vertices + np.array(at), mesh.cells)
    return sp.Body(moved, sp.StableNeoHookean(young=young, poisson=0.4, density=500))


def world(*bodies: sp.Body, **options: float) -> SelfContactForces:
    sim = sp.Simulation(list(bodies), self_contact=sp.SelfContact(**options))
    return sim.self_contact.bind(sim.body)


def test_distance_follows_from_the_mesh_and_not_from_the_pose():
    """However near they start, blocks have the distance of their mesh but to each other."""
    edge = block((0, 0, 0)).mesh.edge_lengths().mean()
    for gap in (1.0, 1e-2, 1e-3, 1e-4):
        layers = world(block((0, 0, 0)), block((0.01, 0.02, 0.1 + gap)), block((0.5, 0, 0)))
        assert layers.distance == pytest.approx(0.2 * edge, rel=0.1)
        assert layers.scales.between(0, 2) == layers.distance
        assert layers.scales.between(0, 1) == pytest.approx(min(layers.distance, gap / 2))
        assert not layers.force(np.zeros((layers.scales.room.size + 3, 3))).any()


def test_finer_of_two_meshes_decides():
    layers = world(block((0, 0, 0), cells=1), block((0.3, 0, 0), cells=3))
    assert layers.scales.between(0, 0) > 2.5 * layers.scales.between(1, 1)
    assert layers.scales.between(0, 1) == layers.scales.between(1, 1)


def test_layers_that_start_near_do_not_push_as_they_slide():
    """The whole of both keeps the distance that they start with."""
    sim = meeting(speed=0.0, gap=0.01, cells=6)
    layers = sim.self_contact.bind(sim.body)
    u = np.zeros_like(sim.state.u)
    for way in np.linspace(0, 1, 7):
        u[len(u) // 2 :, :2] = (way, -0.3 * way)
        assert not layers.force(u).any()
    assert layers.distance > 0.01


def test_a_step_from_a_near_start_moves_nothing():
    sim = meeting(speed=0.0, gap=1e-4)
    before = sim.state.u.copy()
    stepped(sim, 3)
    np.testing.assert_array_equal(sim.state.u, before)


def test_slivers_in_a_mesh_do_not_push_and_leave_the_rest_alone():
    """Two vertices of one sheet, near each other over a sliver, bound but their own pairs."""
    flat = sp.SheetMesh.grid((1.0, 1.0), (5, 5))
    X = flat.vertices.copy()
    middle = int(np.argmin(np.linalg.norm(X - [0.4, 0.4, 0], axis=1)))
    X[middle, 0] += 0.199  # 1 mm from the next vertex
    body = sp.Cloth(replace(flat, vertices=X), FILM)
    layers = sp.SelfContact().bind(body)
    assert layers.distance > 0.03
    assert layers.scales.between(0, 0) > 0.02
    assert not layers.force(np.zeros_like(X)).any()


def test_stiffness_of_a_pair_lies_between_those_of_its_sides():
    soft, hard = block((0, 0, 0), young=1e3), block((0.3, 0, 0), young=1e8)
    scales = world(soft, hard).scales
    k = [scales.stiffness_between(a, b) for a, b in ((0, 0), (0, 1), (1, 1))]
    assert k[2] / k[0] == pytest.approx(1e5)
    assert k[1] == pytest.approx(k[0] ** (1 / 3) * k[2] ** (2 / 3))
    same = world(soft, hard, stiffness=7.0).scales
    assert same.stiffness_between(0, 1) == same.stiffness_between(0, 0) == 7.0


def test_what_is_held_does_not_decide_how_hard_pairs_push():
    low = block((0, 0, 0), young=1e9)
    low = replace(low, fixed=np.arange(low.mesh.n_vertices))
    scales = world(low, block((0.3, 0, 0), young=1e4)).scales
    assert scales.stiffness_between(0, 1) == pytest.approx(scales.stiffness_between(1, 1))


def test_fixed_bodies_may_cross_but_nothing_else():
    all_of = np.arange(block((0, 0, 0)).mesh.n_vertices)
    floor = replace(block((0, 0, 0)), fixed=all_of)
    wall = replace(block((0.05, 0.05, 0.05)), fixed=all_of)
    free = block((0.0, 0.0, 0.2))
    layers = world(floor, wall, free)
    assert layers.collision_free_step(np.zeros((81, 3)), np.zeros((81, 3))) == 1.0
    refused("touches or passes through itself", world, floor, block((0.05, 0.05, 0.05)))
