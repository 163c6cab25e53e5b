"""Bodies, bases and cubatures that the tests of cubature share."""

from __future__ import annotations

import dataclasses
from functools import lru_cache

import numpy as np
from tests.helpers import small_mesh, soft
from tests.reduction.conftest import held_body

import supple as sp
from supple.reduction.cubature.cubature import Cubature
from supple.reduction.cubature.training import train_cubature


@lru_cache
def block(material: type[sp.Material], mesh_name: str = "tet") -> tuple[sp.Body, np.ndarray]:
    """A small held body of any kind of cell, and six modes whose largest displacement is 1."""
    body = held_body(mesh_name, material)
    shapes = sp.vibration_modes(body, 6).shapes
    return body, shapes / np.abs(shapes).max(axis=(1, 2), keepdims=True)


@lru_cache
def plank(material: type[sp.Material] = sp.StableNeoHookean) -> tuple[sp.Body, np.ndarray]:
    """A cantilever of 360 tetrahedra, and eight modes."""
    mesh = sp.HexMesh.box((1.0, 0.24, 0.2), (18, 2, 2)).tetrahedra()
    body = sp.Body(mesh, soft(material), fixed=mesh.where(x=0))
    return body, sp.vibration_modes(body, 8).shapes


@lru_cache
def trained(material: type[sp.Material] = sp.StableNeoHookean) -> Cubature:
    return train_cubature(*plank(material), poses=60)


def partial(body: sp.Body, vectors: np.ndarray, seed: int = 3) -> Cubature:
    """A third of the cells with random weights: right nowhere, but consistent everywhere."""
    rng = np.random.default_rng(seed)
    cells = rng.permutation(body.mesh.n_cells)[: max(3, body.mesh.n_cells // 3)]
    return Cubature.of_cells(body, vectors, cells, rng.uniform(0.5, 5, len(cells)))


def mixed_body() -> sp.Body:
    """Three regions, two of the same model, one with constants of its own in every cell."""
    mesh = small_mesh("tet")
    n = mesh.n_cells
    order = np.random.default_rng(5).permutation(n)
    regions = {"a": order[: n // 2], "b": order[n // 2 : n // 2 + 9], "c": order[n // 2 + 9 :]}
    mesh = dataclasses.replace(mesh, regions=regions)
    materials = {
        "a": sp.NeoHookean(young=np.linspace(1e4, 5e4, n), poisson=np.linspace(0.1, 0.4, n)),
        "b": sp.StVK(young=3e4, poisson=0.3),
        "c": sp.NeoHookean(young=2e4, poisson=0.45),
    }
    return sp.Body(mesh, materials, fixed=np.argsort(mesh.vertices[:, 0])[:5])
