"""Yarns as curves and tubes: over and under, round, closed, and moving along with the cloth."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refusals
from tests.yarns.cases import bent, cloth

import supple as sp
from supple.mesh import YarnMesh
from supple.yarns import Weave, WovenCloth, Yarn, YarnCurves, YarnNet

RADII = np.array([2e-4, 1.5e-4])


def of_curve(curves: YarnCurves, i: int) -> slice:
    end = int(curves.counts[: i + 1].sum())
    return slice(end - int(curves.counts[i]), end)


def test_yarns_are_chains_of_crossings():
    mesh = cloth(4, 5).mesh
    warps, wefts = mesh.yarns
    assert [yarn.tolist() for yarn in warps] == np.arange(20).reshape(4, 5).tolist()
    assert [yarn.tolist() for yarn in wefts] == np.arange(20).reshape(4, 5).T.tolist()
    assert mesh.n_yarns == 9
    assert repr(mesh) == "YarnMesh(20 crossings, 9 yarns)"
    np.testing.assert_array_equal(mesh.radii, RADII)


def test_crossing_yarns_touch_on_the_side_that_the_weave_says():
    body = cloth(6, 6)
    curves = YarnCurves(body.mesh, samples=1)
    x = curves.points(body.net.positions)
    warp = x[curves.point_families == 0].reshape(6, 6, 3)
    weft = x[curves.point_families == 1].reshape(6, 6, 3).transpose(1, 0, 2)
    top = body.net.warp_on_top.reshape(6, 6)
    np.testing.assert_allclose(warp[..., 2], np.where(top, 1, -1) * RADII[0])
    np.testing.assert_allclose(weft[..., 2], -np.where(top, 1, -1) * RADII[1])
    np.testing.assert_allclose(warp[..., :2], weft[..., :2])


@pytest.mark.parametrize("weave", [Weave.plain(), Weave.twill(2, 1), Weave.satin()])
def test_curves_pass_their_crossings_and_stay_between_them(weave):
    net = YarnNet.patch(7, 8, spacing=1e-3, weave=weave)
    mesh = net.mesh(RADII)
    coarse, fine = YarnCurves(mesh, 1), YarnCurves(mesh, 5)
    ends = coarse.points(net.positions)
    for i in range(mesh.n_yarns):
        x = fine.points(net.positions)[of_curve(fine, i)]
        np.testing.assert_allclose(x[::5], ends[of_curve(coarse, i)], atol=1e-18)
        assert np.abs(x[:, 2]).max() < 1.26 * RADII.max()
    assert len(fine.lines) == 5 * mesh.n_cells


def test_tubes_are_closed_and_as_thick_as_the_yarns():
    body = cloth(4, 5)
    curves = YarnCurves(body.mesh, 8)
    x = body.net.positions
    surface = sp.Surface(curves.tubes(x, 24), curves.tube_triangles(24))
    assert surface.is_closed
    lengths = np.zeros(2)
    steps = np.linalg.norm(np.diff(curves.points(x)[curves.lines], axis=1)[:, 0], axis=1)
    np.add.at(lengths, curves.point_families[curves.lines[:, 0]], steps)
    assert surface.volume == pytest.approx(np.pi * (RADII**2 @ lengths), rel=0.03)
    off = curves.tubes(x, 24).reshape(-1, 24, 3) - curves.points(x)[:, None]
    thick = np.repeat(RADII[curves.point_families, None], 24, 1)
    np.testing.assert_allclose(np.linalg.norm(off, axis=2), thick)


def test_tubes_turn_with_the_cloth():
    body = cloth()
    curves = YarnCurves(body.mesh, 3)
    x = bent(body)[:, :3]
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    shift = np.array([0.1, -0.2, 0.3])
    turned = curves.tubes(x) @ turn.T + shift
    np.testing.assert_allclose(curves.tubes(x @ turn.T + shift), turned, atol=1e-15)


def test_yarns_of_unlike_lengths_go_together():
    """A patch with a corner cut off."""
    net = YarnNet.patch(4, 4, spacing=1e-3)
    kept = np.arange(15)
    along = np.where(net.along[:15] == 15, -1, net.along[:15])
    whole = YarnNet(net.positions[kept], net.arc_lengths[kept], along, net.warp_on_top[kept])
    curves = YarnCurves(whole.mesh(RADII), 2)
    assert sorted(curves.counts.tolist()) == [5, 5, 7, 7, 7, 7, 7, 7]
    assert sp.Surface(curves.tubes(whole.positions), curves.tube_triangles()).is_closed


test_what_cannot_be_drawn_says_so = refusals(
    (lambda: YarnCurves(sp.SheetMesh.grid((1, 1), (1, 1))), "WovenCloth.mesh"),
    (lambda: YarnCurves(cloth().mesh, 0), "samples=0"),
    (lambda: YarnCurves(cloth().mesh).tube_triangles(2), "three or more"),
    (lambda: cloth().net.mesh(np.array([1.0, 0.0])), "above zero"),
    (
        lambda: YarnMesh(
            np.eye(3), [[0, 1], [1, 2]], {"warp": [0, 1]},
            arc_lengths=np.zeros((3, 2)), warp_on_top=np.ones(3, bool), radii=RADII,
        ),
        "'warp' and 'weft'",
    ),
)  # fmt: skip


def test_weft_is_like_the_warp_unless_given():
    yarn = Yarn(radius=3e-4, linear_density=1e-4, stretch=1.0, bending=1e-8)
    mesh = WovenCloth(YarnNet.patch(3, 3, spacing=1e-3), warp=yarn).mesh
    assert mesh.radii.tolist() == [3e-4, 3e-4]
    assert mesh.scaled(2.0).radii.tolist() == [6e-4, 6e-4]
