"""Yarns laid on garments: runs, borders, seams, mass, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refusals
from tests.yarns.cases import remainders

import supple as sp
from supple.bodies.cloth import front_and_back
from supple.yarns import Weave, WovenCloth, Yarn, YarnDamping, YarnNet, YarnSimulation

YARN = Yarn(radius=2e-4, linear_density=1e-4, stretch=1.0, bending=1e-9)


def woven(net: YarnNet) -> WovenCloth:
    return WovenCloth(net, warp=YARN, shear=1e-7)


def assert_sound(net: YarnNet) -> None:
    """Links are mutual, arc lengths grow (the net checks), every crossing has both its yarns."""
    for family in (0, 1):
        before, after = net.along[:, family].T
        has = np.flatnonzero(after >= 0)
        assert np.array_equal(net.along[after[has], family, 0], has)
        has = np.flatnonzero(before >= 0)
        assert np.array_equal(net.along[before[has], family, 1], has)
        assert ((before >= 0) | (after >= 0)).all()
    assert np.array_equal(np.unique(np.sort(net.stitches), axis=0), net.stitches)


def laid(mesh: sp.SheetMesh, spacing: float, **options) -> YarnNet:
    net = YarnNet.from_garment(mesh, spacing=spacing, **options)
    assert_sound(net)
    return net


def strains(net: YarnNet) -> tuple[np.ndarray, np.ndarray]:
    """Of yarns and of stitches, as the net lies in space."""
    nodes, family = net.segments
    d = np.linalg.norm(net.positions[nodes[:, 1]] - net.positions[nodes[:, 0]], axis=1)
    s = net.arc_lengths[nodes, family[:, None]]
    i, j = net.stitches.T
    sewn = np.linalg.norm(net.positions[j] - net.positions[i], axis=1)
    return d / (s[:, 1] - s[:, 0]) - 1, sewn / net.stitch_lengths - 1


def mass_by_area(net: YarnNet, mesh: sp.SheetMesh, spacing: float) -> float:
    return woven(net).total_mass / (mesh.area * 2 * YARN.linear_density / spacing)


def sleeve(around: int = 48, along: int = 30) -> sp.SheetMesh:
    """A closed tube of quads whose pattern is a rectangle: one seam."""
    r, length = 0.05, 0.35
    i, j = (each.ravel() for each in np.indices((around, along)))
    x = np.arange(around * (along + 1))
    angle, height = 2 * np.pi * (x % around) / around, length * (x // around) / along
    vertices = np.stack([r * np.cos(angle), r * np.sin(angle), height], axis=1)
    corners = np.stack([i, j], axis=1)[:, None] + np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    quads = corners[..., 1] * around + corners[..., 0] % around
    width, up = 2 * r * np.sin(np.pi / around), length / along
    return sp.SheetMesh.from_quads(vertices, quads, pattern=corners * [width, up])


def cap() -> sp.SheetMesh:
    """A shallow dome whose pattern is what it looks like from above."""
    disc = sp.SheetMesh.grid(size=(0.3, 0.3), cells=(24, 24))
    x = disc.vertices - [0.15, 0.15, 0]
    r = np.linalg.norm(x, axis=1)
    inside = (r[disc.cells] < 0.14).all(axis=1)
    dome = x + np.stack([0 * r, 0 * r, 0.1 * np.cos(8 * r)], axis=1)
    return sp.SheetMesh.from_surface(sp.Surface(dome, disc.cells[inside]), pattern=x[:, :2])


def poncho() -> sp.SheetMesh:
    """Two squares, each with a pattern of its own, sewn at the shoulders, y = 0."""
    front = sp.SheetMesh.grid(size=(0.4, 0.3), cells=(16, 12))
    back = front.vertices * [1, -1, 1]
    vertices = np.concatenate([front.vertices, back])
    cells = np.concatenate([front.cells, front.cells[:, ::-1] + len(back)])
    turned = back[:, [1, 0]] + [5.0, 0]  # elsewhere, with warps across
    return sp.SheetMesh(vertices, cells, pattern=np.concatenate([front.vertices[:, :2], turned]))


def angular() -> sp.SheetMesh:
    """An L with a square hole in its corner."""
    whole = sp.SheetMesh.grid(size=(0.4, 0.4), cells=(40, 40))
    x, y = whole.centroids[:, 0], whole.centroids[:, 1]
    hole = (abs(x - 0.1) < 0.03) & (abs(y - 0.1) < 0.03)
    surface = sp.Surface(whole.vertices, whole.cells[~hole & ~((x > 0.2) & (y > 0.2))])
    return sp.SheetMesh.from_surface(surface, pattern=whole.vertices[:, :2])


def test_sleeve_is_closed_by_its_seam():
    mesh, spacing = sleeve(), 5e-3
    net = laid(mesh, spacing, weave=Weave.twill())
    warps, wefts = 63, 70  # 0.314 m round, 0.35 m long
    assert net.n_nodes == warps * wefts
    assert len(net.stitches) == wefts
    yarns, seam = strains(net)
    assert np.abs(yarns).max() < 0.01  # chords of the triangles
    assert np.abs(seam).max() < 0.01
    assert mass_by_area(net, mesh, spacing) == pytest.approx(1, abs=0.02)
    first, last = (np.flatnonzero(net.along[:, 1, end] < 0) for end in (0, 1))  # of wefts
    assert np.array_equal(net.stitches, np.stack([first, last], axis=1))


def test_cap_follows_the_dome():
    mesh, spacing = cap(), 4e-3
    net = laid(mesh, spacing)
    assert not len(net.stitches)
    assert net.n_nodes == pytest.approx(mesh.area / spacing**2, rel=0.02)
    assert mass_by_area(net, mesh, spacing) == pytest.approx(1, abs=0.03)
    r = np.linalg.norm(net.positions[:, :2], axis=1)
    np.testing.assert_allclose(net.positions[:, 2], 0.1 * np.cos(8 * r), atol=1e-3)
    np.testing.assert_allclose(net.arc_lengths, net.positions[:, [1, 0]], atol=1e-12)


def test_panels_of_a_poncho_are_sewn_though_their_patterns_are_far_apart():
    mesh, spacing = poncho(), 0.01
    net = laid(mesh, spacing)
    front = net.positions[:, 1] > 0
    assert front.sum() == 40 * 30
    assert (~front).sum() == 40 * 30
    i, j = net.stitches.T
    assert (front[i] != front[j]).all()
    assert len(net.stitches) == 40
    yarns, seam = strains(net)
    assert np.abs(yarns).max() < 1e-9
    assert np.abs(seam).max() < 1e-6
    nodes, family = net.segments
    direction = net.positions[nodes[:, 1]] - net.positions[nodes[:, 0]]
    along_y = np.abs(direction[:, 1]) > 0.5 * spacing
    assert np.array_equal(along_y, (family == 0) == front[nodes[:, 0]])


def test_yarns_end_at_holes_and_borders():
    mesh, spacing = angular(), 5e-3
    net = laid(mesh, spacing)
    assert net.n_nodes == 80 * 80 - 40 * 40 - 12 * 12
    x = net.positions
    nodes, _ = net.segments
    length = np.linalg.norm(x[nodes[:, 1]] - x[nodes[:, 0]], axis=1)
    np.testing.assert_allclose(length, spacing)  # none across the hole
    through = np.isclose(x[:, 0], 0.1, atol=spacing / 2)  # a warp with two runs, of 0.07 and 0.27 m
    ends = x[through & (net.along[:, 0, 1] < 0), 1]
    np.testing.assert_allclose(np.unique(ends.round(6)), [0.0675, 0.3975], atol=1e-6)
    assert mass_by_area(net, mesh, spacing) == pytest.approx(1, abs=0.03)


def test_a_slit_narrower_than_the_spacing_cuts_yarns():
    mesh = sp.SheetMesh.grid(size=(0.1, 0.1), cells=(10, 10))
    x = mesh.vertices
    slit = np.flatnonzero((abs(x[:, 1] - 0.05) < 1e-9) & (x[:, 0] > 0.021) & (x[:, 0] < 0.079))
    copies = np.arange(len(slit)) + len(x)
    above = mesh.centroids[:, 1] > 0.05
    cells = mesh.cells.copy()
    for old, new in zip(slit, copies, strict=True):
        cells[above[:, None] & (mesh.cells == old)] = new
    vertices = np.concatenate([x, x[slit] + [0, 1e-4, 0]])
    net = laid(sp.SheetMesh(vertices, cells, pattern=vertices[:, :2]), 5e-3)
    nodes, _ = net.segments
    y = net.positions[nodes, 1]
    u = net.positions[nodes[:, 0], 0]
    crosses = (y.min(axis=1) < 0.05) & (y.max(axis=1) > 0.0501)
    assert crosses.any()
    assert not (crosses & (u > 0.03) & (u < 0.07)).any()


def test_the_weave_goes_on_over_a_panel():
    mesh = sp.SheetMesh.grid(size=(0.1, 0.1), cells=(2, 2))
    net = YarnNet.from_garment(mesh, spacing=0.01, weave=Weave.satin())
    patch = YarnNet.patch(10, 10, spacing=0.01, weave=Weave.satin(), origin=(0.005, 0.005, 0))
    np.testing.assert_allclose(net.positions, patch.positions, atol=1e-12)
    assert np.array_equal(net.along, patch.along)
    assert np.array_equal(net.warp_on_top, patch.warp_on_top)


def test_stitches_have_the_right_derivatives():
    net = YarnNet.from_garment(poncho(), spacing=0.05)
    body = woven(net)
    rng = np.random.default_rng(3)
    q = body.rest_state
    q[:, :3] += 2e-3 * rng.normal(size=(net.n_nodes, 3))
    damping = YarnDamping(stretch=0.7)
    before = body.before(q + 1e-3 * rng.normal(size=q.shape), damping, 1.0)

    def stretch(q, g, K):
        return body.strain_potential("stretch", q, g, K, before=before)

    d = np.zeros_like(q)
    d[:, :3] = rng.normal(size=(net.n_nodes, 3))
    left = remainders(body, stretch, q, d)
    np.testing.assert_allclose(np.log2(left(1e-5) / left(5e-6)), [3, 2], atol=0.15)

    v = np.zeros_like(q)
    v[:, :3] = np.cross([1.0, 2, 3], q[:, :3])
    still, _ = body.dissipation(q, v, damping)
    v[net.positions[:, 1] > 0, :3] += [0.0, 1.0, 0.0]  # one panel away from the other
    torn, force = body.dissipation(q, v, damping)
    assert 0 <= still < 1e-20 * torn
    felt = np.abs(force).max(axis=1) > 1e-9 * np.abs(force).max()
    assert np.flatnonzero(felt).tolist() == np.unique(net.stitches).tolist()


def test_a_garment_hangs_by_its_seams():
    """The back of a poncho is carried by stitches alone, once the front is held.

    Yarns that nothing presses together slide down along those that are sewn.
    """
    net = YarnNet.from_garment(poncho(), spacing=0.025)
    body = woven(net)
    front = net.positions[:, 1] > 0
    sim = YarnSimulation(body, gravity=(0, -9.81, 0), fixed=front, dt=2e-3)
    sim.run(0.1)
    _, seam = strains(replace(net, positions=sim.q[:, :3]))
    assert 1e-4 < seam.min() < seam.max() < 0.02
    g = np.zeros_like(sim.q)
    body.strain_potential("stretch", sim.q, g)  # forces within a panel add up to nothing
    weight = 9.81 * body.total_mass / 2
    assert g[front, 1].sum() == pytest.approx(weight, rel=0.5)  # it still swings


def tube() -> sp.SheetMesh:
    """A sleeve without a pattern, flattened like a garment that lies on a table."""
    mesh = sleeve()
    x, y, z = mesh.vertices.T
    return sp.SheetMesh(np.stack([x, z, 0.4 * y], axis=1), mesh.cells[:, ::-1])


def test_front_and_back_lay_a_tube_flat_without_strain():
    mesh = tube()
    flat = front_and_back(mesh)
    sides = np.linalg.norm(np.diff(flat.rest_corners[:, [0, 1, 2, 0]], axis=1), axis=2)
    np.testing.assert_allclose(sides, mesh.edge_lengths(), rtol=0.01)
    net = laid(flat, 6e-3)
    yarns, seam = strains(net)
    assert np.abs(yarns).max() < 0.05
    assert np.median(np.abs(yarns)) < 0.01
    assert np.quantile(np.abs(seam), 0.9) < 0.2
    assert len(net.stitches) > 1.8 * 0.35 / 6e-3  # two seams
    v = net.arc_lengths[:, 0]
    assert abs(np.corrcoef(v, net.positions[:, 1])[0, 1]) > 0.999  # warps run up


test_bad_input_is_named = refusals(
    (lambda: YarnNet.from_garment(tube(), spacing=0.01), "front_and_back"),
    (lambda: YarnNet.from_garment(poncho(), spacing=1.0), "smaller spacing"),
    (lambda: YarnNet.from_garment(poncho().surface(), spacing=0.01), "SheetMesh"),
    (lambda: YarnNet.from_garment(folded(), spacing=0.01), "folds over itself"),
    (lambda: front_and_back(tube(), up=(0, 0, 1)), "same way"),
)


def folded() -> sp.SheetMesh:
    mesh = sp.SheetMesh.grid(size=(0.2, 0.1), cells=(4, 2))
    flat = mesh.vertices[:, :2].copy()
    flat[:, 0] = np.minimum(flat[:, 0], 0.2 - flat[:, 0]) + 0.001 * flat[:, 0]
    return replace(mesh, pattern=flat)
