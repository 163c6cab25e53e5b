"""Inverse design on the demo's creature: the four unloading targets of the paper's koala.

Targets against results, how many simulations each took, how long all of it, and what the best
linear damping makes of the same targets.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import supple as sp
from benchmarks.timing import table
from supple.io.scene.scene import load_scene
from supple.workflows import demonstration
from supple.workflows.design_parts import reduced_model


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.toml"
        path.write_text(demonstration._SCENE, encoding="utf-8")
        scene = load_scene(path)
    damping = scene.damping
    assert isinstance(damping, sp.ExampleDamping)
    model = reduced_model(scene.body, damping, scene.design)
    options = {"integrator": scene.integrator, "dt": scene.dt}
    sp.set_thread_count(1)
    model.simulation(damping=damping, **options).run_steps(2)  # compiles
    fits, took = [], []
    for _ in range(3):
        start = time.process_time()
        fits.append(sp.design_damping(model, damping, scene.targets, **options))
        took.append(time.process_time() - start)
    fit = min(fits, key=lambda each: each.report.seconds)
    linear = sp.best_linear_damping(model, damping, scene.targets, **options)
    sp.set_thread_count(0)
    print(
        f"{model.size} coordinates, four examples; {fit.report.simulations} simulations in "
        f"{fit.report.seconds:.2f} s on one core, {min(took):.2f} s of the processor's time"
    )
    rows = [
        [
            str(one.target),
            f"{one.before.residual:.3f}",
            f"{one.reached:.4f} ({100 * one.error:+.2f} %)",
            f"{other.reached:.4f} ({100 * other.error:+.1f} %)",
            one.simulations,
        ]
        for one, other in zip(fit.report.results, linear.report.results, strict=True)
    ]
    print(table(["target", "before", "designed", "best linear", "simulations"], rows))
