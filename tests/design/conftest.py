"""A small cantilever, its examples and its reduced model."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp


@pytest.fixture(scope="package")
def cantilever() -> sp.Body:
    """The beam of the benchmarks, coarse: 1 × 0.2 × 0.2 m, clamped at one end."""
    mesh = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(8, 2, 2)).tetrahedra()
    material = sp.StVK(young=1e6, poisson=0.4, density=1000)
    return sp.Body(mesh, material, fixed=mesh.where(x=0), mass_model=sp.LumpedMass())


@pytest.fixture(scope="package")
def modes(cantilever: sp.Body) -> sp.Modes:
    return sp.vibration_modes(cantilever, 4)


@pytest.fixture(scope="package")
def twist(cantilever: sp.Body) -> np.ndarray:
    """The slowest mode that turns the tip about the beam's axis."""
    found = sp.vibration_modes(cantilever, 6).shapes
    tip = cantilever.mesh.where(x=1)
    arm = cantilever.mesh.vertices[tip] - cantilever.mesh.vertices[tip].mean(axis=0)
    turning = [abs(np.cross(arm, phi[tip])[:, 0].sum()) for phi in found]
    return found[int(np.argmax(turning))]


@pytest.fixture(scope="package")
def examples(modes: sp.Modes, twist: np.ndarray) -> list[sp.Example]:
    """Bending by 10 cm at the tip and twisting by 2 cm at its corners, at excitation 1."""
    return [
        sp.Example(modes.shapes[0], name="bend").scaled(0.1),
        sp.Example(twist, name="twist").scaled(0.02),
    ]


@pytest.fixture(scope="package")
def reduced(cantilever: sp.Body, examples: list[sp.Example]) -> sp.ReducedModel:
    picked = sp.picked_basis(cantilever, np.stack([example.shape for example in examples]))
    derivatives = sp.modal_derivative_basis(cantilever, modes=8, size=24)
    return sp.reduce(cantilever, sp.joined_basis(cantilever, picked, derivatives))


@pytest.fixture(params=["full", "reduced"])
def in_space(request, cantilever, reduced) -> sp.Body | sp.ReducedModel:
    """The cantilever in full space, and its reduced model."""
    return cantilever if request.param == "full" else reduced
