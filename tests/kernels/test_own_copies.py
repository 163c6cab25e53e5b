"""The same input gives the same bytes, whatever a process has compiled or loaded before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from supple._kernels.compiling import kernel, pointwise

_PROGRAM = """
import hashlib
import supple as sp

beam = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(6, 2, 2))
body = sp.Body(beam, sp.StVK(young=1e6, poisson=0.4, density=1000), fixed=beam.where(x=0))
sim = sp.Simulation(body, damping=sp.Rayleigh(stiffness=2e-3), gravity=(0, 0, -9.81), dt=1 / 60)
motion = sim.run(0.1)
print(hashlib.sha256(motion.displacements.tobytes()).hexdigest())
"""


@pointwise
def _half(x):
    return 0.5 * x


@kernel
def _halves(x):
    for i in range(len(x)):
        x[i] = _half(x[i])


def test_kernels_call_their_own_copies_alone() -> None:
    """The linker looks nowhere else for what is internal; for what is weak it does."""
    x = np.ones(3)
    _halves(x)
    assert x.tolist() == [0.5, 0.5, 0.5]
    _halves.recompile()  # one from the cache cannot be looked into
    (compiled,) = _halves.overloads.values()
    linkage = {function.linkage.name for function in compiled.library.get_defined_functions()}
    assert "internal" in linkage
    assert not linkage & {"linkonce_odr", "linkonce_any", "weak_odr", "weak_any"}


@pytest.mark.verify
def test_who_compiles_and_who_loads_agree_to_the_last_bit(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    told = [
        subprocess.run(
            [sys.executable, "-c", _PROGRAM], env=environment, check=True, capture_output=True
        ).stdout
        for _ in range(2)
    ]
    assert told[0] == told[1]
