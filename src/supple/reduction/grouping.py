"""The groups of cells that a reduced model is made of, from a body (subspace StVK, §6.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.bodies.solid import Body
from supple.core.types import Floats, Ints, Progress
from supple.reduction.groups import Contribution, Group
from supple.reduction.strain_polynomials import unit_polynomials


def make_groups(
    body: Body,
    vectors: Floats,
    regions: Sequence[str],
    *,
    polynomial: bool,
    progress: Progress | None = None,
) -> tuple[Group, ...]:
    """The groups that ``regions`` cut the body into, with their shares of a reduced model."""
    mesh = body.mesh
    inside = np.zeros((len(regions), mesh.n_cells), dtype=bool)
    for row, name in zip(inside, regions, strict=True):
        row[mesh.region(name)] = True
    kinds, of_cell = np.unique(inside, axis=1, return_inverse=True)
    done = 0

    def report(cells: int, _: int, what: str) -> None:
        if progress is not None:
            progress(done + cells, mesh.n_cells, what)

    groups = []
    for kind in range(kinds.shape[1]):
        cells = np.flatnonzero(of_cell.ravel() == kind)
        names = tuple(name for name, is_in in zip(regions, kinds[:, kind], strict=True) if is_in)
        young, poisson = _parameter(body, "young", cells), _parameter(body, "poisson", cells)
        same = young is not None and poisson is not None
        energy = None
        if polynomial:
            units = unit_polynomials(mesh, vectors, cells, progress=report)
            built = None
            if not same:
                lam, mu = (np.empty(mesh.n_cells) for _ in range(2))
                for part in body.parts:
                    lam[part.cells], mu[part.cells] = part.lame
                shares = unit_polynomials(mesh, vectors, cells, (lam[cells], mu[cells]))
                built = shares[0] + shares[1]
            energy = Contribution(np.array(units), built)
        density = _parameter(body, "density", cells)
        of_density = _mass_shares(body, vectors, cells, built=density is None)
        masses = (body.density * mesh.volumes)[cells]
        built_mass = float(masses.sum()) if density is None else None
        groups.append(Group(names, cells, young, poisson, density, *of_density, energy, built_mass))
        done += len(cells)
    return tuple(groups)


def _parameter(body: Body, name: str, cells: Ints) -> float | None:
    """The one value that a parameter has in these cells, None if it has several."""
    values = np.empty(body.mesh.n_cells)
    for part in body.parts:
        values[part.cells] = part.material.per_cell(name, part.cells)
    chosen = values[cells]
    return float(chosen[0]) if (chosen == chosen[0]).all() else None


def _mass_shares(
    body: Body, vectors: Floats, cells: Ints, *, built: bool
) -> tuple[Contribution, Contribution, Contribution, Contribution]:
    """What is linear in the density: mass, weight, place and turning."""
    inside = np.zeros(body.mesh.n_cells)
    inside[cells] = 1.0
    arms = np.concatenate([body.mesh.vertices[None], vectors])
    sums = []
    for factors in (inside / body.density, inside):
        values = body.scaled_mass(factors)
        X, *times = (body.pattern.multiply(values, y) for y in arms)
        MU = np.array(times)
        # of a uniform acceleration, all mass moves alike: sum the rows of M U
        weight, place = MU.sum(axis=1), X.sum(axis=0)
        # A_ij = Σ y_i ⊗ M φ_j; its antisymmetric part is Σ y_i × M φ_j
        A = np.einsum("ink,jnl->ijkl", arms, MU, optimize=True)
        turning = np.stack([A[..., (k + 1) % 3, (k + 2) % 3] for k in range(3)], axis=-1)
        turning -= np.stack([A[..., (k + 2) % 3, (k + 1) % 3] for k in range(3)], axis=-1)
        mass = np.einsum("ijkk->ij", A[1:])
        sums.append((mass, weight, place, turning))
    a, b, c, d = (
        Contribution(unit[None], whole if built else None)
        for unit, whole in zip(*sums, strict=True)
    )
    return a, b, c, d
