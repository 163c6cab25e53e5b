"""Adding up the energy of cells, its gradient and its Hessian.

Cells go through the pipeline deformation gradients → material → nodal forces and stiffness in
chunks that stay in the cache, and threads take turns at different parts of the body.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from supple._kernels.elasticity import elements
from supple._kernels.linear_algebra.blocks import add_scaled
from supple.core.sparse import BlockPattern
from supple.core.threads import run_all, thread_count, workspace
from supple.core.types import Floats, Ints
from supple.materials import Material
from supple.mesh import VolumeMesh

_CHUNK = 2048  # quadrature points that a thread has in flight: a megabyte, its cache
_MOST_SHARES = 8  # each has a stiffness of its own, to be summed at the end
_SMALLEST_SHARE = 1500  # points that are worth a thread of their own


@dataclass(frozen=True, eq=False)
class Part:
    """The cells of a body that share one material model, with what their loops need."""

    material: Material
    cells: Ints
    """Which cells of the mesh, (c,)."""
    nodes: Ints
    """(c, k)"""
    gradients: Floats
    """∇N [1/m], (c, points, k, 3)."""
    weights: Floats
    """Volume of each quadrature point [m³], (c, points)."""
    slots: Ints
    """Blocks of the stiffness for the node pairs, (c, pairs)."""
    lame: tuple[Floats, Floats]
    """λ and μ [Pa], each (c,)."""
    extra: tuple[Floats, ...] = ()
    """What the material takes beside them: nothing, or one array, (c, …) or (1, …) for all."""

    @classmethod
    def of_cells(
        cls, mesh: VolumeMesh, slots: Ints, material: Material, cells: Ints | None
    ) -> Part:
        """The part of ``mesh`` made of ``cells``; None stands for all of them, without a copy."""
        rule = mesh.quadrature()
        index = np.arange(len(mesh.cells)) if cells is None else cells
        pick = slice(None) if cells is None else cells
        return cls(
            material,
            index,
            mesh.cells[pick],
            rule.gradients[pick],
            rule.weights[pick],
            slots[pick],
            material.lame(index),
            material.extra(index),
        )

    def evaluate(
        self, cut: slice | Ints, F: Floats, psi: Floats, P: Floats, A: Floats, order: int
    ) -> None:
        """``Material.evaluate`` of some of the cells."""
        lam, mu = self.lame
        extra = self.extra_of(cut)
        self.material.evaluate(F, lam[cut], mu[cut], psi, P, A, order, *extra)

    def extra_of(self, cut: slice | Ints) -> tuple[Floats, ...]:
        """What the material takes beside λ and μ of some of the cells."""
        return tuple(x if len(x) == 1 else x[cut] for x in self.extra)

    def strain_elasticity(self, cut: slice | Ints) -> Floats | None:
        """C [Pa] of some cells with preferred directions, (c, 6, 6); None without any."""
        lam, mu = self.lame
        return self.material.strain_elasticity(lam[cut], mu[cut], *self.extra_of(cut))


@dataclass(frozen=True, eq=False, kw_only=True)
class Asked:
    """What is wanted of the energy at one shape, beside U."""

    order: int
    """1 asks for ∇U, 2 for ∇²U as well."""
    direction: Floats | None = None
    """Asks for ∇²U times it, (n, 3), which needs no matrix."""
    definite: bool = False
    """Makes each cell's part of ∇²U positive semidefinite."""
    cell_factors: Floats | None = None
    """Multiply each cell's share, (cells,)."""
    stiffness: Floats | None = None
    """Filled instead of a new array, (blocks, 3, 3)."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The energy at one shape with its derivatives, as deep as was asked for."""

    energy: float
    """U [J]; infinite where a material that does not survive inversion was turned inside out."""
    gradient: Floats
    """∇U [N], (n, 3)."""
    product: Floats
    """∇²U times the direction asked for, (n, 3)."""
    stiffness: Floats
    """∇²U [N/m] as blocks on the body's pattern, (blocks, 3, 3)."""


Chunk = tuple[Part, slice]


PointModel = Callable[[Part, slice, int], tuple[Floats, Floats, Floats]]
"""Gives density, stress and its derivative at the quadrature points of some cells of a part.

Called with the part, a slice of its cells and an order; the stress (cells, points, 3, 3) is filled
if order ≥ 1, its derivative (cells, points, 6, 3, 3) if order ≥ 2.
"""


class _ThreadSum:
    """What one thread adds up over its chunks of cells."""

    def __init__(self, asked: Asked, gradient: Floats, product: Floats, stiffness: Floats) -> None:
        self._asked, self.energy = asked, 0.0
        self.gradient, self.product, self.stiffness = gradient, product, stiffness

    def add(self, chunks: list[Chunk], model: PointModel) -> None:
        for total in (self.gradient, self.product, self.stiffness):
            total[:] = 0.0
        order, direction = self._asked.order, self._asked.direction
        factors, depth = self._asked.cell_factors, order if direction is None else 2
        for part, cut in chunks:
            nodes, gradients = part.nodes[cut], part.gradients[cut]
            weights = part.weights[cut]
            if factors is not None:
                weights = weights * factors[part.cells[cut], None]
            psi, P, A = model(part, cut, depth)
            self.energy += float(np.vdot(weights, psi))
            if order >= 1:
                elements.add_nodal_forces(nodes, gradients, weights, P, self.gradient)
            if order >= 2:
                elements.add_stiffness(gradients, weights, A, part.slots[cut], self.stiffness)
            if direction is not None:
                along = gradients_at(part, cut, direction, 0.0, "along")
                elements.apply_derivative(A, along, P)
                elements.add_nodal_forces(nodes, gradients, weights, P, self.product)


