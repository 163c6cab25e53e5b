"""Isosurface stuffing: angles, what is filled, mirror images, parts that stay apart."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import trimesh
from tests.refusals import refused

import supple as sp
from supple.builtin.shapes import Ellipsoid, icosphere
from supple.mesh.lattice.inside import Enclosed
from supple.mesh.surface import joined

pytestmark = pytest.mark.processors

SHARPEST, BLUNTEST = 10.0, 165.0
"""Labelle and Shewchuk prove 10.78° and 164.74° for tets of the plain lattice; those that a plane
of symmetry halves, and points that are kept on it, were measured to stay as near as this."""


def ball(radius=1.0, centre=(0.0, 0.0, 0.0)):
    return icosphere(Ellipsoid(centre, (radius, radius, radius)))


def box(size, origin=(0.0, 0.0, 0.0)):
    return sp.TetMesh.box(size, (1, 1, 1), origin).boundary()


def together(*parts):
    return sp.Surface(*joined([(part.vertices, part.triangles) for part in parts]))


def turned(surface, seed=0):
    """The same, at an angle to all axes."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    Q *= np.sign(np.linalg.det(Q))
    return dataclasses.replace(surface, vertices=surface.vertices @ Q.T)


def on_lattice(surface, **options):
    return sp.TetMesh.from_surface(surface, filling=sp.LatticeFilling(**options))


def dihedral_angles(mesh):
    corners = mesh.vertices[mesh.cells]
    faces = [(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)]
    normals = [
        np.cross(corners[:, b] - corners[:, a], corners[:, c] - corners[:, a]) for a, b, c in faces
    ]
    normals = [n / np.linalg.norm(n, axis=1, keepdims=True) for n in normals]
    cosines = [-(normals[i] * normals[j]).sum(axis=1) for i in range(4) for j in range(i)]
    return np.degrees(np.arccos(np.clip(cosines, -1, 1)))


def pieces(mesh):
    """How many pieces hang together by vertices."""
    from supple.mesh.lattice.linked import linked

    heads, tails = np.repeat(mesh.cells[:, 0], 3), mesh.cells[:, 1:].ravel()
    return linked(heads, tails, mesh.n_vertices).max() + 1


SHAPES = {
    "ball": ball(),
    "box": box((1.0, 0.7, 0.5)),
    "turned box": turned(box((1.0, 0.7, 0.5))),
    "crossing balls": turned(together(ball(), ball(0.7, (0.9, 0.3, 0.2)))),
    "torus": sp.Torus(radius=1.0, tube=0.3).surface(),
    "blade": turned(box((1.0, 0.4, 0.02))),
}


@pytest.mark.parametrize("grading", [0, 1, 2])
@pytest.mark.parametrize("name", SHAPES)
def test_angles_are_bounded_and_faces_meet(name, grading):
    mesh = on_lattice(SHAPES[name], edge=0.11, grading=grading)
    angles = dihedral_angles(mesh)
    assert angles.min() > SHARPEST
    assert angles.max() < BLUNTEST
    assert mesh.boundary().is_closed
    faces = np.sort(mesh.cells[:, [(1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2)]].reshape(-1, 3))
    assert np.unique(faces, axis=0, return_counts=True)[1].max() == 2


def test_a_ball_is_filled_better_with_shorter_edges():
    exact = 4 / 3 * np.pi
    made = trimesh.creation.icosphere(subdivisions=5)
    fine = sp.Surface(made.vertices, made.faces)
    errors = [1 - on_lattice(fine, edge=edge).volume / exact for edge in (0.4, 0.2, 0.1)]
    assert 0 < errors[2] < 0.01
    # chords of length h leave h² / 8R between them and the sphere
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.4)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.4)


