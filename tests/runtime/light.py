"""Runs every kind of finished model; started by itself, with NumPy and Numba alone.

    python light.py FOLDER RESULT.npz

``motions`` loads the files of a folder and steps what is in them.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import numpy as np

ALLOWED = ("numpy", "numba", "llvmlite", "supple")
STEPS = 6


class Forbidding(MetaPathFinder):
    """Refuses to import any installed package but those allowed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        top = name.partition(".")[0]
        if top not in ALLOWED and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"{name} must not be needed", name=name)


def motions(folder: Path) -> dict[str, np.ndarray]:
    """What each model has come to, by name."""
    found = {}
    for path in sorted(folder.glob("*.supple")):
        moved = _of_pose_model if path.stem.startswith("pose") else _of_model
        found |= {f"{path.stem}, {name}": x for name, x in moved(path, folder).items()}
    return found


def _rules() -> dict[str, Any]:
    from supple.integrators import INTEGRATORS, ImplicitIntegrator

    return {rule.__name__: rule() for rule in INTEGRATORS if issubclass(rule, ImplicitIntegrator)}


def _dampings(folder: Path, stem: str) -> dict[str, Any]:
    import supple as sp

    named = {"none": None, "Rayleigh": sp.Rayleigh(mass=0.2, stiffness=1e-3)}
    named["at rest"] = sp.Rayleigh(stiffness=1e-3, at=sp.StiffnessAt.REST)
    for path in sorted(folder.glob(f"{stem} *.damping")):
        named[path.stem.removeprefix(stem)] = sp.load_damping(path)
    return named


# -- characters --------------------------------------------------------------------------


def _of_pose_model(path: Path, folder: Path) -> dict[str, np.ndarray]:
    import supple as sp

    model = sp.load_pose_space_model(path)
    options: dict[str, dict[str, Any]] = {"defaults": {}}
    if path.stem == "pose skeleton":
        options |= {name: {"integrator": rule} for name, rule in _rules().items()}
        options |= {name: {"damping": d} for name, d in _dampings(folder, path.stem).items()}
        options["one iteration"] = {"solver": sp.DenseNewton(iterations=1), "substeps": 2}
        options["single precision"] = {"dtype": np.float32, "gravity": (0, 0, -9.81)}
    found = {}
    poses = _way(model)
    for name, given in options.items():
        live = sp.PoseSimulation(model, **given)
        for k, pose in enumerate(poses):
            pull = live.pull(3, (0.0, 1.0, 2.0)) if k == 2 else None
            live.step(pose, force=pull, wind=sp.Wind(velocity=(3, 0, 1)) if k == 3 else None)
        live.teleport(poses[0])
        live.step(poses[1])
        found[name] = np.concatenate([live.q, live.v, live.vertices().ravel(), [live.elastic]])
    crowd = sp.PoseCrowd(model, copies=2)
    for one, two in zip(poses, poses[::-1], strict=True):
        crowd.step(np.stack([one, two]))
    return {**found, "crowd": np.concatenate([crowd.q.ravel(), crowd.vertices().ravel()])}


def _way(model: Any) -> np.ndarray:
    """Poses (STEPS, d) on the way to the last one that has a model; some of a clip, if any."""
    rig = model.tet_rig.rig
    shares = np.linspace(0.2, 1.0, STEPS)
    way = np.array([rig.between(model.poses[0], model.poses[-1], share) for share in shares])
    if hasattr(rig, "poses_of_clip"):
        way[-2:] = rig.poses_of_clip(None, [0.3, 0.7])
    return way


# -- other reduced models ----------------------------------------------------------------


def _of_model(path: Path, folder: Path) -> dict[str, np.ndarray]:
    import supple as sp

    model = sp.load_model(path)
    tip = int(model.mesh.vertices.sum(axis=1).argmax())
    options: dict[str, dict[str, Any]] = {
        name: {"damping": d} for name, d in _dampings(folder, path.stem).items()
    }
    if path.stem == "reduced StVK":
        options |= {name: {"integrator": rule} for name, rule in _rules().items()}
        options["by region"] = {"damping": sp.Rayleigh(mass={"far": 0.5}, stiffness={"far": 3e-3})}
        options["Caughey"] = {"damping": sp.Caughey((0.5, 1e-3, 1e-10))}
    found = {}
    for name, given in options.items():
        live = model.simulation(dt=0.01, **given)
        live.step(force=model.pull(tip, (0.0, 1.0, -3.0)))
        live.run_steps(STEPS)
        found[name] = np.concatenate([live.q, live.v, live.displacements().ravel()])
    if model.floating is None:
        crowd = model.simulation(copies=3, damping=sp.Rayleigh(stiffness=1e-3), dt=0.01)
        crowd.step(force=np.tile(model.pull(tip, (0.0, 1.0, -3.0)), (3, 1)))
        found["crowd"] = np.array(crowd.q)
        found["frequencies"] = model.frequencies
    return found


if __name__ == "__main__":
    sys.meta_path.insert(0, Forbidding())
    folder, result = map(Path, sys.argv[1:])
    np.savez(result, **motions(folder))
