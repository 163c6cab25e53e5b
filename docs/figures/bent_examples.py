"""A beam bent by 40 cm along a straight example and along its path, and what is left of swings."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from drawing import COLORS, GRID, IMAGES, INK, plain, side_view

import supple as sp
from supple.design.testbed import Watch
from supple.design.testbeds import make_testbed

mpl.use("Agg")
import matplotlib.pyplot as plt

GAMMA, RATIO = 5.0, 0.02
CENTIMETRES = np.array([1, 2, 4, 7, 10, 15, 20, 25, 30, 40, 50, 60])


def main() -> None:
    mesh = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(10, 2, 2))
    material = sp.StVK(young=1e6, poisson=0.4, density=1000)
    body = sp.Body(mesh, material, fixed=mesh.where(x=0))
    up = sp.static_shape(body, body.surface_force(mesh.where(x=1), (0, 0, 1)))
    modes = sp.vibration_modes(body, 2)
    amounts = [float(np.vdot(phi, body.mass_times(up))) for phi in modes.shapes]
    shape = np.tensordot(amounts, modes.shapes, 1)  # of two equal ways to bend, that along z
    basis = sp.joined_basis(
        body,
        sp.picked_basis(body, [shape]),
        sp.modal_derivative_basis(body, modes=8, size=20),
    )
    model = sp.reduce(body, basis)
    straight = sp.Example(shape).scaled(0.1)
    bent = sp.bent_example(model, straight, reach=7.0)
    omega = 2 * np.pi * float(modes.frequencies[0])
    base = sp.Rayleigh(stiffness=2 * RATIO / omega)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8.4, 3.2), layout="constrained", width_ratios=(1.0, 1.25)
    )
    for u, color in (
        (np.zeros_like(mesh.vertices), GRID),
        (4 * straight.shape, COLORS[1]),
        (bent.at(4.0), COLORS[0]),
    ):
        side_view(left, mesh, mesh.vertices + u, color)
    left.set_xlim(-0.05, 1.15)
    left.set_ylim(-0.1, 0.75)
    left.set_aspect("equal")
    left.set_axis_off()
    for example, color, label in (
        (straight, COLORS[1], "straight example"),
        (bent, COLORS[0], "bent example"),
    ):
        damping = sp.ExampleDamping(base, [example.with_curve(GAMMA)])
        bed = make_testbed(model, damping, dt=1 / 240, relaxed=True)
        tests = [bed.unload(damping, 0, cm / 10, Watch(cycles=1)) for cm in CENTIMETRES]
        shares = [
            100 * test.turns[0, 1] / (cm / 10) for test, cm in zip(tests, CENTIMETRES, strict=True)
        ]
        right.plot(CENTIMETRES, shares, "o-", color=color, markersize=4, label=label)
    zeta = GAMMA * RATIO
    wanted = 100 * np.exp(-2 * np.pi * zeta / np.sqrt(1 - zeta**2))
    right.axhline(wanted, color=INK, linewidth=0.8, linestyle="--")
    right.annotate(f"γ = 5: {wanted:.1f} %", (60, wanted - 4.0), fontsize=9, color=INK, ha="right")
    right.set_ylim(40, 95)
    right.set_xlabel("the tip starts at [cm]", fontsize=9, color=INK)
    right.set_ylabel("left after one cycle [%]", fontsize=9, color=INK)
    right.legend(frameon=False, fontsize=9, loc="upper left")
    plain(right)
    figure.savefig(IMAGES / "bent_examples.png", dpi=110)


if __name__ == "__main__":
    main()
