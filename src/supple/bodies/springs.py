"""Springs: a network of vertices with masses, pulled together or apart along its edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.assembly import Asked, Evaluation
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.supports import Support
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.mesh import SpringMesh

_COLLAPSED = 1e-10  # of its rest length: below this a spring counts as being as long


@dataclass(frozen=True, eq=False)
class Stretch:
    """How the springs of a network lie at one shape.

    ``directions`` (m, 3) unit vectors n from the first end to the second, zero where a spring has
    collapsed to a point; ``lengths`` ‖x‖ [m], (m,), never quite zero.
    """

    directions: Floats
    lengths: Floats


@dataclass(frozen=True, eq=False, init=False, repr=False)
class SpringNetwork(ElasticBody):
    """Springs with masses at their ends.

    A spring of rest length L has the strain ε = ‖x‖/L − 1 and the energy ½ L k ε² (strain rate,
    §3.6). ``stiffness`` is k, the pull at a strain of one [N], a number or (springs,): half a
    spring has the same k. ``mass`` [kg] is that of each vertex, a number or (n,). ``fixed`` and
    ``supports`` are those of a ``Body``.
    """

    mesh: SpringMesh
    spring_stiffness: Floats
    """k [N], (springs,)."""
    vertex_masses: Floats
    """[kg], (n,)."""
    fixed: ArrayLike | None
    supports: Sequence[Support]

    def __init__(
        self,
        mesh: SpringMesh,
        *,
        stiffness: ArrayLike,
        mass: ArrayLike,
        fixed: ArrayLike | None = None,
        supports: Sequence[Support] = (),
    ) -> None:
        if not isinstance(mesh, SpringMesh):
            raise InputError(
                f"mesh is a {type(mesh).__name__}; give a SpringMesh, e.g. "
                "SpringMesh.chain((0, 0, 0), (1, 0, 0), 10)"
            )
        values = {
            "mesh": mesh,
            "spring_stiffness": _positive("stiffness", stiffness, mesh.n_cells, "N"),
            "vertex_masses": _positive("mass", mass, mesh.n_vertices, "kg"),
            "fixed": fixed,
            "supports": supports,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check_supports()

    # -- mass --------------------------------------------------------------------------

    def scaled_mass(self, cell_factors: Floats) -> Floats:
        """The mass times the mean factor of the springs that meet at a vertex, (blocks,)."""
        meeting = abs(self._incidence)
        factors = (meeting @ cell_factors) / meeting.sum(axis=1)
        values = np.zeros(self.pattern.n_blocks)
        values[self.pattern.indptr[:-1]] = factors * self.vertex_masses
        return values

    @property
    def total_mass(self) -> float:
        return float(self.vertex_masses.sum())

    # -- energy ------------------------------------------------------------------------

    def _evaluate(self, u: Floats, asked: Asked) -> Evaluation:
        L, k = self.mesh.rest_lengths, self.spring_stiffness
        if asked.cell_factors is not None:
            k = k * asked.cell_factors
        at = self.stretched(u)
        n, length = at.directions, at.lengths
        strain = (length - L) / L
        pull = k * strain
        # ∂²U/∂x² = k/L n nᵀ + k ε/‖x‖ (I − n nᵀ), where a push bends the spring aside
        along, across = k / L, pull / length
        energy = 0.5 * float((L * k * strain) @ strain)
        gradient = product = np.empty((0, 3))
        blocks = np.empty((0, 3, 3))
        if asked.order >= 1:
            gradient = self.gathered(pull[:, None] * n)
        if asked.direction is not None:
            d = self.differences(asked.direction)
            ahead = np.einsum("ei,ei->e", n, d)
            product = self.gathered(across[:, None] * d + ((along - across) * ahead)[:, None] * n)
        if asked.order >= 2:
            blocks = self.blocks(at, along, np.maximum(across, 0.0) if asked.definite else across)
            if asked.stiffness is not None:
                asked.stiffness[:] = blocks
                blocks = asked.stiffness
        return Evaluation(energy, gradient, product, blocks)

    @cached_property
    def _rounding(self) -> tuple[float, float]:
        k, meeting = self.spring_stiffness, abs(self._incidence)
        forces = (meeting @ k, meeting @ (k / self.mesh.rest_lengths))
        of_strains, of_displacements = (np.finfo(float).eps * np.linalg.norm(f) for f in forces)
        return float(of_strains), float(of_displacements)

    # -- springs -----------------------------------------------------------------------

    def stretched(self, u: Floats) -> Stretch:
        """How the springs lie at displacements u (n, 3)."""
        x = self._rest_spans + self.differences(u)
        length = np.sqrt(np.einsum("ei,ei->e", x, x))
        L = self.mesh.rest_lengths
        safe = np.maximum(length, _COLLAPSED * L)
        return Stretch(x / safe[:, None], safe)

    def differences(self, field: Floats) -> Floats:
        """A field (n, 3) at the second end of each spring minus that at its first, (springs, 3)."""
        first, second = self.mesh.cells.T
        difference: Floats = field[second] - field[first]
        return difference

    def gathered(self, forces: Floats) -> Floats:
        """Forces (springs, 3) on second ends, and their opposites on first ends, (n, 3)."""
        nodal: Floats = self._incidence @ forces
        return nodal

    def blocks(self, at: Stretch, along: Floats, across: Floats) -> Floats:
        """The sum over springs of a n nᵀ + b (I − n nᵀ) on the pattern, (blocks, 3, 3).

        ``along`` a and ``across`` b are (springs,) [N/m], or what a damping has in their place.
        """
        n = at.directions
        H = (along - across)[:, None, None] * (n[:, :, None] * n[:, None, :])
        H += across[:, None, None] * np.eye(3)
        summed: Floats = self._spreading @ H.reshape(-1, 9)
        return summed.reshape(-1, 3, 3)

    @cached_property
    def _rest_spans(self) -> Floats:
        return self.differences(self.mesh.vertices)

    @cached_property
    def _incidence(self) -> Any:
        """(n, springs): −1 at the first end of a spring and 1 at its second."""
        import scipy.sparse as sparse  # slow to import

        m = self.n_cells
        signs = np.tile([-1.0, 1.0], m)
        columns = np.repeat(np.arange(m), 2)
        shape = self.n_vertices, m
        return sparse.csr_array((signs, (self.mesh.cells.ravel(), columns)), shape=shape)

    @cached_property
    def _spreading(self) -> Any:
        """(blocks, springs): 1 for the two diagonal blocks of a spring, −1 for the one between."""
        import scipy.sparse as sparse  # slow to import

        pattern, slots = self._pattern_and_slots
        m = self.n_cells
        rows = np.where(slots < 0, ~slots, slots).ravel()  # blocks of a spring are symmetric
        signs = np.tile([1.0, -1.0, 1.0], m)
        columns = np.repeat(np.arange(m), 3)
        return sparse.csr_array((signs, (rows, columns)), shape=(pattern.n_blocks, m))


def _positive(name: str, given: ArrayLike, count: int, unit: str) -> Floats:
    """One positive number each, (count,), read-only."""
    values = numbers(name, given)
    if values.shape not in ((), (count,)) or not (values > 0).all():
        raise InputError(
            f"{name}={given!r}: give a number above zero [{unit}], or {count} of them, one each"
        )
    spread = np.broadcast_to(values, count).copy()
    spread.setflags(write=False)
    return spread
