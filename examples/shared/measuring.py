"""What the examples of reduced models share: a stopwatch, checks and a table."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

import supple as sp


def quick() -> bool:
    """Whether ``--quick`` was given: a coarse mesh, for a first look."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="take a coarse mesh")
    return bool(parser.parse_args().quick)


class Stopwatch:
    """Takes the time of each phase [s], of code that is compiled and loaded."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        mesh = sp.HexMesh.box(size=(1.0, 0.1, 0.1), cells=(8, 1, 1))
        body = sp.Body(mesh, sp.StVK(young=1e6, poisson=0.4), fixed=mesh.where(x=0))
        sp.reduce(body, sp.modal_derivative_basis(body, modes=sp.vibration_modes(body, 4), size=4))

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[phase] = time.perf_counter() - start

    def step(self, model: sp.ReducedModel, damping: sp.Damping) -> None:
        """The paper's step, Newmark with one Newton iteration, and the shape u = U q after it."""
        once = sp.DenseNewton(iterations=1)
        live = model.simulation(damping=damping, dt=1e-3, solver=once)
        live.v = np.full(model.size, 1e-3)
        live.run_steps(100)  # warm
        self.seconds["one step"] = shortest(lambda: live.run_steps(100)) / 100
        u = live.displacements()
        self.seconds["u = U q"] = shortest(lambda: live.displacements(out=u))

    def show(self, paper: dict[str, str]) -> None:
        """Prints the phases beside the paper's figures (3 GHz Pentium)."""
        if paper:
            print(f"{'':30}{'here':>12}{'paper':>12}")
        for phase, seconds in self.seconds.items():
            print(f"{phase:30}{_text(seconds):>12}{paper.get(phase, ''):>12}")


def shortest(call: Callable[[], object]) -> float:
    """The shortest time of twenty calls [s], least disturbed by others."""
    times = []
    for _ in range(20):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def _text(seconds: float) -> str:
    return f"{1e6 * seconds:.1f} µs" if seconds < 1e-3 else f"{seconds:.2f} s"


def check_forces(body: sp.Body, model: sp.ReducedModel, size: float) -> None:
    """The cubic polynomial is the projected full force, at a shape of ``size`` [m]."""
    q = np.random.default_rng(0).normal(size=model.size)
    q *= size / np.abs(model.displacements(q)).max()
    u = model.displacements(q)
    projected = model.vectors.reshape(model.size, -1) @ body.force(u).ravel()
    error = np.abs(model.force(q) - projected).max() / np.abs(projected).max()
    print(f"reduced force against the projected one: {error:.1e}")
    assert error < 1e-12


def poke(
    model: sp.ReducedModel,
    modes: sp.Modes,
    damping: sp.Damping,
    vertices: np.ndarray,
    force: tuple[float, float, float],
    *,
    seconds: float,
    dt: float = 1e-3,
) -> float:
    """Pushes vertices with a force [N] for ``seconds``, lets go, and follows three cycles.

    Prints how far it goes and how fast it swings; returns the frequency [Hz].
    """
    live = model.simulation(damping=damping, integrator=sp.Newmark(), dt=dt)
    f = sum(model.pull(int(v), np.array(force) / len(vertices)) for v in vertices)
    live.run_steps(round(seconds / dt), force=f)
    energy = [live.kinetic + live.elastic]
    slowest = modes.shapes[0, vertices].mean(axis=0)
    path = []
    for _ in range(round(max(1.0, 3.25 / modes.frequencies[0]) / dt)):
        live.run_steps(1)
        path.append(model.vectors[:, vertices].mean(axis=1).T @ live.q)
        energy.append(live.kinetic + live.elastic)
    assert np.diff(energy).max() < 1e-9 * energy[0]  # damping takes energy away in every step
    height = np.array(path) @ slowest
    k = np.flatnonzero(height[:-1] * height[1:] < 0)
    crossings = (k + height[k] / (height[k] - height[k + 1])) * dt
    frequency = (len(crossings) - 1) / 2 / (crossings[-1] - crossings[0])
    reach = np.linalg.norm(path, axis=1).max()
    print(f"poked, it moves by {reach:.3g} m and swings at {frequency:.2f} Hz")
    print(f"{energy[-1] / energy[0]:.0%} of the energy is left after {len(path) * dt:.1f} s")
    return float(frequency)
