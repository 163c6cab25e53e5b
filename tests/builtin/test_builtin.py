"""The built-in bodies are whole, charming and ready to simulate."""

from functools import cache

import numpy as np
import pytest
from scipy.ndimage import label
from scipy.spatial import cKDTree
from tests.refusals import refused

import supple as sp
from supple.builtin import BUILTINS, beam, creature

COARSE = {"spoon": 50, "bridge": 64, "tower": 60, "heart": 20, "creature": 20}
ELEMENTS = {"spoon": 2005, "bridge": 5854, "tower": 11304, "heart": 14444}
"""How many bricks each of them has in the paper on subspace StVK, Fig. 3."""
REGIONS = {
    "spoon": {"handle", "neck", "bowl"},
    "bridge": {"deck", "railings", "cables", "pylons", "abutments"},
    "tower": {"legs", "arches", "platforms", "spire"},
    "heart": {"ventricles", "atria", "vessels"},
    "creature": {"ears", "belly", "rest"},
}
MIRRORS = {"spoon": [1], "bridge": [0, 1], "tower": [0, 1], "creature": [0]}
every_body = pytest.mark.parametrize("name", COARSE)
every_paper_body = pytest.mark.parametrize("name", ELEMENTS)


@cache
def coarse(name):
    return BUILTINS[name](resolution=COARSE[name])


def test_creature_feet_hold_it():
    small = coarse("creature")
    feet = small.mesh.vertices[small.places["feet"]]
    assert np.ptp(feet[:, 2]) < 1e-9
    body = sp.Body(small.mesh, sp.StVK(young=1e4, poisson=0.3), fixed=small.places["feet"])
    body.require_supports("standing")


def test_creature_has_the_size_it_says():
    mesh = creature().mesh
    assert 2000 < mesh.n_vertices < 6000
    assert np.ptp(mesh.bounds[:, 2]) == pytest.approx(0.43, abs=0.02)


def test_beam_has_its_size_and_ends():
    made = beam(resolution=10)
    assert made.mesh.volume == pytest.approx(0.04)
    assert np.allclose(made.mesh.vertices[made.places["root"], 0], 0)
    assert np.allclose(made.mesh.vertices[made.places["tip"], 0], 1)


@pytest.mark.parametrize("name", list(BUILTINS))
@pytest.mark.parametrize("resolution", [0, 10_000, True])
def test_builtin_resolution_is_checked(name, resolution):
    refused("resolution", BUILTINS[name], resolution=resolution)


@every_paper_body
@pytest.mark.filterwarnings("error::supple.MeshWarning")
def test_size_is_that_of_the_paper(name):
    made = BUILTINS[name]()
    assert made.mesh.n_cells == pytest.approx(ELEMENTS[name], rel=0.15)
    assert 3_000 < made.skin.surface.n_triangles < 50_000


@every_body
def test_bricks_are_one_piece_joined_by_faces(name):
    mesh = coarse(name).mesh
    brick = np.ptp(mesh.vertices[mesh.cells[0], 0])
    places = np.round((mesh.centroids - mesh.centroids.min(axis=0)) / brick).astype(int)
    grid = np.zeros(places.max(axis=0) + 1, dtype=bool)
    grid[tuple(places.T)] = True
    assert grid.sum() == mesh.n_cells
    assert label(grid)[1] == 1
    assert mesh.boundary().is_closed


@every_body
def test_regions_share_out_the_cells(name):
    made = coarse(name)
    regions = made.mesh.regions
    assert set(regions) == REGIONS[name]
    owned = np.sort(np.concatenate(list(regions.values())))
    assert np.array_equal(owned, np.arange(made.mesh.n_cells))
    assert all(len(cells) > 0.02 * made.mesh.n_cells for cells in regions.values())


@every_body
def test_skin_is_closed_and_follows_the_bricks(name):
    made = coarse(name)
    surface = made.skin.surface
    assert surface.is_closed
    assert 0 < surface.volume < made.mesh.volume
    assert made.colors.shape == surface.vertices.shape
    assert made.colors.min() >= 0
    assert made.colors.max() <= 1
    assert made.skin.inside.mean() > 0.99  # the heart's coronary vessels stick out
    assert np.array_equal(made.skin.deform(np.zeros_like(made.mesh.vertices)), surface.vertices)
    stretch = np.random.default_rng(4).normal(size=(3, 3))
    moved = made.skin.displace(made.mesh.vertices @ stretch)
    assert moved == pytest.approx(surface.vertices @ stretch, abs=1e-12)


@every_paper_body
def test_places_are_on_the_body_and_hold_it(name):
    made = coarse(name)
    for vertices in made.places.values():
        assert 3 < len(np.unique(vertices)) == len(vertices) < 0.25 * made.mesh.n_vertices
        assert np.isin(vertices, np.arange(made.mesh.n_vertices)).all()
    held, *pushed = made.places.values()
    free = np.setdiff1d(np.concatenate(pushed), held)
    assert len(free) > 0
    sp.Body(made.mesh, made.material, fixed=held).require_supports("swinging")


@every_paper_body
def test_swings_at_a_rate_that_the_eye_can_follow(name):
    made = coarse(name)
    body = sp.Body(made.mesh, made.material, fixed=next(iter(made.places.values())))
    frequencies = sp.vibration_modes(body, 6).frequencies
    assert 0.5 < frequencies[0] < 5.0
    assert frequencies[5] < 30 * frequencies[0]


def test_spoon_swings_as_it_says():
    made = BUILTINS["spoon"]()
    body = sp.Body(made.mesh, made.material, fixed=made.places["far end"])
    assert sp.vibration_modes(body, 1).frequencies[0] == pytest.approx(2.1, abs=0.05)


@every_paper_body
def test_free_body_has_no_hinges(name):
    """Six rigid motions and no seventh: nothing turns on an edge or a vertex."""
    made = coarse(name)
    frequencies = sp.vibration_modes(sp.Body(made.mesh, made.material), 7).frequencies
    assert frequencies[5] < 1e-2 * frequencies[6]
    assert frequencies[6] > 0.5


@pytest.mark.parametrize(("name", "axis"), [(n, axis) for n in MIRRORS for axis in MIRRORS[n]])
def test_bricks_and_skin_are_as_symmetric_as_the_shape(name, axis):
    mesh, skin = coarse(name).mesh, coarse(name).skin.surface

    def away(places):
        return cKDTree(places).query(places * np.where(np.arange(3) == axis, -1, 1))[0]

    # A triangle that grazes a brick may do so on one side only.
    assert np.mean(away(mesh.centroids) > 1e-9) < 0.01
    assert np.mean(away(mesh.vertices) > 1e-9) < 0.005
    if name != "tower":  # whose sides are turned, not mirrored
        assert away(skin.vertices).max() < 1e-12


@every_body
def test_made_twice_is_the_same(name):
    made = coarse(name)
    again = BUILTINS[name](resolution=COARSE[name])
    assert np.array_equal(again.mesh.vertices, made.mesh.vertices)
    assert np.array_equal(again.mesh.cells, made.mesh.cells)
    assert np.array_equal(again.skin.surface.vertices, made.skin.surface.vertices)
    assert np.array_equal(again.colors, made.colors)
    np.testing.assert_equal(dict(again.places), dict(made.places))
