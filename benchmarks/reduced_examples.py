"""Damping by example in reduced space: a soft creature, four examples with nonlinear curves, Bathe.

Whole converged steps of a body that is pulled by an ear and let go. The example damping paper gives
110 steps a second for 74 coordinates and four nonlinear anisotropic examples, on 16 cores. In 74
coordinates the exact polynomials are of forty megabytes, and a cubature is measured beside them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings

import numpy as np

import supple as sp
from benchmarks.timing import table
from supple.builtin import creature
from supple.core.types import Floats
from supple.damping import Curve, Example, ExampleDamping

SIZES = (15, 30, 74)
PAPER = 110.0  # [steps/s] at 74 coordinates
WANTED = 800.0
POINTS = 300  # of the cubature for 74 coordinates
SOFT = {"ears": 14e3, "belly": 12e3, "rest": 35e3}  # Young's moduli [Pa]
BASE = sp.Rayleigh(mass=0.1, stiffness=2e-3)
CURVES = (
    Curve.monotone([(0.0, 0.3), (0.5, 3.0), (1.0, 10.0)]),
    Curve.linear([(0.0, 3.0), (0.5, 0.3)]),
    Curve.bezier([(0.0, 0.5), (0.4, 2.0), (0.8, 0.2)]),
    Curve.linear([(0.0, 5.0), (1.0, 1.0)]),
)
SPAN = 1.0  # [s] of motion
REPEATS = 7


def main() -> None:
    """Runs in a process whose libraries were told to use one thread."""
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "SUPPLE_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "benchmarks.reduced_examples"], env=alone, check=True)


def soft_creature() -> tuple[sp.Body, int, Floats]:
    """The body, the tip of an ear, and four modes."""
    made = creature()
    materials = {
        region: sp.StVK(young=young, poisson=0.4, density=250) for region, young in SOFT.items()
    }
    body = sp.Body(made.mesh, materials, fixed=made.places["feet"])
    ear = int(made.mesh.vertices[:, 2].argmax())
    return body, ear, sp.vibration_modes(body, len(CURVES)).shapes


def _report() -> None:
    body, ear, modes = soft_creature()
    basis = sp.joined_basis(
        body, sp.picked_basis(body, modes), sp.modal_derivative_basis(body, modes=20, size=74)
    ).truncated(max(SIZES))
    whole = sp.reduce(body, basis)
    examples = [
        Example(shape, curve).scaled(0.1) for shape, curve in zip(modes, CURVES, strict=True)
    ]
    damping = ExampleDamping(BASE, examples)
    print(f"{body.mesh.n_vertices} vertices, {body.mesh.n_cells} bricks\n")
    models = {f"{size}": whole.truncated(size) for size in SIZES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.CubatureWarning)  # its error is told below
        few = sp.train_cubature(body, basis.vectors, size=POINTS, amplitude=0.15)
    name = f"{max(SIZES)}, {few.size} points"
    models[name] = sp.reduce(body, basis, cubature=few, compare=False)
    rows, starts = [], {}
    for label, model in models.items():
        start = starts.setdefault(model.size, pulled(model, ear))
        far = np.linalg.norm(model.displacements(start), axis=1).max()
        for dt in (1 / 60, 1 / 1000):
            plain, designed = _rates(model, start, dt, (BASE, damping))
            rows.append([label, f"{far:.2f}", f"1/{1 / dt:.0f}", plain, designed, plain / designed])
    headers = ["r", "pulled by [m]", "dt [s]", "no examples [1/s]", "four examples [1/s]"]
    print(table([*headers, "ratio"], rows))
    reached = min(row[4] for row in rows if row[0] == name)
    exact, found = (_path(models[key], starts[max(SIZES)], damping) for key in ("74", name))
    error = 100 * np.abs(found - exact).max() / np.abs(exact).max()
    print(
        f"\nr = {max(SIZES)}: {reached:.0f} steps a second or more (wanted {WANTED:.0f}, the paper "
        f"{PAPER:.0f}) with {few.size} points, whose force is off by {100 * few.test_error:.2g} % "
        f"in test poses and whose motion by {error:.2g} % of the largest displacement"
    )


def _path(model: sp.ReducedModel, start: Floats, damping: sp.Damping) -> Floats:
    """A second of motion, (steps, n, 3)."""
    live = model.simulation(damping=damping, integrator=sp.Bathe(), dt=1 / 60)
    live.q = start
    return np.array([model.displacements(q) for q in live.trace(60)[0][::5]])


def pulled(model: sp.ReducedModel, vertex: int) -> Floats:
    """Coordinates of the body at rest under a pull."""
    held = model.simulation(damping=sp.Rayleigh(mass=8.0), integrator=sp.BackwardEuler(), dt=1e-2)
    held.run_steps(200, force=model.pull(vertex, (2.4, 1.6, 0.8)))
    return held.q


def _rates(
    model: sp.ReducedModel, start: Floats, dt: float, dampings: tuple[sp.Damping, ...]
) -> list[float]:
    """Steps a second of the motion after release, for each damping; the best of several runs.

    The time is what the core spent on it: other work on the machine is left out.
    """
    steps = round(min(SPAN, 200 * dt) / dt)
    best = [np.inf] * len(dampings)
    for _ in range(REPEATS):
        for k, damping in enumerate(dampings):
            live = model.simulation(damping=damping, integrator=sp.Bathe(), dt=dt)
            live.q = start
            live.step()  # compiles, and finds the first acceleration
            begun = time.thread_time()
            live.run_steps(steps)
            best[k] = min(best[k], (time.thread_time() - begun) / steps)
    return [1 / span for span in best]


if __name__ == "__main__":
    _report()
