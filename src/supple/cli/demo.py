"""``supple demo``: a creature whose belly and ears come to rest as they are wished to."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from supple.cli.design import table, unmet
from supple.cli.failures import DONE, INTERRUPTED
from supple.cli.progress import TargetReporter, say
from supple.workflows.demonstration import demo
from supple.workflows.designing import DesignResult


def command(given: argparse.Namespace) -> int:
    began = time.perf_counter()

    def found(result: DesignResult) -> None:
        reporter.close()
        say(table(result), quiet=given.quiet)

    with TargetReporter("demo", quiet=given.quiet) as reporter:
        try:
            result = demo(given.output, progress=reporter, found=found)
        except KeyboardInterrupt:
            print(f"\nInterrupted. What was done is in {given.output}.", file=sys.stderr)
            return INTERRUPTED
    taken, scene = time.perf_counter() - began, Path(given.output) / "scene.toml"
    say(f"{taken:.0f} s in all, compiling and writing included.", quiet=given.quiet)
    say(f"Look: open {result.report} in a browser.", quiet=given.quiet)
    say(f"Then: change a wish in {scene}, and: supple design {scene}", quiet=given.quiet)
    return DONE if result.met else unmet(result.fit.report)
