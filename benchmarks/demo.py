"""What a person waits for in ``supple demo``: all of it, and its parts, compiled.

In a process of its own, with every core: the time on the clock, and the processor's, which others
on the machine disturb less. Python keeps what it compiles, as it does where nobody forbids it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from benchmarks.timing import table

BAR = 15.0
"""Seconds that all of it may take on two cores with nothing else running."""

_CODE = """
import json, sys, time

def now():
    return time.perf_counter(), time.process_time()

def since(begun):
    return [after - before for after, before in zip(now(), begun)]

start = now()
from supple.workflows.demonstration import demo
parts = {"imports": since(start)}
begun = now()
found = []
result = demo(sys.argv[1], found=lambda _: found.append(since(begun)))
parts["scene, model and design"] = found[0]
parts["comparison, motions and report"] = [a - b for a, b in zip(since(begun), found[0])]
parts["all"] = since(start)
named = dict(result.timings) | {"Design": result.fit.report.seconds}
print(json.dumps([parts, named]))
"""


def main() -> None:
    """Print seconds of the second run, the first one may have to compile."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            call = [sys.executable, "-c", _CODE, folder]
            told = subprocess.run(
                call, check=True, capture_output=True, text=True, env=environment
            ).stdout
    parts, named = json.loads(told)
    print(table(["what", "clock [s]", "processor [s]"], [[k, *v] for k, v in parts.items()]))
    print()
    print(table(["of which", "clock [s]"], list(named.items())))
    print(f"\nall of it in {parts['all'][0]:.1f} s; the bar is {BAR:g} s on two quiet cores")


if __name__ == "__main__":
    main()
