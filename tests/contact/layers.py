"""Sheets for the tests of self-contact, and a check of their own that none passes another."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp

ipctk = pytest.importorskip("ipctk")

FILM = sp.IsotropicCloth(
    young=1e5, poisson=0.3, thickness=5e-4, areal_density=0.2, bending_stiffness=1e-5
)


def stacked(*sheets: sp.SheetMesh, offsets: list[tuple[float, float, float]]) -> sp.SheetMesh:
    """Sheets in one mesh, each moved by its offset [m]."""
    before = np.cumsum([0] + [sheet.n_vertices for sheet in sheets[:-1]])
    return sp.SheetMesh(
        np.concatenate([s.vertices + np.array(o) for s, o in zip(sheets, offsets, strict=True)]),
        np.concatenate([s.cells + first for s, first in zip(sheets, before, strict=True)]),
        pattern=np.concatenate([s.pattern for s in sheets]),
    )


def meeting(
    *, speed: float, gap: float = 0.15, cells: int = 4, solver: sp.Newton | None = None, **options
) -> sp.Simulation:
    """Two square sheets of a metre, a little askew, that fly at each other."""
    sheet = sp.SheetMesh.grid((1.0, 1.0), (cells, cells))
    mesh = stacked(sheet, sheet, offsets=[(0, 0, 0), (0.031, 0.017, gap)])
    cloth = sp.Cloth(mesh, FILM, mass_model=sp.LumpedMass())
    options = {"integrator": sp.BackwardEuler(), "self_contact": sp.SelfContact()} | options
    sim = sp.Simulation(cloth, solver=solver, **options)
    up = np.array([0.0, 0.0, 0.5 * speed])
    sim.state.v = np.where(np.arange(mesh.n_vertices)[:, None] < sheet.n_vertices, up, -up)
    return sim


def falling(body: sp.ElasticBody, **options) -> sp.Simulation:
    """A simulation of a body with weight that cannot pass through itself."""
    contact = sp.SelfContact(friction=0.3)
    options = {"integrator": sp.BackwardEuler(), "self_contact": contact} | options
    return sp.Simulation(body, **({"gravity": (0, 0, -9.81)} | options))


def crossings(mesh: sp.SheetMesh, x: np.ndarray) -> int:
    """How many pairs of an edge and a triangle without a common vertex cross, all of them tried."""
    edge, cell = (
        index.ravel() for index in np.meshgrid(np.arange(len(mesh.edges)), np.arange(mesh.n_cells))
    )
    ends, corners = mesh.edges[edge], mesh.cells[cell]
    apart = ~(ends[:, :, None] == corners[:, None, :]).any(axis=(1, 2))
    p, q = x[ends[apart]].transpose(1, 0, 2)
    a, b, c = x[corners[apart]].transpose(1, 0, 2)

    def volume(*points: np.ndarray) -> np.ndarray:
        first, *others = points
        return np.linalg.det(np.stack([other - first for other in others], axis=1))

    sides = volume(a, b, c, p) * volume(a, b, c, q) < 0  # the ends on either side of the triangle
    around = np.stack([volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)])
    inside = (around > 0).all(axis=0) | (around < 0).all(axis=0)
    return int((sides & inside).sum())


def never_crosses(sim: sp.Simulation, steps: int) -> int:
    """Take steps, in which nothing passes through itself; how many pairs were near at most."""
    sheet = isinstance(sim.body.mesh, sp.SheetMesh)
    surface = sim.body.mesh.surface() if sheet else sim.body.mesh.boundary()
    corners = surface.triangles.astype(np.int32)
    edges = np.unique(np.sort(corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0)
    mesh, most = ipctk.CollisionMesh(surface.vertices, edges, corners), 0
    for step in range(steps):
        sim.step()
        x = sim.body.mesh.vertices + sim.state.u
        assert not ipctk.has_intersections(mesh, np.asfortranarray(x[surface.vertex_ids]))
        if step % 5 == 0 and sheet:
            assert crossings(sim.body.mesh, x) == 0
        most = max(most, sim.stats.contacts)
    return most
