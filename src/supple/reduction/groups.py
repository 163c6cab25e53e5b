"""Groups of cells whose material can be changed in a finished model (subspace StVK, §6.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..body import Body
from ..checks import number
from ..errors import InputError
from ..types import Floats, Ints, Progress
from .polynomial import Quartic, unit_polynomials


@dataclass(frozen=True, eq=False)
class Share:
    """What a group adds to a quantity that is linear in its parameters.

    ``units`` (parameters, …) is the share for each parameter at one; ``built`` is the share with
    the parameters that the cells had, and is kept only where these differ from cell to cell.
    """

    units: Floats
    built: Floats | None

    def at(self, *parameters: float | None) -> Floats:
        """The share with these parameters, None for those that the cells had."""
        if self.built is not None and None in parameters:
            return self.built
        total: Floats = np.zeros(self.units.shape[1:])
        for parameter, unit in zip(parameters, self.units, strict=True):
            assert parameter is not None  # as built, they were all one number
            total += parameter * unit
        return total


@dataclass(frozen=True, eq=False)
class Group:
    """Cells that are in the same named regions, and their shares of the reduced model.

    A parameter is None where it varies from cell to cell, as the body had it.
    """

    regions: tuple[str, ...]
    cells: Ints
    young: float | None
    poisson: float | None
    density: float | None
    mass: Share
    """(1, r, r) for a density of one."""
    weight: Share
    """Uᵀ M applied to the three unit accelerations, (1, r, 3)."""
    place: Share
    """Mass times position at rest, summed, (1, 3)."""
    turning: Share
    """Angular momentum of each rate about the origin, at rest and by q_i, (1, r + 1, r, 3)."""
    energy: Share | None
    """Coefficients for λ = 1 and for μ = 1, (2, …); None where the model has a cubature."""
    built_mass: float | None = None
    """Mass of the cells [kg] as the body had them, where their densities differ."""

    @property
    def lame(self) -> tuple[float | None, float | None]:
        """Lamé's λ and μ [Pa] (Eq. 26), or None twice."""
        if self.young is None or self.poisson is None:
            return None, None
        return lame(self.young, self.poisson)

    def edited(self, young: float | None, poisson: float | None, density: float | None) -> Group:
        """The group with new parameters; None leaves one as it is."""
        new_young = self.young if young is None else number("young", young, above=0, unit="Pa")
        new_poisson = (
            self.poisson if poisson is None else number("poisson", poisson, above=-1, below=0.5)
        )
        changes = young is not None or poisson is not None
        if changes and (new_young is None or new_poisson is None):
            missing = "young" if new_young is None else "poisson"
            raise InputError(
                f"{missing} differs from cell to cell in {self.label}; give {missing}= too, which "
                "then holds for all of it"
            )
        new_density = (
            self.density if density is None else number("density", density, above=0, unit="kg/m³")
        )
        return replace(
            self,
            young=new_young,
            poisson=new_poisson,
            density=new_density,
        )

    @property
    def label(self) -> str:
        return " and ".join(repr(name) for name in self.regions) or "the rest of the body"

    def truncated(self, size: int) -> Group:
        """The group's shares in a model with the first ``size`` basis vectors only."""

        def cut(share: Share, index: tuple[slice, ...]) -> Share:
            built = None if share.built is None else share.built[index].copy()
            return Share(share.units[(slice(None), *index)].copy(), built)

        first = slice(size)
        return replace(
            self,
            mass=cut(self.mass, (first, first)),
            weight=cut(self.weight, (first,)),
            turning=cut(self.turning, (slice(size + 1), first)),
            energy=None if self.energy is None else _truncated_energy(self.energy, self, size),
        )


def _truncated_energy(energy: Share, group: Group, size: int) -> Share:
    full = group.mass.units.shape[1]

    def cut(coefficients: Floats) -> Floats:
        return Quartic(full, coefficients).truncated(size).coefficients

    built = None if energy.built is None else cut(energy.built)
    return Share(np.array([cut(unit) for unit in energy.units]), built)


def lame(young: float, poisson: float) -> tuple[float, float]:
    """Lamé's λ and μ [Pa] (Eq. 26)."""
    lam = young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    return lam, young / (2 * (1 + poisson))


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
            energy = Share(np.array(units), built)
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
) -> tuple[Share, Share, Share, Share]:
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
        Share(unit[None], whole if built else None) for unit, whole in zip(*sums, strict=True)
    )
    return a, b, c, d
