"""Bricks and tets that fill surfaces."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.refusals import refused

from supple.core.errors import MeshError, MissingExtra
from supple.mesh import HexMesh, MeshWarning, Surface, TetMesh, read_surface


def box_skin(size, origin=(0, 0, 0)):
    return TetMesh.box(size, (1, 1, 1), origin).boundary()


def together(*skins):
    starts = np.cumsum([0] + [skin.n_vertices for skin in skins])
    triangles = [skin.triangles + start for skin, start in zip(skins, starts, strict=False)]
    return Surface(np.vstack([skin.vertices for skin in skins]), np.vstack(triangles))


def test_voxels_of_a_box_fill_it_exactly():
    skin = box_skin((1.0, 0.5, 0.25), origin=(3, 4, 5))
    mesh = HexMesh.voxelize(skin, 8)
    assert mesh.n_cells == 8 * 4 * 2
    assert mesh.volume == pytest.approx(0.125)
    np.testing.assert_allclose(mesh.bounds, skin.bounds, atol=1e-12)


def test_voxels_of_a_sphere_cover_it_and_converge(sphere):
    for resolution, tolerance in ((10, 0.2), (20, 0.05), (40, 0.05)):
        mesh = HexMesh.voxelize(sphere, resolution)
        # A patch of area A cuts A (|n_x| + |n_y| + |n_z|) / h² bricks; over all directions the sum
        # is 3/2 on the average, and half of each brick sticks out.
        excess = 0.75 * sphere.area * 2 / resolution
        assert mesh.volume - sphere.volume == pytest.approx(excess, rel=tolerance)
        assert mesh.boundary().is_closed


def test_voxels_hold_every_vertex_of_the_surface(sphere):
    from supple.mesh import Embedding

    assert Embedding(HexMesh.voxelize(sphere, 13), sphere).inside.all()


def test_voxels_without_fill_are_a_shell(sphere):
    shell = HexMesh.voxelize(sphere, 20, fill=False)
    assert shell.n_cells < 0.7 * HexMesh.voxelize(sphere, 20).n_cells
    assert (np.linalg.norm(shell.centroids, axis=1) > 0.8).all()


def test_voxels_of_an_open_surface_are_not_filled(sphere):
    below = (sphere.vertices[sphere.triangles][..., 2] < 0.3).all(axis=1)
    open_skin = Surface(sphere.vertices, sphere.triangles[below])
    mesh = HexMesh.voxelize(open_skin, 20)
    assert mesh.n_cells == HexMesh.voxelize(open_skin, 20, fill=False).n_cells


def test_voxels_of_overlapping_pieces_are_their_union():
    # A deck on two piers: three boxes, sharing and crossing faces on and off the grid.
    bridge = together(
        box_skin((4.0, 1.0, 0.5), (0, 0, 1)),
        box_skin((0.5, 1.0, 1.25), (0.5, 0, 0)),
        box_skin((0.5, 1.0, 1.0), (3.0, 0, 0)),
    )
    assert HexMesh.voxelize(bridge, 16).volume == pytest.approx(4 * 0.5 + 2 * 0.5)


def test_voxels_in_parts_raise_a_warning():
    apart = together(box_skin((1, 1, 1)), box_skin((1, 1, 1), (3, 0, 0)))
    with pytest.warns(MeshWarning, match="2 parts"):
        mesh = HexMesh.voxelize(apart, 8)
    assert mesh.volume == pytest.approx(2.0)


def test_voxels_of_a_single_triangle_cover_it():
    triangle = Surface(np.array([(0, 0, 0), (1, 0, 0.1), (0, 1, 0.2)]), [(0, 1, 2)])
    assert 0.5 * 256 < HexMesh.voxelize(triangle, 16).n_cells < 256


@pytest.mark.parametrize("resolution", [0, -3, 1.5, 10**7])
def test_voxelize_names_a_bad_resolution(sphere, resolution):
    refused("resolution=", HexMesh.voxelize, sphere, resolution)


def test_from_surface_fills_crossing_boxes(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    soup = together(box_skin((1, 1, 1)), box_skin((1, 1, 1), (0.5, 0.25, 0.3)))
    mesh = TetMesh.from_surface(soup, edge=0.5, epsilon=0.002)
    assert mesh.volume == pytest.approx(2 - 0.5 * 0.75 * 0.7, rel=0.01)
    assert mesh.boundary().is_closed
    np.testing.assert_allclose(mesh.bounds, soup.bounds, atol=0.01)
    # fTetWild prints and writes a file where it runs; none of it may reach the caller.
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")


@pytest.mark.verify
def test_from_surface_fills_spot(assets):
    skin = read_surface(assets / "surfaces" / "spot.obj")
    mesh = TetMesh.from_surface(assets / "surfaces" / "spot.obj", edge=0.3, epsilon=0.01)
    assert mesh.volume == pytest.approx(skin.volume, rel=0.05)


@pytest.mark.parametrize(
    ("given", "epsilon"),
    [
        ({}, 1e-3),
        ({"edge": 0.2}, 0.02),
        ({"edge": 0.001}, 1e-3),
        ({"edge": 0.2, "epsilon": 0.004}, 0.004),
    ],
)
def test_from_surface_takes_epsilon_from_the_edge(monkeypatch, given, epsilon):
    seen = {}

    def run(folder):
        with np.load(folder / "in.npz") as file:
            seen.update(file)

    monkeypatch.setattr("supple.mesh.meshing._run", run)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object())
    side = 1 / np.sqrt(3)  # a diagonal of 1
    with pytest.raises(MeshError):
        TetMesh.from_surface(box_skin((side, side, side)), **given)
    assert float(seen["epsilon"]) == pytest.approx(epsilon)


def test_from_surface_says_when_there_is_nothing_to_fill():
    for words, triangle in (("nothing to fill", (0, 0, 1)), ("encloses no volume", (0, 1, 2))):
        refused(words, TetMesh.from_surface, Surface(np.eye(3), [triangle]), error=MeshError)


@pytest.mark.parametrize(
    "bad", [{"edge": -1.0}, {"edge": 100.0}, {"edge": np.nan}, {"epsilon": 0.0}]
)
def test_from_surface_names_a_bad_length(bad):
    refused(f"{next(iter(bad))}=", TetMesh.from_surface, box_skin((1, 1, 1)), **bad)


def test_from_surface_names_the_extra_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "pytetwild", None)
    refused(r"supple\[meshing\]", TetMesh.from_surface, box_skin((1, 1, 1)), error=MissingExtra)
