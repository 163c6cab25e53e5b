"""``supple info`` from Python: what is in a file."""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from supple.character.model.file import is_pose_space_file, load_pose_space_model
from supple.character.rigs.skeleton import SkeletonRig
from supple.core.errors import InputError, spelled
from supple.core.types import Floats
from supple.damping import Damping, ExampleDamping, load_damping
from supple.damping.files.damping_file import is_damping_file
from supple.dynamics.motion import Motion
from supple.dynamics.recording import read_metadata, read_motion
from supple.io.scene.scene import load_scene
from supple.io.shown_bodies import shown_bodies
from supple.mesh import MeshGroup, Surface, VolumeMesh
from supple.reduction import load_model
from supple.reduction.errors.told import known_of, notes_of
from supple.reduction.model_file import is_model_file
from supple.workflows.enrich.result import cubature_errors
from supple.workflows.enrich.soft_character import flesh_frequency
from supple.workflows.forecast import forecast
from supple.workflows.loading import character_facts, is_motion, load_mesh, unfinished
from supple.workflows.words import CELLS, base_text, facts


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What is in a mesh, surface, motion, model, scene or damping file, as ``supple info --json``.

    ``kind`` says what it is, ``notes`` what to look at; the other names follow from the kind. All
    values are numbers [SI units], texts, lists and dictionaries of them.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = {"file": str(path), **_described(Path(path))}
    notes = [*found.pop("notes", ()), *(str(note.message) for note in caught)]
    return {**found, "notes": notes} if notes else found


def _described(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if is_motion(path):
        return _motion(path)
    if is_model_file(path):
        return _model(path)
    if is_pose_space_file(path):
        return _flesh(path)
    if path.suffix.lower() == ".supple":
        raise InputError(f"{path} is damaged, or no reduced model: it does not begin like one")
    if is_damping_file(path):
        return _damping(path)
    if path.suffix.lower() == ".toml":
        return _scene(path)
    loaded = load_mesh(path)
    made = _surface(loaded) if isinstance(loaded, Surface) else _mesh(loaded)
    character = character_facts(path)
    return made if character is None else {**made, "character": character}


def _flesh(path: Path) -> dict[str, Any]:
    model = load_pose_space_model(path)
    rig, mesh = model.tet_rig.rig, model.tet_rig.mesh
    return {
        "kind": "pose-space model",
        "mesh": repr(mesh),
        "rig": type(rig).__name__,
        "joints": rig.character.rig.n_joints - 1 if isinstance(rig, SkeletonRig) else None,
        "skin vertices": len(model.skin_cells),
        "coordinates": model.n_coordinates,
        "poses": model.n_poses,
        "cubature cells": len(model.cells),
        "cubature errors": cubature_errors(model),
        "frequency": flesh_frequency(model),
        "bytes": path.stat().st_size,
    }


def _scene(path: Path) -> dict[str, Any]:
    scene = load_scene(path)
    ahead = asdict(forecast(scene))
    notes = list(ahead.pop("warnings"))
    return {
        "kind": "scene",
        "title": scene.title,
        "facts": dict(facts(scene)),
        "forecast": ahead,
        "notes": notes,
    }


def _mesh(mesh: VolumeMesh) -> dict[str, Any]:
    edges, quality = mesh.edge_lengths(), mesh.quality()
    skin = mesh.boundary()
    regions = {
        name: {
            "cells": len(cells),
            "volume": float(mesh.volumes[cells].sum()),
            **{key: float(value) for key, value in mesh.properties.get(name, {}).items()},
        }
        for name, cells in mesh.regions.items()
    }
    return {
        "kind": CELLS[mesh.cell_nodes],
        "vertices": mesh.n_vertices,
        "cells": mesh.n_cells,
        "volume": mesh.volume,
        "bounds": mesh.bounds.tolist(),
        "edges": [float(edges.min()), float(edges.max())],
        "quality": {"worst": float(quality.min()), "mean": float(quality.mean())},
        "boundary": {"triangles": skin.n_triangles, "area": skin.area, "closed": skin.is_closed},
        "regions": regions,
        "memory": _memory(mesh),
    }


def _surface(surface: Surface) -> dict[str, Any]:
    corners = surface.vertices[surface.triangles]
    edges = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)
    made = {
        "kind": "surface",
        "vertices": surface.n_vertices,
        "triangles": surface.n_triangles,
        "area": surface.area,
        "bounds": surface.bounds.tolist(),
        "edges": [float(edges.min()), float(edges.max())],
        "closed": surface.is_closed,
    }
    if surface.is_closed:
        made["volume"] = surface.volume
    return made


