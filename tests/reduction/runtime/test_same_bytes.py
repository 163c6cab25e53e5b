"""The same input gives the same bytes, wherever the allocator puts the arrays."""

import copy
import random

import numpy as np
import pytest

import supple as sp

pytestmark = pytest.mark.processors


@pytest.fixture(scope="module")
def model():
    mesh = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(4, 1, 1))
    body = sp.Body(mesh, sp.StVK(young=1e6, poisson=0.4), fixed=mesh.where(x=0))
    return sp.reduce(body, sp.modal_derivative_basis(body, modes=6, size=12))


def dampings(model):
    shapes = [np.tensordot(row, model.vectors, 1) for row in np.eye(12)[:2]]
    examples = [sp.Example(shape, curve=sp.Curve.constant(3.0)) for shape in shapes]
    return {
        "none": None,
        "current stiffness": sp.Rayleigh(mass=0.1, stiffness=1e-3),
        "examples": sp.ExampleDamping(sp.Rayleigh(stiffness=1e-3), examples),
        "laws": [sp.PowerLaw(exponent=0.5, strength=20.0), sp.PrincipalStrain(stiffness=1e-3)],
    }


@pytest.mark.parametrize("name", ["none", "current stiffness", "examples", "laws"])
def test_reduced_steps_do_not_depend_on_where_arrays_are(model, name):
    """What kernels write may lie beside what they read, and they look for that: see core.memory."""
    rng = random.Random(1)
    damping = dampings(model)[name]
    start = np.linspace(0.3, -0.1, 12)
    found = set()
    for _ in range(300):
        # holes of the size of the arrays in question, which then come to lie in any order
        kept = [np.empty(12) for _ in range(60)]
        rng.shuffle(kept)
        del kept[:40]
        live = model.simulation(damping=damping, dt=1 / 60, integrator=sp.Bathe())
        live.q = start
        copied = copy.deepcopy(live)
        for each in (live, copied):
            q, _ = each.trace(4)
            found.add(q.tobytes())
    assert len(found) == 1
