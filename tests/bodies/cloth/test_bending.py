"""Bending of cloth: angles of hinges, both models by themselves, rolls and strips of theory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import Delaunay
from tests.bodies.cloth.sheets import FILM, ISOTROPIC, WOVEN, bowl, crumpled, shaken_grid
from tests.helpers import EPS, remainder_slopes

import supple as sp
from supple._kernels.elasticity import hinges as kernels
from supple.bodies.assembly import Asked, Evaluation
from supple.bodies.cloth.bending import rest_angles

D = KAPPA = 0.5
MODELS = {
    "quadratic": sp.QuadraticBending(),
    "hinges": sp.HingeBending(),
    "creased": sp.HingeBending(0.3),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def sheet(model: sp.Bending | None, mesh: sp.SheetMesh | None = None) -> sp.Cloth:
    return sp.Cloth(shaken_grid() if mesh is None else mesh, ISOTROPIC, bending=model)


def bent(body: sp.Cloth, x: np.ndarray, *, order: int = 0, **asked) -> Evaluation:
    """The energy of bending alone at positions x (n, 3), with what else is asked for."""
    blocks = np.zeros((body.pattern.n_blocks, 3, 3))
    to = Evaluation(0.0, np.zeros_like(x), np.zeros_like(x), blocks)
    return replace(to, energy=body.bound_bending.add(x, Asked(order=order, **asked), to))


@every_model
def test_derivatives_without_the_membrane(model):
    body = sheet(model)
    x = body.mesh.vertices + crumpled(body.mesh)
    ways = np.random.default_rng(1).normal(size=(4, *x.shape))
    here = bent(body, x, order=2)
    K = body.pattern.full(here.stiffness)
    products = np.array([bent(body, x, direction=d).product for d in ways])
    for d, product in zip(ways, products, strict=True):
        by_matrix = (K @ d.ravel()).reshape(d.shape)
        assert np.abs(product - by_matrix).max() <= 1e-12 * np.abs(product).max()

    def energy_left(h: float) -> float:
        there = [bent(body, x + h * d).energy for d in ways]
        series = [here.energy + h * np.vdot(here.gradient, d) for d in ways]
        return float(np.linalg.norm(np.subtract(there, series)))

    def force_left(h: float) -> float:
        there = np.array([bent(body, x + h * d, order=1).gradient for d in ways])
        return float(np.linalg.norm(there - here.gradient - h * products))

    steps = 1e-3 * 0.5 ** np.arange(5)
    assert remainder_slopes(energy_left, steps)[-1] == pytest.approx(2, abs=0.1)
    if model == sp.QuadraticBending():
        assert force_left(1.0) <= 1e-12 * np.abs(products).sum()
    else:
        assert remainder_slopes(force_left, steps)[-1] == pytest.approx(2, abs=0.1)


def test_angle_of_a_fold():
    """Two triangles on either side of the x axis, the second lifted by an angle."""
    hinge = np.array([[0, 1, 2, 3]])
    for angle in (-3.0, -1.0, 0.0, 0.5, 2.0):
        x = np.array([(0, 0, 0), (1, 0, 0), (0.3, 1, 0), (0.6, -np.cos(angle), -np.sin(angle))])
        theta = np.empty(1)
        kernels.angles(x, hinge, theta)
        assert theta[0] == pytest.approx(angle, abs=1e-14)


def test_models_agree_for_small_deflections():
    """θ and 2 sin(θ/2) differ by θ³/24."""
    for seed in range(3):
        mesh = shaken_grid(seed)
        lift = np.random.default_rng(seed).normal(size=mesh.n_vertices)[:, None] * [0, 0, 1]
        energies = []
        for size in (1e-2, 1e-3):
            pair = [bent(sheet(m, mesh), mesh.vertices + size * lift).energy
                    for m in (sp.QuadraticBending(), sp.HingeBending())]  # fmt: skip
            energies.append(abs(pair[0] / pair[1] - 1))
        assert energies[0] < 0.2
        assert energies[1] < 0.011 * energies[0]  # the difference falls as the square


def test_models_have_one_stiffness_where_the_sheet_is_flat():
    body, quadratic = sheet(sp.HingeBending()), sheet(sp.QuadraticBending())
    K, Q = (
        body.pattern.full(bent(each, body.mesh.vertices, order=2).stiffness).toarray()
        for each in (body, quadratic)
    )
    assert np.abs(K[2::3, 2::3] - Q[2::3, 2::3]).max() <= 1e-12 * np.abs(Q).max()


# -- theory -----------------------------------------------------------------------------------


def equilateral(count: int, edge: float) -> sp.SheetMesh:
    """A sheet of equilateral triangles, in rows."""
    grid = sp.SheetMesh.grid((count * edge, count * edge * np.sqrt(0.75)), (count, count))
    x, y, z = grid.vertices.T
    row = np.round(y / (edge * np.sqrt(0.75)))
    flat = np.column_stack([x + 0.5 * edge * row, y])
    i = np.arange(count)[:, None] * (count + 1) + np.arange(count)
    a, b, c, d = (k.ravel() for k in (i, i + count + 1, i + count + 2, i + 1))
    triangles = np.concatenate([np.stack([a, b, d], 1), np.stack([b, c, d], 1)])
    return sp.SheetMesh(np.column_stack([flat, z]), triangles, pattern=flat)


def rolled(along: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """Places of a sheet on a cylinder of the curvature κ."""
    angle = KAPPA * along
    return np.column_stack([np.sin(angle) / KAPPA, beside, (1 - np.cos(angle)) / KAPPA])


@pytest.mark.parametrize("model", ["quadratic", "hinges"])
@pytest.mark.parametrize("across", [0.0, 0.3, 1.0])
def test_roll_has_the_energy_of_a_cylinder(model, across):
    """½ D κ² A, for equilateral triangles in any direction, save for hinges at the rim."""
    mesh = equilateral(40, 0.05)
    turn = np.array([(np.cos(across), np.sin(across)), (-np.sin(across), np.cos(across))])
    U = bent(sheet(MODELS[model], mesh), rolled(*turn @ mesh.pattern.T)).energy
    edges = len(mesh.edges) - len(mesh.boundary_edges)
    inner = 2 / 3 * edges / mesh.n_cells  # the share of an endless sheet's hinges that it has
    assert pytest.approx(0.5 * D * KAPPA**2 * mesh.area * inner, rel=0.02) == U


def test_grid_rolled_along_its_axes_has_the_energy_of_a_cylinder():
    mesh = sp.SheetMesh.grid((2.0, 1.0), (40, 20))
    for model in ("quadratic", "hinges"):
        U = bent(sheet(MODELS[model], mesh), rolled(*mesh.pattern.T)).energy
        assert pytest.approx(0.5 * D * KAPPA**2 * 2.0 * 39 / 40, rel=1e-3) == U


def irregular(size: tuple[float, float], cells: tuple[int, int]) -> sp.SheetMesh:
    """A grid whose inner vertices were moved at random, past the first two columns, meshed anew."""
    flat = sp.SheetMesh.grid(size, cells).pattern.copy()
    step, (length, width) = size[0] / cells[0], size
    x, y = flat.T
    inner = (x > 1.5 * step) & (x < length - step / 2) & (y > step / 2) & (y < width - step / 2)
    shift = np.random.default_rng(0).uniform(-0.35, 0.35, (int(inner.sum()), 2))
    flat[inner] += step * shift
    triangles = Delaunay(flat).simplices
    a, b, c = flat[triangles].transpose(1, 0, 2)
    area = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    return sp.SheetMesh(np.column_stack([flat, 0 * x]), triangles[area > 1e-8], pattern=flat)


@pytest.mark.parametrize("model", ["quadratic", "hinges"])
@pytest.mark.parametrize(("make", "softer"), [(irregular, 1.06), (sp.SheetMesh.grid, 1.23)])
def test_strip_bends_as_a_beam(make, softer, model):
    """A cantilever with a load F at its end sinks by F L³/(3 D b), on a grid by a quarter more."""
    L, b, load = 1.0, 0.2, 1e-3
    mesh = make((L, b), (40, 8))
    film = sp.IsotropicCloth(young=1e9, bending_stiffness=D, **FILM)
    strip = sp.Cloth(mesh, film, fixed=mesh.where(x=(0, L / 40)), bending=MODELS[model])
    end = mesh.where(x=L)
    share = np.where(np.isin(mesh.vertices[end, 1], (0, b)), 0.5, 1.0) / (len(end) - 1)
    u = sp.static_shape(strip, strip.point_force(end, share[:, None] * [0, 0, -load]))
    # Clamped between the first two columns of vertices
    expected = softer * load * (L - L / 80) ** 3 / (3 * D * b)
    assert -u[end, 2].mean() == pytest.approx(expected, rel=0.02)


def test_stiff_threads_resist_being_curved():
    mesh = sp.SheetMesh.grid((1, 1), (10, 10))
    weave = sp.Cloth(mesh, replace(WOVEN, warp=None), bending=sp.HingeBending())
    x, y, _ = mesh.vertices.T
    rolls = [np.column_stack([x, y, 0.05 * s**2]) for s in (x, y)]
    warp, weft = (bent(weave, r).energy for r in rolls)
    assert warp / weft == pytest.approx(0.8 / 0.3, rel=1e-3)


def test_plate_has_its_thickness():
    E, nu, t = 1e6, 0.3, 2e-3
    plate = sp.IsotropicCloth(young=E, poisson=nu, thickness=t, areal_density=1.0)
    woven = sp.OrthotropicCloth(
        young_warp=E, young_weft=E, shear=1e5, poisson=nu, thickness=t, areal_density=1.0
    )
    for found in (plate.rigidity(np.arange(2))[0], *woven.rigidity(np.arange(2))):
        assert found == pytest.approx(E * t**3 / (12 * (1 - nu**2)))


# -- curved at rest ---------------------------------------------------------------------------


def test_curved_mesh_keeps_its_shape_and_a_pattern_flattens_it():
    mesh = bowl()
    assert np.abs(rest_angles(mesh)).max() > 0.1
    assert bent(sheet(None, mesh), mesh.vertices).energy <= EPS
    flat = sp.SheetMesh(mesh.vertices, mesh.cells, pattern=shaken_grid().pattern)
    for model in (None, sp.HingeBending()):
        assert bent(sheet(model, flat), mesh.vertices).energy > 1e-3
    assert bent(sheet(sp.HingeBending(0.0), mesh), mesh.vertices).energy > 1e-3


def test_default_is_quadratic_where_flat():
    def kind(model: sp.Bending | None, mesh: sp.SheetMesh | None = None) -> type:
        return type(sheet(model, mesh).bound_bending)

    lying = sp.SheetMesh(shaken_grid().vertices, shaken_grid().cells)
    assert kind(None) is kind(None, lying) is kind(sp.QuadraticBending())
    assert kind(None, bowl()) is kind(sp.HingeBending())


def test_matrix_without_bending_has_no_hinges():
    limp = sp.Cloth(shaken_grid(), replace(ISOTROPIC, bending_stiffness=0.0))
    stiff = sp.Cloth(shaken_grid(), ISOTROPIC)
    assert limp.bound_bending is None
    assert limp.pattern.n_blocks == limp.n_vertices + len(limp.mesh.edges)
    coupled = stiff.pattern.graph().toarray()
    across = np.sort(stiff.mesh.hinges.vertices[:, 2:], axis=1)
    assert coupled[tuple(across.T)].all()
    assert stiff.pattern.n_blocks > limp.pattern.n_blocks
