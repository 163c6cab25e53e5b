"""What users' tools read of the package: types, and how to cite it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import supple

_PROGRAM = """
from pathlib import Path
from typing import assert_type

import numpy as np
import numpy.typing as npt

import supple as sp

mesh = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(4, 1, 1))
body = sp.Body(mesh, sp.StVK(young=1e6, poisson=0.4, density=1000), fixed=mesh.where(x=0))
assert_type(mesh.vertices, npt.NDArray[np.float64])

sim = sp.Simulation(
    body,
    damping=[sp.Rayleigh(mass=0.1, stiffness=1e-3), sp.StrainRate(shear=5.0, bulk=2.0)],
    integrator=sp.Bathe(),
    solver=sp.Newton(),
    obstacles=[sp.Plane(normal=(0, 0, 1), offset=-1.0, friction=0.4)],
    dt=1 / 60,
    gravity=(0, 0, -9.81),
)
sim.step(force=np.zeros((body.n_vertices, 3)))
assert_type(sim.state.u, npt.NDArray[np.float64])
assert_type(sim.run(0.1), sp.Motion)

modes = sp.vibration_modes(body, 4)
example = sp.Example(modes.shapes[0], curve=sp.Curve.constant(3.0))
damping = sp.ExampleDamping(sp.Rayleigh(stiffness=1e-3), [example])
model = sp.reduce(body, sp.modal_derivative_basis(body, modes=4, size=6))
live = model.simulation(damping=damping, integrator=sp.Newmark(), dt=1e-3)
live.run_steps(10)


def again(folder: Path) -> sp.ReducedModel:
    path = folder / "beam.supple"
    model.save(path)
    try:
        return sp.load_model(path)
    except sp.InputError as error:
        raise SystemExit(str(error)) from error

"""

_WRONG = """
import supple as sp

mesh = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(4, 1, 1))
sp.Body(mesh, "rubber")
sp.Newton(max_iterations="many")
sp.Simulation(mesh)
sp.SimulationOfCheese
"""


def checked(program: str, folder: Path) -> tuple[int, str]:
    """Exit code and output of ``mypy --strict``, without the settings of this repository."""
    pytest.importorskip("mypy")
    (folder / "program.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "program.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("typed")


def test_programs_of_users_are_checked(folder: Path) -> None:
    assert checked(_PROGRAM, folder) == (0, "Success: no issues found in 1 source file\n")


def test_mistakes_of_users_are_found(folder: Path) -> None:
    code, output = checked(_WRONG, folder)
    assert code == 1
    errors = [line for line in output.splitlines() if ": error:" in line]
    assert [int(line.split(":")[1]) for line in errors] == [5, 6, 7, 8]


def test_citation_is_that_of_the_version() -> None:
    citation = Path(__file__).parents[2].joinpath("CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [supple.__version__]
