"""Adding up the energy of cells, its gradient and its Hessian.

Cells go through the pipeline deformation gradients → material → nodal forces and stiffness in
chunks that stay in the cache, and threads take turns at different parts of the body.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from ._kernels import elements
from ._kernels.blocks import add_scaled
from .materials import Material
from .mesh import VolumeMesh
from .sparse import BlockPattern
from .threads import run_all, scratch, thread_count
from .types import Floats, Ints

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
        )


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


class _Share:
    """What one thread adds up over its chunks of cells."""

    def __init__(self, order: int, gradient: Floats, product: Floats, stiffness: Floats) -> None:
        self.order = order
        self.energy = 0.0
        self.gradient, self.product, self.stiffness = gradient, product, stiffness

    def add(
        self,
        chunks: list[Chunk],
        u: Floats,
        direction: Floats | None,
        definite: bool,
        factors: Floats | None,
    ) -> None:
        self.gradient[:] = 0.0
        self.product[:] = 0.0
        self.stiffness[:] = 0.0
        depth = self.order if direction is None else 2
        for part, cut in chunks:
            nodes, gradients = part.nodes[cut], part.gradients[cut]
            weights = part.weights[cut]
            if factors is not None:
                weights = weights * factors[part.cells[cut], None]
            F, psi, P, A = _evaluate_chunk(part, cut, u, depth)
            self.energy += float(np.vdot(weights, psi))
            if self.order >= 1:
                elements.add_nodal_forces(nodes, gradients, weights, P, self.gradient)
            if self.order >= 2:
                if definite:
                    part.material.make_definite(F, A)
                elements.add_stiffness(gradients, weights, A, part.slots[cut], self.stiffness)
            if direction is not None:
                elements.gradients_of(direction, nodes, gradients, 0.0, F)
                elements.apply_derivative(A, F, P)
                elements.add_nodal_forces(nodes, gradients, weights, P, self.product)


def _evaluate_chunk(
    part: Part, cut: slice, u: Floats, order: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """F, ψ, P and A of a chunk; P and A are empty where the order does not ask for them."""
    cells, points = part.weights[cut].shape
    shapes = {"F": (3, 3), "psi": (), "P": (3, 3), "A": (6, 3, 3)}
    wanted = {"F": True, "psi": True, "P": order >= 1, "A": order >= 2}
    arrays = []
    for name, shape in shapes.items():
        full = (cells if wanted[name] else 0, points, *shape)
        arrays.append(scratch(name, math.prod(full)).reshape(full))
    F, psi, P, A = arrays
    elements.gradients_of(u, part.nodes[cut], part.gradients[cut], 1.0, F)
    lam, mu = part.lame
    part.material.evaluate(F, lam[cut], mu[cut], psi, P, A, order)
    return F, psi, P, A


def _chunks_by_thread(parts: tuple[Part, ...]) -> list[list[Chunk]]:
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


def assemble(
    parts: tuple[Part, ...],
    pattern: BlockPattern,
    u: Floats,
    order: int,
    *,
    direction: Floats | None = None,
    definite: bool = False,
    cell_factors: Floats | None = None,
    stiffness: Floats | None = None,
) -> Evaluation:
    """U, and ∇U if order ≥ 1, and ∇²U if order ≥ 2, at displacements ``u`` (n, 3).

    ``direction`` (n, 3) asks for ∇²U times it, which needs no matrix; ``definite`` makes each
    cell's Hessian positive semidefinite; ``cell_factors`` (cells,) multiplies each cell's share;
    ``stiffness`` (blocks, 3, 3) is filled instead of a new array.
    """
    n = pattern.n_nodes
    shapes = [
        (n if order >= 1 else 0, 3),
        (n if direction is not None else 0, 3),
        (pattern.n_blocks if order >= 2 else 0, 3, 3),
    ]
    if stiffness is None or order < 2:
        stiffness = np.empty(shapes[2])
    work = _chunks_by_thread(parts)
    first = _Share(order, np.empty(shapes[0]), np.empty(shapes[1]), stiffness)
    others = [
        _Share(order, *(scratch(f"{t} {k}", math.prod(s)).reshape(s) for k, s in enumerate(shapes)))
        for t in range(1, len(work))
    ]
    run_all(
        [
            partial(share.add, chunks, u, direction, definite, cell_factors)
            for share, chunks in zip([first, *others], work, strict=True)
        ]
    )
    for other in others:
        first.energy += other.energy
        for name in ("gradient", "product", "stiffness"):
            add_scaled(getattr(other, name).reshape(-1), 1.0, getattr(first, name).reshape(-1))
    return Evaluation(first.energy, first.gradient, first.product, first.stiffness)
