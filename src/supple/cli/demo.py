"""``supple demo``: a soft creature is shaken by its feet and settles, with two dampings."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from pathlib import Path

from supple import InputError, Rayleigh, set_thread_count
from supple.cli.progress import Reporter, say
from supple.cli.simulate import damping_text, export, facts, make_folder, record
from supple.io.report import Run, floor_under, write_report
from supple.io.scene import load_scene

_SCENE = """\
# A soft creature whose feet are shaken from side to side for half a second.
# Change something and run it again: supple run scene.toml

title = "A shaken creature"
gravity = [0, 0, -9.81]

[mesh]
builtin = "creature"

[material]                  # head, back, arms and legs
model = "StableNeoHookean"
young = 36e3                # Pa
poisson = 0.4
density = 250               # kg/m³

[materials.belly]
model = "StableNeoHookean"
young = 14e3
poisson = 0.45
density = 250

[materials.ears]
model = "StableNeoHookean"
young = 22e3
poisson = 0.4
density = 250

[[supports]]
place = "feet"
oscillation = { amplitude = [0.03, 0, 0], frequency = 2.0, duration = 0.5 }

[initial]
equilibrium = true          # it stands as its weight leaves it

[damping]
mass = 0.1                  # 1/s
stiffness = 0.003           # s

[solver]
tolerance = 1e-4            # of the forces at play; plenty for the eye

[time]
duration = 2.5
fps = 60

[output]
formats = ["glb"]
"""
_STRONG = Rayleigh(mass=1.0, stiffness=0.02)


def command(given: argparse.Namespace) -> int:
    if given.threads is not None:
        set_thread_count(given.threads)
    folder = Path(given.output)
    make_folder(folder)
    file = folder / "scene.toml"
    if not file.exists() or file.read_text(encoding="utf-8") == _SCENE:
        file.write_text(_SCENE, encoding="utf-8")
    else:
        raise InputError(
            f"{file} was changed since; run it with supple run {file}, or give the demo another "
            "--output"
        )
    began = time.perf_counter()
    light = load_scene(file)
    say(f"{light.title}: {light.body.mesh!r}, {light.duration:g} s, twice", quiet=given.quiet)
    runs = []
    for name, scene in (
        ("light", light),
        ("strong", dataclasses.replace(light, damping=_STRONG)),
    ):
        path = folder / f"{name}.motion"
        try:
            with Reporter(f"{name} damping", quiet=given.quiet) as reporter:
                motion, steps = record(
                    scene,
                    path,
                    reporter,
                    metadata={"scene": scene.text, "damping": damping_text(scene)},
                    duration=scene.duration,
                    overwrite=True,
                )
        except KeyboardInterrupt:
            print(f"\nInterrupted. What was done is in {folder}.", file=sys.stderr)
            return 130
        export(scene, motion, folder / f"{name}.glb", quiet=given.quiet)
        damping = scene.damping or Rayleigh()
        coefficients = [
            ("Mass", f"{damping.mass:g} 1/s"),
            ("Stiffness", f"{damping.stiffness:g} s"),
        ]
        runs.append(Run(f"{name.capitalize()} damping", motion, coefficients, steps))
    shared = [fact for fact in facts(light) if fact[0] != "Damping"]
    write_report(
        folder / "report.html",
        runs,
        title=light.title,
        summary="Its feet are shaken from side to side for half a second, then held still. "
        "The same shake twice: only the damping differs.",
        facts=shared,
        skin=light.skin,
        colors=light.colors,
        floor=floor_under(light.body),
        source=light.text,
    )
    taken = time.perf_counter() - began
    steps_taken = sum(len(run.steps) for run in runs if run.steps is not None)
    say(f"{steps_taken} steps in {taken:.0f} s, compiling and writing included.", quiet=given.quiet)
    say(f"Look: open {folder / 'report.html'} in a browser.", quiet=given.quiet)
    say(f"Then: change {file} and run it: supple run {file}", quiet=given.quiet)
    return 0
