"""Damping that nobody asked for: the share of a vibration left after five undamped cycles."""

from __future__ import annotations

import numpy as np

import supple as sp
from benchmarks.cantilever import beam, first_bending_mode
from benchmarks.timing import table
from supple.integrators import INTEGRATORS, ExplicitIntegrator

TIP = 0.02  # [m]
SUBSTEPS = {sp.SymplecticEuler: 60, sp.RK4: 60}  # explicit rules are unstable at 1/60 s


def amplitude_left(body: sp.Body, integrator: sp.Integrator) -> tuple[float, float]:
    """Share of the first mode's amplitude left after five cycles, and the frequency [Hz] seen."""
    frequency, shape = first_bending_mode(body, TIP)
    size = np.vdot(shape, body.mass_times(shape))
    substeps = SUBSTEPS.get(type(integrator), 1)
    sim = sp.Simulation(body, integrator=integrator, dt=1 / 60 / substeps)
    sim.state.u = shape
    times, amplitudes, phases = [], [], []
    while sim.state.time < 5 / frequency:
        sim.step()
        q = np.vdot(shape, body.mass_times(sim.state.u)) / size
        p = np.vdot(shape, body.mass_times(sim.state.v)) / size / (2 * np.pi * frequency)
        times.append(sim.state.time)
        amplitudes.append(np.hypot(q, p))
        phases.append(np.arctan2(-p, q))
    slope = np.polyfit(times, np.unwrap(phases), 1)[0]
    return float(np.mean(amplitudes[-6 * substeps :])), float(slope / (2 * np.pi))


def main() -> None:
    body = beam(bricks=(20, 4, 4))
    frequency, _ = first_bending_mode(body, TIP)
    rows = []
    for rule in INTEGRATORS:
        left, seen = amplitude_left(body, rule())
        dt = f"1/{60 * SUBSTEPS.get(rule, 1)}"
        kind = "explicit" if issubclass(rule, ExplicitIntegrator) else "implicit"
        rows.append(
            [
                rule.__name__,
                kind,
                dt,
                f"{100 * left:.2f} %",
                f"{100 * (seen / frequency - 1):+.2f} %",
            ]
        )
    print(f"{body.mesh.n_vertices} vertices, {body.mesh.n_cells} tetrahedra, {frequency:.4f} Hz")
    print(table(["integrator", "kind", "dt [s]", "left after 5 cycles", "frequency error"], rows))
