"""How cloth resists bending: by one constant matrix, or by the angle of each hinge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple._kernels.elasticity import hinges as kernels
from supple._kernels.linear_algebra.blocks import add_scaled_identity_blocks
from supple.bodies.assembly import Asked, Evaluation
from supple.bodies.cloth.rest import RestHinges
from supple.core.checks import numbers
from supple.core.errors import InputError
from supple.core.parameters import ARRAY, parameter
from supple.core.sparse import BlockPattern
from supple.core.types import Floats, Ints
from supple.mesh import SheetMesh

_FLAT = 1e-6  # [rad]: rest angles of less count as none


@dataclass(frozen=True, eq=False)
class HingeMatrix:
    """The hinges of a sheet, and where their blocks are in its matrix."""

    rest: RestHinges
    pattern: BlockPattern
    slots: Ints
    """(h, 10), as ``BlockPattern.of_cells``."""


class BoundBending(ABC):
    """Bending at work in one sheet of cloth."""

    def __init__(self, hinges: HingeMatrix) -> None:
        self.hinges = hinges

    @abstractmethod
    def add(self, x: Floats, asked: Asked, to: Evaluation, factors: Floats | None = None) -> float:
        """U [J] at positions x (n, 3); derivatives that are asked for are added to those given.

        ``factors`` (h,) multiply the share of each hinge.
        """

    @cached_property
    def weights(self) -> Floats:
        """D/(A₁ + A₂) [N/m], (h,)."""
        return self.hinges.rest.rigidity / self.hinges.rest.areas

    @cached_property
    def blocks(self) -> Floats:
        """∇²U [N/m] of a flat sheet, (blocks,): multiples of the identity.

        It is that of QuadraticBending at any shape, and bounds what HingeBending has.
        """
        return self.spread(self.weights)

    def spread(self, weights: Floats) -> Floats:
        """Σ w K_p K_q, (blocks,)."""
        K, slots = self.hinges.rest.folds, self.hinges.slots
        p, q = np.triu_indices(4)
        index = np.where(slots < 0, ~slots, slots)
        shares = weights[:, None] * K[:, p] * K[:, q]
        blocks = np.zeros(self.hinges.pattern.n_blocks)
        np.add.at(blocks, index, shares)
        return blocks


class Bending(ABC):
    """A description of bending; ``bind`` sets it up for a sheet."""

    @abstractmethod
    def bind(self, mesh: SheetMesh, hinges: HingeMatrix) -> BoundBending:
        """This bending for the hinges of ``mesh``."""


def rest_angles(mesh: SheetMesh) -> Floats:
    """Angles of the hinges where the mesh has its vertices [rad], (h,)."""
    theta = np.empty(len(mesh.hinges.vertices))
    kernels.angles(mesh.vertices, mesh.hinges.vertices, theta)
    return theta


def is_flat(mesh: SheetMesh) -> bool:
    """Whether the sheet without strain is flat: by its pattern, or as it lies."""
    return mesh.pattern is not None or bool((np.abs(rest_angles(mesh)) <= _FLAT).all())


# -- one constant matrix ---------------------------------------------------------------------


@dataclass(frozen=True)
class QuadraticBending(Bending):
    """U = ½ Σ D/(A₁ + A₂) ‖K x‖² over hinges, for sheets that are flat at rest.

    K x is ‖e‖ times the jump of the slope across the edge, 2 sin(θ/2) where nothing stretches, so
    ∇²U is constant and positive semidefinite (quadratic bending model, Bergou et al. 2006). Their
    weights are three times these, with which a sheet rolled up has three times its energy ½ D κ² A.
    """

    def bind(self, mesh: SheetMesh, hinges: HingeMatrix) -> BoundBending:
        if not is_flat(mesh):
            raise InputError(
                "QuadraticBending is for sheets that are flat at rest, and this mesh is curved; "
                "use HingeBending(), or give the mesh a flat pattern"
            )
        return BoundQuadraticBending(hinges)


class BoundQuadraticBending(BoundBending):
    """QuadraticBending at work."""

    def add(self, x: Floats, asked: Asked, to: Evaluation, factors: Floats | None = None) -> float:
        weights = self.weights if factors is None else self.weights * factors
        fold = self._folds @ x
        pull = weights[:, None] * fold
        if asked.order >= 1:
            np.add(to.gradient, self._folds_transposed @ pull, out=to.gradient)
        if asked.direction is not None:
            along = weights[:, None] * (self._folds @ asked.direction)
            np.add(to.product, self._folds_transposed @ along, out=to.product)
        if asked.order >= 2:
            blocks = self.blocks if factors is None else self.spread(weights)
            add_scaled_identity_blocks(to.stiffness, blocks, 1.0)
        return 0.5 * float(np.vdot(fold, pull))

    @cached_property
    def _folds(self) -> Any:
        """K, sparse (h, n)."""
        import scipy.sparse as sparse  # slow to import

        rest = self.hinges.rest
        rows = np.repeat(np.arange(len(rest.folds)), 4)
        shape = len(rest.folds), self.hinges.pattern.n_nodes
        return sparse.csr_array((rest.folds.ravel(), (rows, rest.vertices.ravel())), shape=shape)

    @cached_property
    def _folds_transposed(self) -> Any:
        return self._folds.T.tocsr()


# -- the angle of each hinge -----------------------------------------------------------------


@dataclass(frozen=True)
class HingeBending(Bending):
    """U = ½ Σ k (θ − θ₀)² over hinges with the angles θ (discrete shells, Grinspun et al. 2003).

    ``rest_angles`` θ₀ [rad] are a number or (hinges,); unless given they are none where the mesh
    has a pattern, and else those of the mesh as it lies, which may be curved. k = D ‖e‖²/(A₁ + A₂).
    """

    rest_angles: ArrayLike | None = parameter(
        None, "θ₀, between the triangles of each hinge at rest", kind=ARRAY, unit="rad"
    )

    def bind(self, mesh: SheetMesh, hinges: HingeMatrix) -> BoundBending:
        count = len(hinges.rest.vertices)
        if self.rest_angles is not None:
            given = numbers("rest_angles", self.rest_angles, ((), (count,)))
            return _BoundHinges(hinges, np.broadcast_to(given, count).copy())
        flat = mesh.pattern is not None
        return _BoundHinges(hinges, np.zeros(count) if flat else rest_angles(mesh))


class _BoundHinges(BoundBending):
    def __init__(self, hinges: HingeMatrix, angles: Floats) -> None:
        super().__init__(hinges)
        self._rest_angles = angles

    def add(self, x: Floats, asked: Asked, to: Evaluation, factors: Floats | None = None) -> float:
        vertices, slots = self.hinges.rest.vertices, self.hinges.slots
        k = self.hinges.rest.stiffness if factors is None else self.hinges.rest.stiffness * factors
        theta = np.empty(len(vertices))
        kernels.angles(x, vertices, theta)
        bent = theta - self._rest_angles
        moment = k * bent
        energy = 0.5 * float(moment @ bent)
        if not asked.order and asked.direction is None:
            return energy
        G = np.empty((len(vertices), 4, 3))
        kernels.angle_gradients(x, vertices, G)
        if asked.order >= 1:
            kernels.add_angle_forces(vertices, G, moment, to.gradient)
        # ∇²U = k ∇θ ∇θᵀ + k (θ − θ₀) ∇²θ, of which the first is never negative
        if asked.direction is not None:
            rate = np.empty(len(vertices))
            kernels.angle_rates(vertices, G, asked.direction, rate)
            kernels.add_angle_forces(vertices, G, k * rate, to.product)
            kernels.add_angle_curvature_times(x, vertices, moment, asked.direction, to.product)
        if asked.order >= 2:
            kernels.add_angle_blocks(G, k, slots, to.stiffness)
            if not asked.definite:
                kernels.add_angle_curvature(x, vertices, moment, slots, to.stiffness)
        return energy
