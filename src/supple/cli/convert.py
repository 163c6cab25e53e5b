"""``supple convert``: one kind of file to another, by the endings of their names."""

from __future__ import annotations

import argparse
from pathlib import Path

from supple.cli.failures import DONE, MISSED, noting
from supple.cli.progress import Reporter, say
from supple.cli.values import asked
from supple.workflows.converting import convert

_OPTIONS = "edge voxels epsilon scale up skin fps tolerance targets"


def command(given: argparse.Namespace) -> int:
    label = f"writing {Path(given.target).name}"
    with noting(given), Reporter(label, quiet=given.quiet) as reporter:
        options = asked(given, _OPTIONS)
        result = convert(given.source, given.target, **options, progress=reporter)
    about = "" if result.gltf is None else f": {result.gltf}"
    say(f"{result.file}{about}", quiet=given.quiet)
    return DONE if result.gltf is None or result.gltf.met else MISSED
