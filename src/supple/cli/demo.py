"""``supple demo``: a creature whose belly and ears come to rest as they are wished to."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from supple import Curve, ExampleDamping, InputError, save_damping, set_thread_count
from supple.cli.design_job import Design
from supple.cli.designing import body_at_rest, table
from supple.cli.progress import Reporter, say
from supple.cli.simulate import make_folder
from supple.core.types import Floats
from supple.io.scene.scene import Scene, load_scene

_SCENE = """\
# A soft creature on its bones: belly and ears swing. How they come to rest is designed.
# Change a wish and design it again: supple design scene.toml --overwrite

title = "A creature that settles as wished"
mass = "lumped"

[mesh]
builtin = "creature"
resolution = 16

[material]                      # between the bones and the belly
model = "StVK"
young = 4500                    # Pa
poisson = 0.45
density = 500                   # kg/m³

[materials.belly]
model = "StVK"
young = 1500
poisson = 0.45
density = 1000

[materials.ears]
model = "StVK"
young = 20e3
poisson = 0.4
density = 300

[[supports]]
place = "bones"

[damping]                       # of all other motion
mass = 1.0                      # 1/s
stiffness = 0.003               # s
at = "rest"

[[damping.examples]]
name = "belly left-right"
mode = 7
amplitude = 0.056               # m, where it moves most; excitations are multiples of this

[[damping.examples]]
name = "belly up-down"
mode = 9
amplitude = 0.0365

[[damping.examples]]
name = "left ear"
force = [0, -1e-3, 0]           # N
place = "left ear tip"
amplitude = 0.05

[[damping.examples]]
name = "right ear"
force = [0, -1e-3, 0]
place = "right ear tip"
amplitude = 0.05

[[targets]]                     # small swings of the belly die quickly, large ones slowly
example = "belly left-right"
start = 0.8
residual = 0.20

[[targets]]
example = "belly left-right"
start = 1.6
residual = 0.75

[[targets]]
example = "belly up-down"
start = 0.8
residual = 0.25

[[targets]]
example = "belly up-down"
start = 1.6
residual = 0.65

[design]
modes = 20
size = 70                       # and the four examples: 74 coordinates
verify = false                  # the model is what moves here; a check would be in full space

[integrator]
name = "Bathe"

[time]
duration = 3.0                  # s
fps = 60
substeps = 2
"""
_LIVELY_WHEN_SMALL = Curve.bezier([(0.0, 0.1), (0.4, 0.3), (1.6, 6.0)])
_BY_HAND = (_LIVELY_WHEN_SMALL, 10.0, _LIVELY_WHEN_SMALL, _LIVELY_WHEN_SMALL)
"""Curves drawn by hand for the four examples, the other way round than the wishes."""
_PULLED = (1.0, 0.5, 1.0, 1.0)
"""Excitations from which the creature is let go, to be looked at."""
_SUMMARY = (
    "The creature is let go three times: with plain damping, with curves drawn by hand (the belly "
    "lively when it moves little, and next to still up and down), and with the curves that the "
    "wishes below led to."
)


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
            f"{file} was changed since; design for it with supple design {file}, or give the demo "
            "another --output"
        )
    began = time.perf_counter()
    try:
        job = _design(file, folder, quiet=given.quiet)
    except KeyboardInterrupt:
        print(f"\nInterrupted. What was done is in {folder}.", file=sys.stderr)
        return 130
    for line in table(job.fit.report, job.checks):
        say(line, quiet=given.quiet)
    taken = time.perf_counter() - began
    say(f"{taken:.0f} s in all, compiling and writing included.", quiet=given.quiet)
    say(f"Look: open {folder / 'report.html'} in a browser.", quiet=given.quiet)
    say(f"Then: change a wish in {file}, and: supple design {file}", quiet=given.quiet)
    return 0 if job.fit.report.met else 1


def _design(file: Path, folder: Path, *, quiet: bool) -> Design:
    """Design for the scene in ``file``, and write what came of it."""
    with Reporter("examples", quiet=quiet) as reporter:
        scene = load_scene(file, progress=reporter)
    assert isinstance(scene, Scene)
    before = scene.damping
    assert isinstance(before, ExampleDamping)
    by_hand = before.with_curves(_BY_HAND)
    save_damping(by_hand, folder / "by_hand.toml")
    shapes = [example.shape for example in before.examples]
    start: Floats = np.tensordot(_PULLED, shapes, 1)
    job = Design(
        scene,
        before,
        body_at_rest(scene),
        quiet,
        also_shown=[("By hand", by_hand)],
        start=start,
        summary=_SUMMARY,
    )
    job.find()
    save_damping(job.fit.damping, folder / "designed.toml")
    job.examine()
    job.write_report(folder / "report.html")
    return job
