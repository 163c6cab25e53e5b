"""``supple convert``: one kind of file to another, by the endings of their names."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from supple.cli.failures import DONE, MISSED, in_options
from supple.cli.progress import Reporter, say
from supple.core.errors import spelled
from supple.workflows.converting import convert


def command(given: argparse.Namespace) -> int:
    label = f"writing {Path(given.target).name}"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        with Reporter(label, quiet=given.quiet) as reporter:
            result = convert(
                given.source,
                given.target,
                edge=given.edge,
                voxels=given.voxels,
                epsilon=given.epsilon,
                scale=given.scale,
                up=given.up,
                skin=given.skin,
                fps=given.fps,
                tolerance=given.tolerance,
                targets=given.targets,
                progress=reporter,
            )
    for note in caught:
        text = note.message.args[0] if isinstance(note.message, Warning) else note.message
        print(f"note: {spelled(text, in_options(given))}", file=sys.stderr)
    about = "" if result.gltf is None else f": {result.gltf}"
    say(f"{result.file}{about}", quiet=given.quiet)
    return DONE if result.gltf is None or result.gltf.met else MISSED
