"""Two cards that lean on each other on a floor, stiff beside their weight."""

from __future__ import annotations

import numpy as np

import supple as sp

_LEAN = 0.35  # rad
_LENGTH, _THICKNESS = 0.1, 0.002  # m
_CLOTH = sp.IsotropicCloth(young=1e5, poisson=0.3, thickness=1e-3, areal_density=1.0)


def card(lean: float, foot: float) -> sp.Body:
    """Turned about its lower edge, which is at x = ``foot`` [m]."""
    mesh = sp.TetMesh.box(size=(_THICKNESS, 0.06, _LENGTH), cells=(1, 2, 4))
    X = mesh.vertices - (_THICKNESS / 2, 0.03, 0.0)
    c, s = np.cos(lean), np.sin(lean)
    X = X @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]) + (foot, 0.0, 1.2e-3)
    material = sp.NeoHookean(young=1e8, poisson=0.4, density=1000)
    return sp.Body(sp.TetMesh(X, mesh.cells), material, mass_model=sp.LumpedMass())


def leaning(friction: float, dt: float) -> sp.Simulation:
    """Just apart as they start; what slips by a quarter of a micrometre a step slides."""
    floor = sp.SheetMesh.grid(size=(1, 1), cells=(1, 1))
    floor = sp.SheetMesh(floor.vertices - (0.5, 0.5, 0.0), floor.cells)
    out = _LENGTH * np.sin(_LEAN) + 1.2e-3
    return sp.Simulation(
        [card(_LEAN, -out), card(-_LEAN, out), sp.Cloth(floor, _CLOTH, fixed=np.arange(4))],
        integrator=sp.BackwardEuler(),
        self_contact=sp.SelfContact(distance=1e-4, friction=friction, sticking_speed=1e-5),
        gravity=(0, 0, -9.81),
        dt=dt,
    )
