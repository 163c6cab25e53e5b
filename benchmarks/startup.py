"""What a user waits for: ``import supple``, and the quickstart with cold and warm kernel caches."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from benchmarks.timing import table

SIMULATION = "import supple as sp; sp.TetMesh, sp.Body, sp.StVK, sp.Rayleigh, sp.Simulation"
PLAYER = "import supple as sp; sp.load_pose_space_model, sp.PoseSimulation"
QUICKSTART = """
import supple as sp
beam = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(20, 4, 4))
body = sp.Body(beam, sp.StVK(young=1e6, poisson=0.4, density=1000), fixed=beam.where(x=0))
sim = sp.Simulation(body, damping=sp.Rayleigh(mass=0.1, stiffness=1e-3),
                    integrator=sp.Bathe(), dt=1/60, gravity=(0, 0, -9.81))
motion = sim.run(2.0)
"""


def seconds(code: str, cache: str) -> float:
    start = time.perf_counter()
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        bare = min(seconds("pass", cache) for _ in range(5))
        rows = [
            *(
                [what, min(seconds(code, cache) for _ in range(5)) - bare]
                for what, code in (
                    ("import supple", "import supple"),
                    ("what loads and steps a character", PLAYER),
                    ("what simulates a body", SIMULATION),
                )
            ),
            ["quickstart, first call (compiles)", seconds(QUICKSTART, cache)],
            ["quickstart, later calls", min(seconds(QUICKSTART, cache) for _ in range(3))],
        ]
    print(table(["what", "seconds"], rows))