def point_array(
    name: str, part: Part, cut: slice | Ints, *shape: int, wanted: bool = True
) -> Floats:
    """Scratch of this thread with ``shape`` at every quadrature point; no points if not wanted."""
    cells, points = part.weights[cut].shape
    full = (cells if wanted else 0, points, *shape)
    return workspace(name, math.prod(full)).reshape(full)


def gradients_at(
    part: Part, cut: slice | Ints, field: Floats, identity: float, name: str
) -> Floats:
    """identity · I + ∇field at the points of some cells, in the scratch ``name``."""
    F = point_array(name, part, cut, 3, 3)
    elements.gradients_of(field, part.nodes[cut], part.gradients[cut], identity, F)
    return F


def elastic_points(
    part: Part, cut: slice | Ints, F: Floats, order: int, where: str = ""
) -> tuple[Floats, Floats, Floats]:
    """ψ, P and A of the part's material at deformation gradients F, in scratch of their own."""
    psi = point_array(f"psi{where}", part, cut)
    P = point_array(f"P{where}", part, cut, 3, 3, wanted=order >= 1)
    A = point_array(f"A{where}", part, cut, 6, 3, 3, wanted=order >= 2)
    part.evaluate(cut, F, psi, P, A, order)
    return psi, P, A


def elastic_stretches(part: Part, cut: slice, sigma: Floats) -> tuple[Floats, Floats, Floats]:
    """ψ, ∂ψ/∂σ and ∂²ψ/∂σ² of the part's material at singular values, in scratch of their own."""
    psi = point_array("psi", part, cut)
    p, H = point_array("p", part, cut, 3), point_array("H", part, cut, 6)
    lam, mu = part.lame
    extra = part.extra_of(cut)
    part.material.evaluate_stretches(sigma, lam[cut], mu[cut], psi, p, H, *extra)
    return psi, p, H


def chunks_by_thread(parts: tuple[Part, ...]) -> list[list[Chunk]]:
    """The cells of all parts in chunks, dealt out to as many threads as are worth it."""
    chunks: list[Chunk] = []
    total = 0
    for part in parts:
        cells, points = part.weights.shape
        step = max(1, _CHUNK // points)
        chunks += [(part, slice(a, min(a + step, cells))) for a in range(0, cells, step)]
        total += cells * points
    threads = max(1, min(thread_count(), _MOST_SHARES, len(chunks), total // _SMALLEST_SHARE))
    edges = [len(chunks) * t // threads for t in range(threads + 1)]
    return [chunks[a:b] for a, b in pairwise(edges)]


def assemble(parts: tuple[Part, ...], pattern: BlockPattern, u: Floats, asked: Asked) -> Evaluation:
    """U of cells, and its derivatives, at displacements ``u`` (n, 3)."""

    def elasticity(part: Part, cut: slice, depth: int) -> tuple[Floats, Floats, Floats]:
        F = gradients_at(part, cut, u, 1.0, "F")
        psi, P, A = elastic_points(part, cut, F, depth)
        if asked.definite:
            part.material.make_definite(F, A)
        return psi, P, A

    return add_up(parts, pattern, elasticity, asked)


def add_up(
    parts: tuple[Part, ...], pattern: BlockPattern, model: PointModel, asked: Asked
) -> Evaluation:
    """Integrate what ``model`` says of every quadrature point, as ``assemble`` does for energy."""
    n = pattern.n_nodes
    shapes = [
        (n if asked.order >= 1 else 0, 3),
        (n if asked.direction is not None else 0, 3),
        (pattern.n_blocks if asked.order >= 2 else 0, 3, 3),
    ]
    stiffness = asked.stiffness
    if stiffness is None or asked.order < 2:
        stiffness = np.empty(shapes[2])
    work = chunks_by_thread(parts)
    first = _ThreadSum(asked, np.empty(shapes[0]), np.empty(shapes[1]), stiffness)
    others = [
        _ThreadSum(
            asked, *(workspace(f"{t} {k}", math.prod(s)).reshape(s) for k, s in enumerate(shapes))
        )
        for t in range(1, len(work))
    ]
    shares = zip([first, *others], work, strict=True)
    run_all([partial(share.add, chunks, model) for share, chunks in shares])
    for other in others:
        first.energy += other.energy
        for name in ("gradient", "product", "stiffness"):
            add_scaled(getattr(other, name).reshape(-1), 1.0, getattr(first, name).reshape(-1))
    return Evaluation(first.energy, first.gradient, first.product, first.stiffness)
