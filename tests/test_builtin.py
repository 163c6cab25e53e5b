"""The built-in bodies are whole, charming and ready to simulate."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

import supple as sp
from supple.builtin import BUILTINS, beam, creature


@pytest.fixture(scope="module")
def small():
    return creature(resolution=20)


def test_creature_is_one_solid_with_three_regions(small):
    regions = small.mesh.regions
    assert list(regions) == ["ears", "belly", "rest"]
    assert np.array_equal(
        np.sort(np.concatenate(list(regions.values()))), np.arange(small.mesh.n_cells)
    )
    assert small.mesh.boundary().is_closed
    assert all(len(cells) > 20 for cells in regions.values())


def test_creature_skin_is_closed_and_inside_its_bricks(small):
    assert small.skin.surface.is_closed
    assert 0 < small.skin.surface.volume < small.mesh.volume
    assert small.skin.inside.mean() > 0.98  # eyes and nose stick out
    assert small.colors.shape == small.skin.surface.vertices.shape
    assert small.colors.min() >= 0
    assert small.colors.max() <= 1


def test_creature_is_mirror_symmetric(small):
    def distances(points):
        return cKDTree(points).query(points * np.array([-1, 1, 1]))[0]

    assert distances(small.skin.surface.vertices).max() < 1e-12
    # A triangle that grazes a brick may do so on one side only.
    assert np.mean(distances(small.mesh.vertices) > 1e-9) < 0.005


def test_creature_feet_hold_it(small):
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
    with pytest.raises(sp.InputError, match="resolution"):
        BUILTINS[name](resolution=resolution)
