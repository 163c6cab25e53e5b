"""What the tests of the command line share."""

import subprocess
import sys

SCENE = """
title = "Bar"
gravity = [0, 0, -9.81]
[mesh]
box = { size = [1.0, 0.2, 0.2], cells = [3, 1, 1] }
[material]
model = "StVK"
young = 1e5
poisson = 0.3
[[supports]]
x = 0
[time]
duration = 0.1
fps = 60
"""


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "supple.cli", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )
