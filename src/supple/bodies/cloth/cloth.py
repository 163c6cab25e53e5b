"""Cloth: a sheet of triangles with its stiffness in the plane and against bending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.elasticity import membrane, strain_limits
from supple.bodies.assembly import Asked, Evaluation
from supple.bodies.cloth.bending import (
    Bending,
    BoundBending,
    HingeBending,
    HingeMatrix,
    QuadraticBending,
    is_flat,
)
from supple.bodies.cloth.material import ClothMaterial, StrainLimit
from supple.bodies.cloth.rest import Materials, RestHinges, RestTriangles, by_material
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.mass import ConsistentMass, MassModel
from supple.bodies.supports import Support
from supple.core.checks import instance
from supple.core.errors import InputError
from supple.core.sparse import BlockPattern
from supple.core.types import Floats, Ints
from supple.mesh import SheetMesh

_ROOM = 0.9  # share of what is left to a strain limit that a step may use up


@dataclass(frozen=True, eq=False, repr=False)
class Cloth(ElasticBody):
    """A thin sheet in space: an StVK membrane in plane stress that resists bending.

    ``material`` is one cloth material, or a mapping from region names of the mesh to materials that
    together cover every triangle once. ``bending`` is QuadraticBending where the sheet is flat at
    rest and HingeBending where it is curved, unless given; there is none where the material has
    no bending stiffness. ``strain_limit`` is one on how much longer any triangle may get. ``fixed``
    and ``supports`` are those of a ``Body``.
    """

    mesh: SheetMesh
    material: ClothMaterial | Mapping[str, ClothMaterial]
    fixed: ArrayLike | None = None
    supports: Sequence[Support] = ()
    bending: Bending | None = None
    strain_limit: StrainLimit | None = None
    mass_model: MassModel = field(default_factory=ConsistentMass)

    def __post_init__(self) -> None:
        if not isinstance(self.mesh, SheetMesh):
            raise InputError(
                f"mesh is a {type(self.mesh).__name__}; give a SheetMesh, e.g. "
                "SheetMesh.grid(size=(1, 1), cells=(20, 20))"
            )
        instance("mass_model", self.mass_model, MassModel, "LumpedMass()")
        if self.bending is not None:
            instance("bending", self.bending, Bending, "HingeBending()")
        if self.strain_limit is not None:
            instance("strain_limit", self.strain_limit, StrainLimit, "StrainLimit(stretch=0.05)")
        self._check_supports()
        _ = self.rest, self.bound_bending  # bad materials stop here
        if not self.is_feasible(np.zeros((self.n_vertices, 3))):
            longest = np.sqrt(1 + 2 * self.largest_strain(np.zeros((self.n_vertices, 3)))) - 1
            raise InputError(
                f"the cloth begins longer by {100 * longest:.3g} % than its pattern, beyond its "
                f"strain limit of {self._percent}; move its vertices together, or give a "
                "StrainLimit with more stretch"
            )

    # -- at rest -----------------------------------------------------------------------

    @cached_property
    def materials(self) -> Materials:
        """Each material with its triangles."""
        return by_material(self.mesh, self.material)

    @cached_property
    def rest(self) -> RestTriangles:
        """The triangles without strain, in axes along warp and weft."""
        return RestTriangles.of(self.mesh, self.materials)

    @cached_property
    def tension_stiffness(self) -> Floats:
        """From strains (E₀₀, E₁₁, 2 E₀₁) to tensions (S₀₀, S₁₁, S₀₁) [N/m], (m, 3, 3)."""
        C = np.empty((self.n_cells, 3, 3))
        for material, cells in self.materials:
            C[cells] = material.stiffness(cells)
        return C

    @cached_property
    def limit_stiffness(self) -> Floats:
        """κ [N/m] of the barrier at the strain limit, (m,); zero where there is none."""
        if self.strain_limit is None:
            return np.zeros(self.n_cells)
        stiffest: Floats = self.tension_stiffness[:, [0, 1], [0, 1]].max(axis=1)
        return self.strain_limit.firmness * stiffest

    @cached_property
    def areal_density(self) -> Floats:
        """Mass of a square metre of each triangle [kg/m²], (m,)."""
        density = np.empty(self.n_cells)
        for material, cells in self.materials:
            density[cells] = material.per_cell("areal_density", cells)
        return density

    @cached_property
    def _rest_hinges(self) -> RestHinges | None:
        """What bends, if anything does."""
        D = np.empty((2, self.n_cells))
        for material, cells in self.materials:
            D[:, cells] = material.rigidity(cells)
        if not len(self.mesh.hinges.vertices) or not D.any():
            return None
        return RestHinges.of(self.mesh, self.rest, (D[0], D[1]))

    @cached_property
    def _patterns(self) -> tuple[BlockPattern, Ints, Ints]:
        """The pattern, and the slots of the triangles and of the hinges in it."""
        pattern, slots = BlockPattern.of_cells(self.mesh.cells, self.n_vertices)
        if self._rest_hinges is None:
            return pattern, slots, np.empty((0, 10), dtype=np.int64)
        folded, of_hinges = BlockPattern.of_cells(self._rest_hinges.vertices, self.n_vertices)
        both, mine, theirs = pattern.union(folded)
        return both, _moved(slots, mine), _moved(of_hinges, theirs)

    @property
    def triangle_slots(self) -> Ints:
        """Blocks of the pattern for the pairs of corners of each triangle, (m, 6)."""
        return self._patterns[1]

    @property
    def _pattern_and_slots(self) -> tuple[BlockPattern, Ints]:
        return self._patterns[:2]

    @cached_property
    def bound_bending(self) -> BoundBending | None:
        """Bending at work; None where there is no stiffness against it."""
        if self._rest_hinges is None:
            return None
        model = self.bending
        if model is None:
            model = QuadraticBending() if is_flat(self.mesh) else HingeBending()
        pattern, _, slots = self._patterns
        return model.bind(self.mesh, HingeMatrix(self._rest_hinges, pattern, slots))

    # -- mass --------------------------------------------------------------------------

    def scaled_mass(self, cell_factors: Floats) -> Floats:
        exact = (1 + np.eye(3)) / 12 * self.mesh.areas[:, None, None]  # ∫ N_a N_b
        factors = (self.areal_density * cell_factors)[:, None, None]
        return self._added_up(self.mass_model.of_cells(exact) * factors)

    @cached_property
    def total_mass(self) -> float:
        return float(self.areal_density @ self.mesh.areas)

    # -- energy ------------------------------------------------------------------------

    def _evaluate(self, u: Floats, asked: Asked) -> Evaluation:
        cells, gradients, C = self.mesh.cells, self.rest.gradients, self.tension_stiffness
        factors, direction = asked.cell_factors, asked.direction
        weights = self.mesh.areas if factors is None else self.mesh.areas * factors
        F, S = self.deformation(u), np.empty((self.n_cells, 3))
        energy = membrane.stress(F, C, weights, S)
        if self.strain_limit is not None:
            C = C.copy()
            energy += self.add_limits(F, self.limit_stiffness, weights, S, C)
        gradient = np.zeros((self.n_vertices if asked.order >= 1 else 0, 3))
        product = np.zeros((self.n_vertices if direction is not None else 0, 3))
        blocks = np.empty((0, 3, 3))
        if asked.order >= 1:
            membrane.add_forces(cells, gradients, weights, F, S, gradient)
        if direction is not None:
            # d(F S) = dF S + F C:(FᵀdF)
            change, along = np.empty_like(S), self.rates(direction)
            membrane.rate_stress(F, along, C, weights, change)
            membrane.add_forces(cells, gradients, weights, along, S, product)
            membrane.add_forces(cells, gradients, weights, F, change, product)
        if asked.order >= 2:
            own = asked.stiffness
            blocks = np.empty((self.pattern.n_blocks, 3, 3)) if own is None else own
            blocks[:] = 0.0
            if asked.definite:
                membrane.clamp(S)
            membrane.add_blocks(gradients, weights, F, C, S, 1.0, self.triangle_slots, blocks)
        found = Evaluation(float(energy), gradient, product, blocks)
        if self.bound_bending is None:
            return found
        of_hinges = None if factors is None else self.of_hinges(factors)
        bent = self.bound_bending.add(self.mesh.vertices + u, asked, found, of_hinges)
        return replace(found, energy=float(energy + bent))

    def add_limits(self, F: Floats, k: Floats, weights: Floats, S: Floats, T: Floats) -> float:
        """Add the barrier of the strain limit with κ = ``k`` to tensions and their derivatives.

        Returns its energy, infinite beyond the limit.
        """
        limit = self.strain_limit
        if limit is None:
            return 0.0
        given = F, limit.strain, limit.onset_strain, k, weights, S, T
        return float(strain_limits.add_limits(*given))

    def feasible_step(self, u: Floats, step: Floats) -> float:
        if self.strain_limit is None:
            return 1.0
        given = self.deformation(u), self.rates(step), self.strain_limit.strain, _ROOM
        return float(strain_limits.feasible_step(*given))

    def is_feasible(self, u: Floats) -> bool:
        limit = self.strain_limit
        return limit is None or bool(self.largest_strain(u) < limit.strain)

    def largest_strain(self, u: Floats) -> float:
        """The largest principal strain of Green at displacements u (n, 3)."""
        return float(strain_limits.largest_strain(self.deformation(u)))

    @property
    def infeasible(self) -> str:
        if self.strain_limit is None:
            return super().infeasible
        return f"supports stretch cloth beyond its strain limit of {self._percent}"

    @property
    def advice(self) -> str:
        if self.strain_limit is None:
            return ""
        return (
            f"The cloth gets longer by {self._percent} at most: see that supports, obstacles and "
            "where it is set off leave it that, or give a StrainLimit with more stretch."
        )

    @property
    def _percent(self) -> str:
        assert self.strain_limit is not None
        return f"{100 * self.strain_limit.stretch:g} %"

    def deformation(self, u: Floats) -> Floats:
        """F at displacements u (n, 3), from warp and weft into space, (m, 3, 2)."""
        F = np.empty((self.n_cells, 3, 2))
        membrane.gradients_of(u, self.mesh.cells, self.rest.gradients, self.rest.start, F)
        return F

    def rates(self, v: Floats) -> Floats:
        """Ḟ [1/s] at velocities v (n, 3), (m, 3, 2)."""
        rate = np.empty((self.n_cells, 3, 2))
        membrane.gradients_of(v, self.mesh.cells, self.rest.gradients, self._still, rate)
        return rate

    @cached_property
    def _still(self) -> Floats:
        return np.zeros((self.n_cells, 3, 2))

    def of_hinges(self, of_cells: Floats) -> Floats:
        """For each hinge the mean of its two triangles' numbers (m,), (h,)."""
        mean: Floats = of_cells[self.mesh.hinges.cells].mean(axis=1)
        return mean

    @cached_property
    def _rounding(self) -> tuple[float, float]:
        modulus = np.abs(self.tension_stiffness).sum(axis=2).max(axis=1) + self.limit_stiffness
        steepness = np.linalg.norm(self.rest.gradients, axis=2)
        forces = (modulus * self.mesh.areas)[:, None] * steepness
        nodal, further = np.zeros((2, self.n_vertices))
        np.add.at(nodal, self.mesh.cells, forces)
        np.add.at(further, self.mesh.cells, forces * steepness.max(axis=1, keepdims=True))
        hinges = self._rest_hinges
        if hinges is not None:
            folds = np.abs(hinges.folds)
            pull = hinges.rigidity / hinges.areas * folds.sum(axis=1)
            of_bending = np.zeros(self.n_vertices)
            np.add.at(of_bending, hinges.vertices, pull[:, None] * folds)
            nodal += float(np.abs(self.mesh.vertices).max()) * of_bending
            further += of_bending
        of_strains, of_displacements = (
            float(np.finfo(float).eps * np.linalg.norm(f)) for f in (nodal, further)
        )
        return of_strains, of_displacements


def _moved(slots: Ints, places: Ints) -> Ints:
    """Slots into blocks that are at other places now."""
    return np.where(slots < 0, ~places[np.where(slots < 0, ~slots, slots)], places[slots])
