"""Force and stiffness of 11,172 tetrahedra, for every material, on one thread and on all."""

from __future__ import annotations

import numpy as np

import supple as sp
from benchmarks.cantilever import beam
from benchmarks.timing import median_seconds, table
from supple.core.threads import available_cores
from supple.materials import MATERIALS


def milliseconds(body: sp.Body, order: int) -> float:
    """Median time of one evaluation of the energy's derivatives up to ``order``."""
    u = 1e-3 * np.random.default_rng(0).normal(size=body.mesh.vertices.shape)
    buffer = np.empty((body.pattern.n_blocks, 3, 3))
    return 1e3 * median_seconds(lambda: body.evaluate(u, order=order, stiffness=buffer))


def main() -> None:
    rows = []
    for material in MATERIALS:
        body = beam(material)
        row: list[object] = [material.__name__]
        for threads in (1, available_cores()):
            sp.set_thread_count(threads)
            row += [milliseconds(body, order) for order in (1, 2)]
        rows.append(row)
    sp.set_thread_count(0)
    every = f"{available_cores()} threads"
    print(f"{body.mesh.n_vertices} vertices, {body.mesh.n_cells} tetrahedra; medians in ms")
    headers = ["material", "force, 1 thread", "force + stiffness, 1 thread"]
    print(table([*headers, f"force, {every}", f"force + stiffness, {every}"], rows))