def test_inside_is_graded():
    even, graded = (on_lattice(ball(), edge=0.1, grading=grading) for grading in (0, 2))
    assert graded.n_cells < 0.8 * even.n_cells
    assert graded.volume == pytest.approx(even.volume, rel=1e-9)
    assert np.array_equal(graded.boundary().n_vertices, even.boundary().n_vertices)


def test_about_as_many_vertices_are_made_as_asked_for():
    for vertices in (200, 1000, 4000):
        assert on_lattice(ball(), vertices=vertices).n_vertices == pytest.approx(vertices, rel=0.15)


def test_the_same_surface_gives_the_same_bytes():
    first, second = (on_lattice(SHAPES["crossing balls"], edge=0.15) for _ in range(2))
    assert first.vertices.tobytes() == second.vertices.tobytes()
    assert first.cells.tobytes() == second.cells.tobytes()


def test_rounding_of_the_surface_changes_no_choice():
    surface = SHAPES["crossing balls"]
    noise = 1 + 1e-13 * np.random.default_rng(2).normal(size=surface.vertices.shape)
    near = dataclasses.replace(surface, vertices=surface.vertices * noise)
    first, second = on_lattice(surface, edge=0.15), on_lattice(near, edge=0.15)
    assert np.array_equal(first.cells, second.cells)
    assert first.vertices == pytest.approx(second.vertices, abs=1e-9)


@pytest.mark.parametrize("turn", [False, True])
def test_a_symmetric_surface_gives_a_symmetric_mesh(turn):
    from scipy.spatial import cKDTree

    ears = [ball(0.25, (side * 0.7, 0.2, 0.8)) for side in (-1, 1)]
    head = together(ball(), *ears, ball(0.2, (0.0, -1.0, 0.1)))
    mesh = on_lattice(turned(head) if turn else head, edge=0.13)
    normal = turned(sp.Surface(np.eye(3), [[0, 1, 2]])).vertices[0] if turn else np.eye(3)[0]
    mirrored = mesh.vertices - 2 * np.outer(mesh.vertices @ normal, normal)
    apart, image = cKDTree(mesh.vertices).query(mirrored)
    assert apart.max() < 1e-9
    cells = {tuple(sorted(cell)) for cell in mesh.cells.tolist()}
    assert cells == {tuple(sorted(cell)) for cell in image[mesh.cells].tolist()}


@pytest.mark.parametrize("gap", [0.2, 0.05, 0.01, 1e-4])
def test_parts_that_are_near_each_other_stay_apart(gap):
    legs = [box((0.5, 0.5, 2.0), (side, 0.0, 0.0)) for side in (0.0, 0.5 + gap)]
    mesh = on_lattice(turned(together(*legs)), edge=0.17)
    assert pieces(mesh) == 2
    assert mesh.volume == pytest.approx(1.0, rel=0.08)
    angles = dihedral_angles(mesh)
    assert angles.min() > SHARPEST
    assert angles.max() < BLUNTEST


def test_a_slot_goes_as_deep_as_it_is():
    # a block with a slot from above, narrower than the lattice: two legs that are one below
    profile = [(0, 0), (1, 0), (1, 2), (0.52, 2), (0.52, 0.5), (0.48, 0.5), (0.48, 2), (0, 2)]
    n = len(profile)
    x = np.array([(a, depth, b) for depth in (0.0, 0.6) for a, b in profile])
    walls = [[i, (i + 1) % n, n + (i + 1) % n, n + i] for i in range(n)]
    cap = [(0, 1, 4), (1, 2, 3), (1, 3, 4), (0, 4, 5), (0, 5, 7), (5, 6, 7)]
    triangles = [t for a, b, c, d in walls for t in ((a, b, c), (a, c, d))]
    triangles += [(c, b, a) for a, b, c in cap] + [(n + a, n + b, n + c) for a, b, c in cap]
    block = sp.Surface(x, triangles)
    assert block.is_closed
    mesh = on_lattice(turned(block), edge=0.2)
    Q = turned(sp.Surface(np.eye(3), [[0, 1, 2]])).vertices  # rows are where the axes went
    height = mesh.vertices @ Q[2]
    upper = np.flatnonzero((height[mesh.cells] > 0.85).all(axis=1))
    assert pieces(mesh) == 1
    assert pieces(sp.TetMesh.cleaned(mesh.vertices, mesh.cells[upper])) == 2


