"""``supple info``: what is in a file."""

from __future__ import annotations

import argparse
import contextlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from supple import InputError, MeshError, Surface, VolumeMesh, read_mesh, read_motion, read_surface
from supple.character.model.file import is_pose_space_file
from supple.cli.info_character import character_facts, character_rows, flesh_facts, flesh_rows
from supple.cli.info_damping import damping_facts, damping_rows
from supple.cli.info_model import model_facts, model_rows
from supple.cli.progress import say
from supple.damping.files.damping_file import is_damping_file
from supple.dynamics.recording import is_motion_file, read_metadata
from supple.mesh import MESH_FORMATS, SURFACE_FORMATS
from supple.reduction.model_file import is_model_file


def command(given: argparse.Namespace) -> int:
    path = Path(given.file)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = _described(path)
    notes = [str(note.message) for note in caught]
    if notes:
        found["notes"] = notes
    if given.json:
        say(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        for line in _lines(found):
            say(line)
    return 0


def load(path: Path) -> VolumeMesh | Surface:
    """A mesh or a surface, by the ending of the file's name."""
    refuse_models(path)
    ending = path.suffix.lower()
    if ending not in (*MESH_FORMATS, *SURFACE_FORMATS):
        raise InputError(
            f"{path}: {f'{ending} is not known' if ending else 'its name has no ending'}; known "
            f"are meshes ({', '.join(MESH_FORMATS)}), surfaces ({', '.join(SURFACE_FORMATS)}), "
            "recorded motions (.motion) and, for supple info, reduced models (.supple), scenes and "
            "dampings (.toml)"
        )
    if ending not in SURFACE_FORMATS:
        return read_mesh(path)
    if ending in MESH_FORMATS:  # it may hold either
        with contextlib.suppress(MeshError):
            return read_mesh(path)
    return read_surface(path)


def refuse_models(path: Path) -> None:
    """Stops at files of models, which hold no mesh to take; the message says what they are for."""
    if path.is_file() and is_pose_space_file(path):
        raise InputError(
            f"{path} is a model of flesh, which moves with a character: use supple enrich "
            f"CHARACTER --model {path}, with --output for .glb, .usdc, .npz, .pc2 or .mdd"
        )
    if path.is_file() and is_model_file(path):
        raise InputError(f"{path} is a reduced model; supple play {path} --export writes a run")


def is_motion(path: Path) -> bool:
    """Whether a file is a recorded motion; stops where only its name says so."""
    if is_motion_file(path):
        return True
    if path.suffix.lower() == ".motion":
        raise InputError(f"{path} is damaged, or no motion file: it does not begin like one")
    return False


def unfinished(path: Path, frames: int) -> str | None:
    """What to say of a motion whose run was not finished: its checkpoint is still there."""
    if not path.with_name(path.name + ".checkpoint").exists():
        return None
    return (
        f"{path} is unfinished: it has {frames} frames so far; if its run was stopped, supple run "
        "with --resume goes on with it"
    )


def _described(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if is_motion(path):
        return {"file": str(path), **_motion(path)}
    if is_model_file(path):
        return {"file": str(path), **model_facts(path)}
    if is_pose_space_file(path):
        return {"file": str(path), **flesh_facts(path)}
    if path.suffix.lower() == ".supple":
        raise InputError(f"{path} is damaged, or no reduced model: it does not begin like one")
    if is_damping_file(path):
        return {"file": str(path), **damping_facts(path)}
    if path.suffix.lower() == ".toml":
        return {"file": str(path), **_scene(path)}
    loaded = load(path)
    made = _surface(loaded) if isinstance(loaded, Surface) else _mesh(loaded)
    character = character_facts(path)
    if character is not None:
        made["character"] = character
    return {"file": str(path), **made}


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
        "kind": {4: "tets", 8: "bricks", 10: "quadratic tets"}[mesh.cell_nodes],
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
    return {
        "kind": "motion",
        "mesh": repr(motion.mesh),
        "vertices": motion.mesh.n_vertices,
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


def _scene(path: Path) -> dict[str, Any]:
    from supple.cli.facts import facts
    from supple.io.scene.scene import load_scene

    scene = load_scene(path)
    return {"kind": "scene", "title": scene.title, "facts": dict(facts(scene))}


def _memory(mesh: VolumeMesh) -> int:
    """Roughly the bytes that a simulation takes: matrices, and a Cholesky factor that fills in."""
    neighbours, fill = {4: (15, 10), 8: (27, 18), 10: (28, 14)}[mesh.cell_nodes]
    n = mesh.n_vertices
    matrices = 5 * 72 * n * (neighbours + 1) // 2
    factor = 4 * fill * (3 * n) ** (4 / 3)
    return int(200e6 + matrices + factor)


def _lines(found: dict[str, Any]) -> list[str]:
    kind = found["kind"]
    if kind == "scene":
        rows = [("title", found["title"]), *found["facts"].items()]
        head = f"{found['file']}: a scene, and nothing wrong with it"
    elif kind == "motion":
        rows, head = _motion_rows(found), f"{found['file']}: a motion of {found['mesh']}"
    elif kind == "reduced model":
        rows, head = model_rows(found), f"{found['file']}: a reduced model of {found['mesh']}"
    elif kind == "pose-space model":
        rows, head = flesh_rows(found), f"{found['file']}: a model of flesh, {found['mesh']}"
    elif kind == "damping":
        rows, head = damping_rows(found), f"{found['file']}: a damping"
    elif "character" in found:
        rows = [*character_rows(found["character"]), *_surface_rows(found)]
        head = f"{found['file']}: a character and its skin"
    elif kind == "surface":
        rows, head = _surface_rows(found), f"{found['file']}: a surface"
    else:
        rows, head = _mesh_rows(found), f"{found['file']}: a solid of {kind}"
    rows += [("note", note) for note in found.get("notes", ())]
    width = max(len(name) for name, _ in rows)
    return [head, *(f"  {name:<{width}}  {value}" for name, value in rows)]


def _mesh_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    skin = found["boundary"]
    rows = [
        ("vertices", f"{found['vertices']:,}"),
        ("cells", f"{found['cells']:,}"),
        ("volume", f"{found['volume']:.6g} m³"),
        *_place_rows(found),
        ("quality", f"worst {found['quality']['worst']:.3f}, mean {found['quality']['mean']:.3f} "
                    "(1 is best)"),
        ("boundary", f"{skin['triangles']:,} triangles, {skin['area']:.6g} m², "
                     f"{'closed' if skin['closed'] else 'not closed'}"),
        ("memory", f"about {found['memory'] / 1e6:,.0f} MB to simulate"),
    ]  # fmt: skip
    for name, region in found["regions"].items():
        text = f"{region['cells']:,} cells, {region['volume']:.6g} m³"
        if "young" in region:
            text += (
                f"; Young's modulus {region['young']:.4g} Pa, Poisson ratio "
                f"{region.get('poisson', float('nan')):.4g}, density "
                f"{region.get('density', float('nan')):.4g} kg/m³"
            )
        rows.append((f"region {name}", text))
    return rows


def _surface_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    inside = f", {found['volume']:.6g} m³ inside" if "volume" in found else ""
    return [
        ("vertices", f"{found['vertices']:,}"),
        ("triangles", f"{found['triangles']:,}"),
        ("area", f"{found['area']:.6g} m²"),
        *_place_rows(found),
        ("closed", f"{'yes' if found['closed'] else 'no'}{inside}"),
    ]


def _place_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    low, high = found["bounds"]
    spans = ", ".join(f"{a} {x:.4g} to {y:.4g}" for a, x, y in zip("xyz", low, high, strict=True))
    shortest, longest = found["edges"]
    return [("bounds", f"{spans} m"), ("edges", f"{shortest:.4g} to {longest:.4g} m")]


def _motion_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    rate = found["frame rate"]
    rows = [
        ("frames", f"{found['frames']:,}" + (f", {rate:.4g} a second" if rate else "")),
        ("time", f"{found['start']:.6g} to {found['start'] + found['duration']:.6g} s"),
        ("moves", f"up to {found['largest displacement']:.4g} m from its first frame"),
    ]
    for name, energy in found["energies"].items():
        first, most, last = energy["first"], energy["largest"], energy["last"]
        rows.append((name, f"{first:.4g} J at first, at most {most:.4g} J, {last:.4g} J at last"))
    rows.append(("size", f"{found['bytes'] / 1e6:,.1f} MB"))
    rows += [(f"text {name}", f"{count} characters") for name, count in found["texts"].items()]
    return rows
