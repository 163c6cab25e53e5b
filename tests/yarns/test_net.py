"""Weaves and nets of yarns: which is on top, who neighbours whom, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refusals

import supple as sp
from supple.yarns import Weave, WovenCloth, Yarn, YarnDamping, YarnNet, YarnSimulation

YARN = Yarn(radius=1e-4, linear_density=5e-5, stretch=1.0, bending=1e-9)


def test_plain_weave_alternates():
    top = Weave.plain().over(6, 8)
    assert (top[1:] != top[:-1]).all()
    assert (top[:, 1:] != top[:, :-1]).all()


def test_twill_runs_in_diagonals():
    top = Weave.twill(2, 1).over(9, 9)
    assert np.array_equal(top[1:, 1:], top[:-1, :-1])
    assert (top.sum(axis=0) == 6).all()
    assert (top.sum(axis=1) == 6).all()


@pytest.mark.parametrize(("period", "shift"), [(5, 2), (5, 3), (8, 3), (7, 2)])
def test_satin_ties_once_a_period_and_never_side_by_side(period, shift):
    under = ~Weave.satin(period, shift).over(2 * period, 2 * period)
    assert (under.sum(axis=0) == 2).all()
    assert (under.sum(axis=1) == 2).all()
    assert not (under[1:, 1:] & under[:-1, :-1]).any()
    assert not (under[1:, :-1] & under[:-1, 1:]).any()


def test_patch_has_the_neighbours_of_a_grid():
    net = YarnNet.patch(4, 6, spacing=(1e-3, 2e-3))
    assert net.n_nodes == 24
    nodes, family = net.segments
    assert len(nodes) == 4 * 5 + 3 * 6
    lengths = np.linalg.norm(net.positions[nodes[:, 1]] - net.positions[nodes[:, 0]], axis=1)
    np.testing.assert_allclose(lengths, np.where(family == 0, 2e-3, 1e-3))
    s = net.arc_lengths
    np.testing.assert_allclose(s[nodes[:, 1], family] - s[nodes[:, 0], family], lengths)
    triples, family = net.triples
    assert len(triples) == 4 * 4 + 2 * 6
    bend = net.positions[triples[:, 0]] - 2 * net.positions[triples[:, 1]]
    np.testing.assert_allclose(bend + net.positions[triples[:, 2]], 0, atol=1e-15)
    corners = net.corners
    assert len(corners) == 4 * 3 * 5
    a, b = (net.positions[corners[:, k]] - net.positions[corners[:, 0]] for k in (1, 2))
    np.testing.assert_allclose(np.sum(a * b, axis=1), 0)
    assert net.edge.sum() == 24 - 2 * 4


def test_mass_is_density_times_length():
    net = YarnNet.patch(4, 6, spacing=(1e-3, 2e-3))
    heavy = Yarn(radius=1e-4, linear_density=2e-4, stretch=1.0, bending=1e-9)
    cloth = WovenCloth(net, warp=YARN, weft=heavy)
    assert cloth.total_mass == pytest.approx(4 * 0.01 * 5e-5 + 6 * 0.003 * 2e-4)


def test_yarn_by_moduli_is_a_rod():
    yarn = Yarn.of_moduli(radius=1e-4, density=1500, young=1e8, bending_young=1e7)
    area = np.pi * 1e-8
    assert yarn.linear_density == pytest.approx(1500 * area)
    assert yarn.stretch == pytest.approx(1e8 * area)
    assert yarn.bending == pytest.approx(1e7 * np.pi * 1e-16 / 4)


test_bad_input_is_named = refusals(
    (lambda: YarnNet.patch(2, 5, spacing=1e-3), "warps=2"),
    (lambda: YarnNet.patch(5, 5, spacing=-1e-3), "spacing"),
    (lambda: Weave.satin(6, 2), "no common divisor"),
    (lambda: Weave(np.array([[0, 1]])), "booleans"),
    (lambda: Yarn(radius=0, linear_density=1, stretch=1, bending=0), "radius=0"),
    (lambda: YarnDamping(stretch=-1), "stretch=-1"),
    (lambda: WovenCloth("net", warp=YARN), "YarnNet.patch"),
    (lambda: YarnSimulation(patch(), fixed=[99]), "vertex 99"),
    (lambda: YarnSimulation(patch(), damping=sp.Rayleigh(stiffness=1)), "YarnDamping"),
    (lambda: backwards(), "do not grow"),
)


def patch() -> WovenCloth:
    return WovenCloth(YarnNet.patch(4, 4, spacing=1e-3), warp=YARN)


def backwards() -> YarnNet:
    net = YarnNet.patch(4, 4, spacing=1e-3)
    return YarnNet(net.positions, -net.arc_lengths, net.along, net.warp_on_top)
