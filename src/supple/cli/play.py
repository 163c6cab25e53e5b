"""``supple play``: a reduced model is pulled and let go, and comes to life in a page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from supple.cli.progress import Reporter, say
from supple.cli.values import asked
from supple.workflows.playing import PlayResult, play


def command(given: argparse.Namespace) -> int:
    with Reporter(Path(given.model).name, quiet=given.quiet) as reporter:
        options = asked(given, "export size pull seconds dt damping gravity up")
        result = play(given.model, given.output, **options, progress=reporter)
    say("\n".join(_lines(result, given.model)), quiet=given.quiet)
    if not result.skinned:
        note = "the skin is too large for a page; it draws the boundary of the mesh instead"
        print(f"note: {note}", file=sys.stderr)
    how = "drag it with the mouse" if result.live else "it shows this run"
    say(f"Look: open {result.page} in a browser; {how}.", quiet=given.quiet)
    return 0


def _lines(result: PlayResult, source: str) -> list[str]:
    lines = [f"{source}: {result.model!r}"]
    for vertex, (x, y, z) in result.forces:
        lines.append(f"  pulled  vertex {vertex} with ({x:.3g}, {y:.3g}, {z:.3g}) N")
    micro = 1e6 * result.step_seconds
    lines += [
        f"  moved   {result.moved:.3g} m, then let go",
        f"  ran     {len(result.times) * result.every:,} steps of {1e3 * result.dt:.3g} ms in "
        f"{result.times.sum():.3g} s",
        f"  rate    {micro:.3g} µs a step, {1e6 / micro:,.0f} steps a second, "
        f"{1e6 * result.dt / micro:,.0f} × real time",
    ]
    if result.exported is not None:
        about = "" if result.gltf is None else f": {result.gltf}"
        lines.append(f"  {result.exported}{about}")
    return lines
