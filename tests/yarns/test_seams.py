"""Seams: panels that nearly meet, with other vertices or none in common, and those that do not."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.refusals import refused
from tests.yarns.test_garments import assert_sound, poncho, sleeve, strains

import supple as sp
from supple.mesh import MeshWarning
from supple.yarns import YarnNet

SPACING = 0.01
exact = YarnNet.from_garment(poncho(), spacing=SPACING)


def two(back_cells: int = 16, gap: float = 0.0, turn: bool = False) -> sp.SheetMesh:
    """A front and a back, 0.4 m by 0.3 m, that meet at y = 0 but for a gap [m]."""
    front = sp.SheetMesh.grid(size=(0.4, 0.3), cells=(16, 12))
    back = sp.SheetMesh.grid(size=(0.4, 0.3), cells=(back_cells, 7))
    x = back.vertices * [1, -1, 1] - [0, gap, 0]
    flat = x[:, [1, 0]] + [5.0, 0] if turn else x[:, :2] + [5.0, 0]
    cells = np.concatenate([front.cells, back.cells[:, ::-1] + front.n_vertices])
    pattern = np.concatenate([front.vertices[:, :2], flat])
    return sp.SheetMesh(np.concatenate([front.vertices, x]), cells, pattern=pattern)


def assert_sewn_like_the_exact_one(net: YarnNet) -> None:
    assert_sound(net)
    assert np.array_equal(net.stitches, exact.stitches)
    np.testing.assert_allclose(net.stitch_lengths, exact.stitch_lengths, rtol=1e-3)


@pytest.mark.parametrize("noise", [1e-16, 1e-12, 1e-9, 3e-6])
def test_vertices_that_differ_by_rounding_are_sewn(noise):
    mesh = poncho()
    off = noise * np.random.default_rng(5).uniform(-1, 1, mesh.vertices.shape)
    assert_sewn_like_the_exact_one(
        YarnNet.from_garment(replace(mesh, vertices=mesh.vertices + off), spacing=SPACING)
    )


def test_single_precision_in_any_place_is_sewn():
    mesh = poncho()
    turn, far = Rotation.from_rotvec([0.4, -0.3, 0.9]), np.array([1.3, -0.7, 2.1])
    turned = turn.apply(np.array(mesh.vertices)) + far
    front = np.arange(mesh.n_vertices) < mesh.n_vertices // 2
    x = np.where(front[:, None], turned, turned.astype(np.float32).astype(float))
    assert_sewn_like_the_exact_one(YarnNet.from_garment(replace(mesh, vertices=x), spacing=SPACING))


@pytest.mark.parametrize("cells", [1, 7, 15, 41])
@pytest.mark.parametrize("turn", [False, True])
def test_edges_with_other_vertices_are_sewn_all_along(cells, turn):
    net = YarnNet.from_garment(two(cells, turn=turn), spacing=SPACING)
    assert_sound(net)
    assert len(net.stitches) == 40
    _, seam = strains(net)
    assert np.abs(seam).max() < 1e-6


def test_a_gap_is_closed_where_that_is_asked_for():
    mesh = two(11, gap=2e-3)
    net = YarnNet.from_garment(mesh, spacing=SPACING, seam_tolerance=2.1e-3)
    assert len(net.stitches) == 40
    np.testing.assert_allclose(net.stitch_lengths, SPACING, rtol=1e-6)  # as if it were closed


def test_seams_that_were_asked_for_and_are_not_there_are_refused_with_their_distances():
    mesh = two(11, gap=2e-3)
    refused("0.002", YarnNet.from_garment, mesh, spacing=SPACING, seam_tolerance=1e-3)
    alone = sp.SheetMesh.grid((0.1, 0.1), (2, 2))
    refused("0.025", YarnNet.from_garment, alone, spacing=SPACING, seam_tolerance=1e-4)
    refused("seam_tolerance", YarnNet.from_garment, mesh, spacing=SPACING, seam_tolerance=-1.0)


def test_a_panel_that_is_sewn_to_nothing_is_warned_of():
    with pytest.warns(MeshWarning, match="2 of 2 panels.* 0.002 to "):
        net = YarnNet.from_garment(two(11, gap=2e-3), spacing=SPACING)
    assert not len(net.stitches)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        YarnNet.from_garment(sp.SheetMesh.grid((0.1, 0.1), (4, 4)), spacing=SPACING)
        YarnNet.from_garment(two(11), spacing=SPACING)


def test_a_tube_that_is_cut_open_closes():
    """One panel meets itself, with vertices of its own on both sides of the seam."""
    whole = sleeve()
    cut = sp.SheetMesh(
        whole.vertices[whole.cells].reshape(-1, 3),
        np.arange(3 * len(whole.cells)).reshape(-1, 3),
        pattern=whole.rest_corners.reshape(-1, 2),
    )
    noisy = cut.vertices + 1e-8 * np.random.default_rng(2).uniform(-1, 1, cut.vertices.shape)
    closed = YarnNet.from_garment(whole, spacing=5e-3)
    net = YarnNet.from_garment(replace(cut, vertices=noisy), spacing=5e-3)
    assert np.array_equal(net.stitches, closed.stitches)


def test_a_corner_is_not_sewn_to_itself():
    """However large the tolerance: the sides of one corner are near in the pattern too."""
    mesh = sp.SheetMesh.grid((0.1, 0.1), (10, 10))
    flat = replace(mesh, pattern=mesh.vertices[:, :2])
    refused("no seam", YarnNet.from_garment, flat, spacing=SPACING, seam_tolerance=5e-3)
