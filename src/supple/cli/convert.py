"""``supple convert``: one kind of file to another, by the endings of their names."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

from supple.cli.progress import Reporter, say
from supple.workflows.converting import convert
from supple.workflows.running import exported_text


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
                progress=reporter,
            )
    for note in caught:
        print(f"note: {note.message}", file=sys.stderr)
    about = ""
    if result.gltf is not None:
        size = float(np.linalg.norm(np.ptp(result.mesh.bounds, axis=0)))
        about = f": {exported_text(result.gltf, size)}"
    say(f"{result.file}{about}", quiet=given.quiet)
    return 0
