"""Surfaces that slide along each other with gaps that are tiny beside their triangles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple as sp
from supple._kernels.contact import boxes
from supple._kernels.contact.closest import EDGE_EDGE, VERTEX_FACE

FLOOR = 1e-11
FAR = np.array([31.0, -11.0, 5.0])


def time_of_impact(kind: int, y: np.ndarray, way: np.ndarray, floor: float = FLOOR) -> float:
    quads = np.arange(4)[None]
    near, still = np.zeros(1), np.zeros(4)
    known = near, still, still  # nothing that would tell it is far
    return boxes.earliest_of_pairs(np.array([kind]), quads, y, way, *known, 0.1, floor, 0, 1)


def side(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> int:
    """On which side of the plane a, b, c the point d is, exactly."""
    u, v, w = (
        [Fraction(p) - Fraction(q) for p, q in zip(each, d, strict=True)] for each in (a, b, c)
    )
    volume = sum(
        u[i] * (v[(i + 1) % 3] * w[(i + 2) % 3] - v[(i + 2) % 3] * w[(i + 1) % 3]) for i in range(3)
    )
    return (volume > 0) - (volume < 0)


def sliding(gap: float, down: float) -> tuple[np.ndarray, np.ndarray]:
    """A point that slides by 6 mm over a triangle of 9 m, far from the origin, and sinks."""
    corners = np.array([[0.0, 0, 0], [9, 0, 0], [0, 9, 0]])
    y = np.vstack([[3.0, 3.0, gap], corners]) + FAR
    way = np.zeros((4, 3))
    way[0] = 6e-3, 2e-3, -down
    return y, way


def test_points_that_slide_over_large_triangles_stay_on_their_side():
    for gap in (1e-6, 1e-9, 3e-11):
        for down in (0.9 * gap, 10 * gap, 1e3 * gap):
            y, way = sliding(gap, down)
            gap_there = y[0, 2] - y[1, 2]
            t = time_of_impact(VERTEX_FACE, y, way)
            end = y + t * way
            assert side(*end[1:], end[0]) == side(*y[1:], y[0]) != 0
            assert end[0, 2] - end[1, 2] > 0.05 * gap_there
            if gap > 10 * FLOOR:  # and go most of the way that there is
                assert t > 0.85 * gap_there / down


def test_sliding_alone_is_not_cut_short():
    y, way = sliding(1e-9, 0.0)
    assert time_of_impact(VERTEX_FACE, y, way) == 1.0
    edges = np.array([[0.0, 0, 1e-9], [9, 0, 1e-9], [4, -4, 0], [5, 4, 0]]) + FAR
    along = np.zeros((4, 3))
    along[:2] = 0.5, 0.3, 0.0
    assert time_of_impact(EDGE_EDGE, edges, along) == 1.0


def test_what_rounding_could_carry_through_comes_no_nearer():
    y, way = sliding(1e-13, 1e-12)
    assert time_of_impact(VERTEX_FACE, y, way) == 0.0
    assert time_of_impact(VERTEX_FACE, y, -way) == 1.0  # but may leave


def test_the_same_step_whatever_is_known_to_be_near():
    rng = np.random.default_rng(7)
    ball = sp.Sphere(radius=0.1).surface()
    both = np.concatenate([ball.vertices, ball.vertices + np.array([0.0, 0.01, 0.203])])
    count = len(ball.vertices)
    sheet = sp.SheetMesh(both, np.concatenate([ball.triangles, ball.triangles + count]))
    cloth = sp.Cloth(
        sheet, sp.IsotropicCloth(young=1e5, poisson=0.3, thickness=1e-3, areal_density=0.1)
    )
    forces = sp.SelfContact(distance=1e-4).bind(cloth)
    surface = forces._surface
    for size in (1e-4, 1e-3, 1e-2):
        u, step = np.zeros_like(both), size * rng.normal(size=both.shape)
        step[count:, 2] -= 5 * size
        x = surface.carried.moved(u)
        alone = surface.collision_free_step(np.ascontiguousarray(x), step)
        assert forces.collision_free_step(u, step) == alone
        if size > 1e-4:
            assert alone < 1.0


def test_large_blocks_at_a_tiny_distance_never_cross():
    """Blocks of 9 m that tumble onto each other, and push from a thousandth of a millimetre on."""
    ipctk = pytest.importorskip("ipctk")
    block = sp.TetMesh.box(size=(9, 9, 4), cells=(1, 1, 1))
    bodies = []
    for n, tilt in enumerate((0.0, 0.02)):
        X = Rotation.from_euler("x", tilt).apply(np.array(block.vertices))
        mesh = sp.TetMesh(X + np.array([30 + 0.3 * n, -11, 4.1 * n]), block.cells)
        law = sp.NeoHookean(young=2e10, poisson=0.2, density=2300)
        held = np.arange(mesh.n_vertices) if n == 0 else None
        bodies.append(sp.Body(mesh, law, fixed=held))
    sim = sp.Simulation(
        bodies,
        integrator=sp.BackwardEuler(),
        self_contact=sp.SelfContact(distance=1e-6, friction=0.5, sticking_speed=1e-5),
        gravity=(0, 0, -9.81),
        dt=0.02,
    )
    for body in bodies[1:]:
        sim.state_of(body).v = np.tile((0.2, 0.0, -3.0), (body.mesh.n_vertices, 1))
    outside = sim.body.mesh.surface()
    corners = outside.triangles.astype(np.int32)
    edges = np.unique(np.sort(corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0)
    mesh = ipctk.CollisionMesh(outside.vertices, edges, corners)
    touched = 0
    for _ in range(5):
        sim.step()
        x = (sim.body.mesh.vertices + sim.state.u)[outside.vertex_ids]
        assert not ipctk.has_intersections(mesh, np.asfortranarray(x))
        touched = max(touched, sim.stats.contacts)
    assert touched > 0


def test_supports_drag_a_wedge_that_is_caught_in_a_groove():
    """What is held goes on, what touches along with it, however near that is."""
    X = [[x, 1.0, z] for x in (0.25, -0.25) for z in (0.5, -0.5)] + [
        [0, -0.4999, z] for z in (0.5, -0.5)
    ]
    wedge = sp.TetMesh(X, [[0, 1, 4, 3], [4, 2, 0, 3], [4, 1, 5, 3]])
    foam = sp.NeoHookean(young=1e6, poisson=0.4, density=1000)
    pull = sp.Support(np.arange(4), lambda t: (t, 0.0, 0.0))
    ridges = [[x, y, z] for x, y in ((-0.25, -0.25), (0.0, -0.5), (0.25, -0.25)) for z in (1, -1)]
    groove = sp.SheetMesh(ridges, [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4]])
    hard = sp.IsotropicCloth(young=1e5, poisson=0.3, thickness=1e-3, areal_density=1.0)
    sim = sp.Simulation(
        [sp.Body(wedge, foam, supports=[pull]), sp.Cloth(groove, hard, fixed=np.arange(6))],
        integrator=sp.BackwardEuler(),
        gravity=(0, -9.81, 0),
        dt=0.05,
    )
    for _ in range(36):
        sim.step()
    assert sim.stats.total is not None
    assert sim.stats.total.contacts > 0