def test_soups_are_filled_where_they_wind_around():
    whole = ball()
    soup = sp.Surface(
        whole.vertices[whole.triangles].reshape(-1, 3),
        np.arange(3 * whole.n_triangles).reshape(-1, 3),
    )
    reference = on_lattice(whole, edge=0.2)
    assert np.array_equal(on_lattice(soup, edge=0.2).vertices, reference.vertices)
    inside_out = dataclasses.replace(whole, triangles=whole.triangles[:, ::-1])
    assert on_lattice(inside_out, edge=0.2).volume == pytest.approx(reference.volume, rel=1e-6)
    nested = together(whole, ball(0.4))
    assert on_lattice(nested, edge=0.2).volume == pytest.approx(reference.volume, rel=1e-6)
    low = whole.vertices[whole.triangles].mean(axis=1)[:, 2] < 0.9
    opened = dataclasses.replace(whole, triangles=whole.triangles[low])
    assert on_lattice(opened, edge=0.2).volume == pytest.approx(reference.volume, rel=0.05)


def test_a_hollow_stays_hollow():
    inner = ball(0.5)
    hollow = together(ball(), dataclasses.replace(inner, triangles=inner.triangles[:, ::-1]))
    assert on_lattice(hollow, edge=0.12).volume == pytest.approx(7 / 8 * ball().volume, rel=0.03)


def test_a_hollow_stays_hollow_where_all_is_inside_out():
    inner = ball(0.5)
    hollow = together(ball(), dataclasses.replace(inner, triangles=inner.triangles[:, ::-1]))
    flipped = dataclasses.replace(hollow, triangles=hollow.triangles[:, ::-1])
    assert on_lattice(flipped, edge=0.12).volume == pytest.approx(7 / 8 * ball().volume, rel=0.03)


def test_thin_places_are_thickened_as_far_as_the_lattice_needs():
    blade = turned(box((2.0, 1.0, 0.01)))
    mesh = on_lattice(blade, edge=0.1)
    assert pieces(mesh) == 1
    assert mesh.volume == pytest.approx(2.0 * 1.0 * 0.14, rel=0.2)
    thick = turned(box((2.0, 1.0, 0.3)))
    kept, plain = on_lattice(thick, edge=0.1), on_lattice(thick, edge=0.1, least_thickness=0.0)
    assert np.array_equal(kept.vertices, plain.vertices)


def test_winding_numbers_are_exact_where_they_are_known():
    solid = Enclosed.by(together(ball(), ball(0.5)))
    points = np.array([(0, 0, 0), (0.7, 0, 0.1), (0, 1.4, 0), (3, 3, 3)], dtype=float)
    assert solid.turns(points) == pytest.approx([2, 1, 0, 0], abs=0.02)


def test_bad_wishes_are_refused():
    refused("not both", sp.LatticeFilling, edge=0.1, vertices=100)
    refused("edge=", sp.LatticeFilling, edge=-1.0)
    refused("vertices=", sp.LatticeFilling, vertices=3)
    refused("grading=", sp.LatticeFilling, grading=9)
    refused("edge=1e-06", on_lattice, ball(), edge=1e-6)
    refused("for fTetWild", sp.TetMesh.from_surface, ball(), 0.1, filling=sp.LatticeFilling())
    refused("LatticeFilling", sp.TetMesh.from_surface, ball(), filling="lattice")
    flat = sp.Surface([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    refused("encloses no", on_lattice, flat, vertices=100, error=sp.MeshError)
    refused("encloses no", on_lattice, flat, edge=0.1, error=sp.MeshError)