def _motion(path: Path) -> dict[str, Any]:
    motion, texts = read_motion(path), read_metadata(path)
    note = unfinished(path, len(motion))
    if note is not None:
        warnings.warn(note, stacklevel=2)
    moved = np.linalg.norm(motion.displacements - motion.displacements[0], axis=2)
    energies = {
        name: {"first": float(v[0]), "largest": float(v.max()), "last": float(v[-1])}
        for name in ("kinetic", "elastic", "gravitational", "dissipated")
        for v in (getattr(motion, name),)
    }
    bodies = _bodies(motion)
    return {
        "kind": "motion",
        "mesh": f"{len(bodies)} bodies" if bodies else repr(motion.mesh),
        "vertices": motion.mesh.n_vertices,
        "bodies": bodies,
        "frames": len(motion),
        "finished": note is None,
        "start": float(motion.times[0]),
        "duration": motion.duration,
        "frame rate": motion.frame_rate if len(motion) > 1 else None,
        "largest displacement": float(moved.max()),
        "energies": energies,
        "texts": {name: len(text) for name, text in texts.items()},
        "bytes": path.stat().st_size,
    }


def _bodies(motion: Motion) -> dict[str, dict[str, Any]]:
    """Of several bodies each by its name: its mesh, and how far it moves [m]."""
    if not isinstance(motion.mesh, MeshGroup):
        return {}
    found = {}
    for body in shown_bodies(motion):
        moved = np.linalg.norm(body.motion.displacements - body.motion.displacements[0], axis=2)
        found[body.name] = {
            "mesh": repr(body.motion.mesh),
            "vertices": body.motion.mesh.n_vertices,
            "largest displacement": float(moved.max()),
        }
    return found


def _memory(mesh: VolumeMesh) -> int:
    """Roughly the bytes that a simulation takes: matrices, and a Cholesky factor that fills in."""
    neighbours, fill = {4: (15, 10), 8: (27, 18), 10: (28, 14)}[mesh.cell_nodes]
    n = mesh.n_vertices
    matrices = 5 * 72 * n * (neighbours + 1) // 2
    factor = 4 * fill * (3 * n) ** (4 / 3)
    return int(200e6 + matrices + factor)


def _model(path: Path) -> dict[str, Any]:
    model = load_model(path)
    made = {
        "kind": "reduced model",
        "mesh": repr(model.mesh),
        "coordinates": model.size,
        "free": model.floating is not None,
        "frequencies": model.frequencies.tolist(),
        "frequency errors": _numbers(model.frequency_errors),
        "locking": model.locking,
        "against the body": dict(known_of(model)),
        "regions": {
            " and ".join(group.regions) or "the rest": {
                "cells": len(group.cells),
                "young": group.young,
                "poisson": group.poisson,
                "density": group.density,
            }
            for group in model.groups
        },
        "skin vertices": None if model.skin is None else len(model.skin.vertices),
        "bytes": path.stat().st_size,
    }
    if notes := notes_of(model):
        made["notes"] = [spelled(note, lambda parameter: parameter.name) for note in notes]
    if model.cubature is not None:
        found = model.cubature
        errors = {"training error": found.training_error, "test error": found.test_error}
        made["cubature"] = {
            "cells": model.cubature.size,
            "of": model.cubature.kind,
            **{name: None if math.isnan(error) else error for name, error in errors.items()},
        }
    return made


def _numbers(array: Floats | None) -> list[float] | None:
    return None if array is None else [float(x) for x in array]


def _damping(path: Path) -> dict[str, Any]:
    damping = load_damping(path)
    made: dict[str, Any] = {"kind": "damping", "examples": []}
    if not isinstance(damping, Damping):
        return {**made, "base": "; ".join(map(base_text, damping)) or "none"}
    if not isinstance(damping, ExampleDamping):
        return {**made, "base": base_text(damping)}
    made["examples"] = [
        {
            "name": example.name or f"example {i + 1}",
            "vertices": len(example.shape),
            "amplitude": example.amplitude,
            "measure": example.measure.value,
            "curve": example.curve.table(),
            "in words": str(example.curve),
        }
        for i, example in enumerate(damping.examples)
    ]
    made |= {"base": "; ".join(map(base_text, damping.bases)), "symmetric": damping.symmetric}
    made["overall"] = None if damping.overall is None else str(damping.overall)
    made["about"] = "the rest shape" if damping.about is None else "a shape of its own"
    return made
