"""Damping that the implicit rules bring themselves, for an undamped oscillator a'' = −ω² x."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, plain

import supple as sp
from supple.integrators import ImplicitIntegrator, State

mpl.use("Agg")
import matplotlib.pyplot as plt

RULES = [sp.BackwardEuler(), sp.BDF2(), sp.Bathe(), sp.TRBDF2(), sp.Newmark(beta=0.36, gamma=0.7),
         sp.Trapezoidal()]  # fmt: skip
NAMES = ["BackwardEuler", "BDF2", "Bathe", "TRBDF2", "Newmark(0.36, 0.7)", "Trapezoidal, Newmark"]
STYLES = ["-", "-", "-", "--", "-", "-"]


def positions(rule: ImplicitIntegrator, w: float, dt: float, steps: int) -> np.ndarray:
    """x over time from x = 1 at rest; each stage c_a (x − x̂_a) + ω² x = 0 is solved by hand."""
    before, now = None, State(0.0, np.ones(1), np.zeros(1), np.array([-w * w]))
    found = [now]
    for _ in range(steps):
        stages = rule.stages(now, before, dt)
        stage = next(stages)
        while True:
            done = stage.state(stage.c_a * stage.u_a / (stage.c_a + w * w))
            try:
                stage = stages.send(done)
            except StopIteration:
                break
        before, now = now, done
        found.append(now)
    return np.array([(s.time, s.u[0], s.v[0] / w) for s in found])


def ratio(rule: ImplicitIntegrator, per_period: float) -> float:
    """Damping ratio that an undamped vibration seems to have."""
    t, x, v = positions(rule, 2 * np.pi, 1 / per_period, 400).T
    size = np.hypot(x, v)
    keep = (size > 1e-12) & (t > 4 / per_period)
    return max(0.0, -np.polyfit(t[keep], np.log(size[keep]), 1)[0] / (2 * np.pi))


def main() -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.7), layout="constrained")
    for rule, name, color, style in zip(RULES, NAMES, COLORS, STYLES, strict=True):
        t, x, _ = positions(rule, 2 * np.pi, 1 / 20, 100).T
        left.plot(t, x, style, color=color, linewidth=1.4)
        counts = np.geomspace(4, 200, 60)
        zeta = np.array([ratio(rule, n) for n in counts])
        if zeta.max() > 1e-6:
            right.plot(counts, 100 * zeta, style, color=color, linewidth=1.6, label=name)
        else:
            right.plot([], [], style, color=color, linewidth=1.6, label=f"{name}: none")
    left.set_xlabel("periods", fontsize=9, color=INK)
    left.set_ylabel("amplitude", fontsize=9, color=INK)
    left.set_title("20 steps a period, no damping asked for", fontsize=9, color=INK)
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_ylim(1e-3, 60)
    right.set_xticks([5, 10, 20, 50, 100, 200], ["5", "10", "20", "50", "100", "200"])
    right.set_xlabel("steps a period", fontsize=9, color=INK)
    right.set_ylabel("numerical damping ratio [%]", fontsize=9, color=INK)
    figure.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=6)
    for axes in (left, right):
        plain(axes)
    figure.savefig(IMAGES / "integrators.png", dpi=110)


if __name__ == "__main__":
    main()
