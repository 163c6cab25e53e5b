"""Asked and got: a wish for what is left after each cycle, and what a motion then leaves.

The cantilever of the other benchmarks, Bathe at 60 Hz. Asked: 80 % of bending and 30 % of twisting
left after each cycle, at every amplitude. Got: measured from the displacements of motions of their
own, released with bending alone, twisting alone, and both at once.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

import supple as sp
from benchmarks.cantilever import beam
from benchmarks.timing import table
from supple.core.types import Floats

DT = 1 / 60
BASE = sp.Rayleigh(mass=0.1)
BENDING, TWISTING = (0.1, 0.5, 1.0, 2.0), (0.1, 0.5, 1.0)
RELEASES = ((0.1, 0), (1, 0), (2, 0), (0, 0.1), (0, 1), (0.1, 0.1), (1, 1))


def examples_of(body: sp.Body) -> list[sp.Example]:
    """Bending by 10 cm at the tip and twisting by 2 cm at its corners, at excitation 1."""
    shapes = sp.vibration_modes(body, 6).shapes
    tip = body.mesh.where(x=1)
    arm = body.mesh.vertices[tip] - body.mesh.vertices[tip].mean(axis=0)
    turning = [abs(np.cross(arm, shape[tip])[:, 0].sum()) for shape in shapes]
    return [
        sp.Example(shapes[0], name="bend").scaled(0.1),
        sp.Example(shapes[int(np.argmax(turning))], name="twist").scaled(0.02),
    ]


def shares_left(
    body: sp.Body,
    space: sp.Body | sp.ReducedModel,
    damping: sp.ExampleDamping,
    starts: tuple[float, float],
) -> list[Floats]:
    """What is left of each example after each of three cycles, as a share of the one before."""
    examples = damping.examples
    start = sum(a * example.shape for a, example in zip(starts, examples, strict=True))
    options = {"damping": damping, "integrator": sp.Bathe(), "dt": DT}
    if isinstance(space, sp.ReducedModel):
        live = space.simulation(**options)
        live.q = space.coordinates(start)
        motion = live.run(3.0)
    else:
        sim = sp.Simulation(space, **options)  # type: ignore[arg-type]
        sim.state.u = start
        motion = sim.run(3.0)
    X = np.stack([example.shape.ravel() for example in examples])
    MX = (body.mass @ X.T).T
    chi = np.linalg.solve(X @ MX.T, MX @ motion.displacements.reshape(len(motion.times), -1).T)
    found = []
    for amount, row in zip(starts, chi, strict=True):
        spline = CubicSpline(motion.times, row)
        turns = spline.derivative().roots(extrapolate=False)
        peaks = np.concatenate([[row[0]], spline(turns[(turns > DT) & (spline(turns) > 0)])])
        peaks = peaks[:4]
        found.append(peaks[1:] / peaks[:-1] if amount else np.empty(0))
    return found


def main() -> None:
    body = beam()
    examples = examples_of(body)
    picked = sp.picked_basis(body, np.stack([example.shape for example in examples]))
    derivatives = sp.modal_derivative_basis(body, modes=10, size=28)
    model = sp.reduce(body, sp.joined_basis(body, picked, derivatives))
    targets = [sp.Unloading("bend", a, "80 % left") for a in BENDING]
    targets += [sp.Unloading("twist", a, "30 % left") for a in TWISTING]
    for name, space in (("reduced", model), ("full", body)):
        damping = sp.ExampleDamping(BASE, examples)
        fit = sp.design_damping(space, damping, targets, dt=DT, tolerance=0.003)  # type: ignore[arg-type]
        print(f"{name} space: {str(fit.report).splitlines()[0]}")
        for result in fit.report.results:
            if not result.met:
                print(f"{result.target}: {result.reached:.4g} of {result.wanted:.4g}")
        rows = []
        for starts in RELEASES:
            left = shares_left(body, space, fit.damping, starts)  # type: ignore[arg-type]
            cells = [" ".join(f"{100 * share:.1f}" for share in shares) for shares in left]
            rows.append([f"{10 * starts[0]:g} cm", f"{2 * starts[1]:g} cm", *cells])
        headers = ["bent by", "twisted by", "bending left, % (asked 80)", "twisting (asked 30)"]
        print(table(headers, rows), end="\n\n")
