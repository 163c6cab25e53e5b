"""ADMM with supports that move far in a step, and iterations that end early."""

import numpy as np
import pytest

import supple as sp
from supple.solvers import ADMM, Newton

SHAKEN = 0.1  # m, more than a cell


def ball(radii: tuple[float, float, float]) -> sp.TetMesh:
    """A box of tets drawn out to a ball, with slivers where it had corners."""
    box = sp.TetMesh.box(size=(2.0, 2.0, 2.0), cells=(4, 4, 4))
    x = box.vertices - 1.0
    length, largest = np.linalg.norm(x, axis=1), np.abs(x).max(axis=1)
    scale = np.divide(largest, length, out=np.ones_like(length), where=length > 0)
    return sp.TetMesh(x * scale[:, None] * radii, box.cells)


def shaken(solver: Newton | ADMM, rule: sp.Integrator | None = None) -> sp.Simulation:
    """A ball whose base goes to and fro by 10 cm, twice a second."""
    mesh = ball((0.25, 0.25, 0.3))
    times = np.linspace(0, 2, 81)
    way = np.zeros((len(times), 3))
    way[:, 0] = SHAKEN * np.sin(4 * np.pi * times) * np.minimum(times / 0.25, 1.0) ** 2
    body = sp.Body(
        mesh,
        sp.NeoHookean(young=1e5, poisson=0.4, density=1000),
        supports=[sp.Support.keyframes(mesh.vertices[:, 2] < -0.15, times, way)],
    )
    damping = sp.PowerLaw(exponent=2, strength=30)
    return sp.Simulation(body, damping=damping, solver=solver, integrator=rule, dt=1 / 25)


@pytest.mark.parametrize("rule", [sp.TRBDF2(), sp.BackwardEuler()], ids=["TRBDF2", "BE"])
def test_few_iterations_stay_near_the_motion(rule):
    """Cells start sound, not crushed by a base that has gone ahead of what follows it."""
    exact, few = shaken(Newton(), rule), shaken(ADMM(iterations=8), rule)
    for _ in range(10):
        exact.step()
        few.step()
        off = np.abs(few.state.u - exact.state.u).max()
        assert off < 0.1 * SHAKEN
    assert few.stats.total.substeps == 10


def test_what_gains_half_its_energy_is_told():
    """One plain iteration with hardly any weight makes no motion, however short its steps."""
    sim = shaken(ADMM(iterations=1, acceleration=0, weight=1e-3))
    with pytest.raises(sp.StepFailed, match="gains energy"):
        sim.run(0.4)
    assert np.isfinite(sim.state.u).all()
