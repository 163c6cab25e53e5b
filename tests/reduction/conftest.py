"""Small bodies and models for the tests of reduced models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.helpers import MESH_NAMES, small_mesh, soft

import supple as sp
from supple.integrators import INTEGRATORS, ImplicitIntegrator
from supple.materials import MATERIALS
from supple.reduction.derivatives import derivative_pairs

IMPLICIT = [rule for rule in INTEGRATORS if issubclass(rule, ImplicitIntegrator)]
TIGHT = sp.DenseNewton(tolerance=1e-11, max_iterations=30)
every_rule = pytest.mark.parametrize("rule", IMPLICIT, ids=lambda rule: rule.__name__)
every_material = pytest.mark.parametrize("material", MATERIALS, ids=lambda m: m.__name__)
every_mesh = pytest.mark.parametrize("mesh_name", MESH_NAMES)
every_mass = pytest.mark.parametrize("mass", [sp.ConsistentMass(), sp.LumpedMass()], ids=repr)


def held_body(
    mesh_name: str = "tet", material: type[sp.Material] = sp.StVK, **options: object
) -> sp.Body:
    """A small body of any kind of cell, held by five vertices at one end."""
    mesh = small_mesh(mesh_name)
    return sp.Body(mesh, soft(material), fixed=np.argsort(mesh.vertices[:, 0])[:5], **options)


def free_body(mesh_name: str = "tet", material: type[sp.Material] = sp.StVK) -> sp.Body:
    return sp.Body(small_mesh(mesh_name), soft(material))


def two_part_beam(
    material: sp.Material = sp.StVK(young=1e5, poisson=0.4, density=1000),  # noqa: B008
    **materials: sp.Material,
) -> sp.Body:
    """A beam held at x = 0, of two regions "near" and "far"."""
    mesh = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(4, 1, 1))
    near = mesh.cells_where(x=(0.0, 0.5))
    far = np.setdiff1d(np.arange(mesh.n_cells), near)
    mesh = mesh.with_region("near", near).with_region("far", far)
    return sp.Body(mesh, {"near": material, "far": material} | materials, fixed=mesh.where(x=0))


def complete_basis(body: sp.Body) -> sp.Basis:
    """Every displacement that the supports allow."""
    free = int(body.free.sum())
    shapes = np.zeros((free, body.n_vertices, 3))
    shapes[:, body.free] = np.eye(free)
    return sp.picked_basis(body, shapes)


def every_cell(body: sp.Body, vectors: np.ndarray) -> sp.Cubature:
    """The cubature that is exact: all cells, each standing for itself."""
    cells = np.arange(body.mesh.n_cells)
    return sp.Cubature.of_cells(body, vectors, cells, np.ones(len(cells)))


def interpreted(model: sp.ReducedModel) -> sp.ReducedModel:
    """The same model with its energy from cells, whose steps are taken in Python."""
    assert model.body is not None
    basis = sp.Basis(model.vectors, np.ones(model.size))
    cells = every_cell(model.body, model.vectors)
    return sp.reduce(model.body, basis, regions=model.regions, cubature=cells)


def pushed(
    model: sp.ReducedModel, force: np.ndarray, steps: int, **options: object
) -> tuple[sp.Simulation, sp.ReducedSimulation]:
    """The body of a model, in full and reduced, after steps under a force (n, 3)."""
    assert model.body is not None
    solver = sp.Newton(tolerance=1e-11)
    full = sp.Simulation(model.body, **options, force=lambda t: force, solver=solver)
    for _ in range(steps):
        full.step()
    live = model.simulation(**options, solver=TIGHT)
    live.run_steps(steps, force=model.project(force))
    return full, live


def projected(
    body: sp.Body, vectors: np.ndarray, q: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Energy, force and stiffness of the whole body in the coordinates of the basis."""
    u = np.tensordot(q, vectors, axes=1)
    flat = vectors.reshape(len(vectors), -1)
    return body.energy(u), flat @ body.force(u).reshape(-1), flat @ (body.stiffness(u) @ flat.T)


def assert_projected(model: Any, body: sp.Body, vectors: np.ndarray, q: np.ndarray) -> None:
    """Energy, force and stiffness of a model, a cubature or a polynomial are those of the body."""
    for found, wanted in zip(model.evaluate(q), projected(body, vectors, q), strict=True):
        assert relative(found, wanted) < 1e-12


def relative(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).max() / np.abs(other).max())


@pytest.fixture(scope="session")
def beam() -> sp.Body:
    return two_part_beam()


def mixed_basis(body: sp.Body, count: int, size: int) -> sp.Basis:
    """Mass-PCA of modes and their derivatives together (Eq. 16): vectors that are no modes."""
    rigid = body.free_rigid_motions
    modes = sp.vibration_modes(body, rigid + count)
    phi, lam = modes.shapes[rigid:], modes.squares[rigid:]
    derivatives = sp.modal_derivatives(body, modes)
    if rigid:  # what is new beside the modes
        momenta = np.stack([body.mass_times(x) for x in phi])
        along = np.tensordot(derivatives, momenta, ((1, 2), (1, 2)))
        derivatives = derivatives - np.tensordot(along, phi, 1)
    i, j = derivative_pairs(body, modes).T - rigid
    norms = np.sqrt([np.vdot(u, body.mass_times(u)) for u in derivatives])
    sound = norms > 1e-9 * norms.max()
    weights = (lam[0] ** 2 / (lam[i] * lam[j]))[sound] / norms[sound]
    shapes = [(lam[0] / lam)[:, None, None] * phi, weights[:, None, None] * derivatives[sound]]
    return sp.mass_pca(body, np.concatenate(shapes), size)


@pytest.fixture(scope="session")
def basis(beam: sp.Body) -> sp.Basis:
    return mixed_basis(beam, 5, 12)


@pytest.fixture(scope="session")
def model(beam: sp.Body, basis: sp.Basis) -> sp.ReducedModel:
    return sp.reduce(beam, basis, regions=["far"])


@pytest.fixture(scope="session")
def tip(beam: sp.Body) -> int:
    return int(beam.mesh.vertices.sum(axis=1).argmax())


@pytest.fixture(scope="session")
def complete(beam: sp.Body) -> sp.ReducedModel:
    return sp.reduce(beam, complete_basis(beam), regions=["near", "far"])
