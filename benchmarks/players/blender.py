"""Blender, as the ``bpy`` wheel in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.players.frames import Frames, skinned_parts
from supple.io.gltf.document import GltfDocument
from supple.io.gltf.played import PlayedGltf

VERSION = "4.5.*"  # the line with long support whose wheel runs on Python 3.11
_RATE = 24  # frames a second that Blender counts in
_SCRIPT = Path(__file__).with_name("blender_script.py")


def environment(folder: Path) -> Path:
    """The Python of an environment with bpy; it is made where it is not there."""
    python = folder / "bpyenv" / "bin" / "python"
    if not python.exists():
        if sys.version_info[:2] != (3, 11):
            raise RuntimeError(f"bpy {VERSION} is made for Python 3.11, this is {sys.version}")
        venv.create(folder / "bpyenv", with_pip=True)
    if subprocess.run([python, "-c", "import bpy"], capture_output=True, check=False).returncode:
        command = [str(python), "-m", "pip", "install", "-q", f"bpy=={VERSION}"]
        subprocess.run(command, check=True, timeout=1800)
    return python


def compared(folder: Path, played: PlayedGltf, clips: Sequence[Frames]) -> dict[str, Any]:
    """How far Blender is from ``clips`` at most, by clip, in the units of the file."""
    python = environment(folder)
    animations = played.document.json["animations"]
    wanted = {
        "rate": _RATE,
        "clips": [
            {
                "name": animations[clip.animation].get("name", f"Anim_{clip.animation}"),
                "animation": clip.animation,
                "times": clip.times.tolist(),
            }
            for clip in clips
        ],
    }
    with tempfile.TemporaryDirectory() as place:
        asked, answer = Path(place) / "wanted.json", Path(place) / "found.npz"
        asked.write_text(json.dumps(wanted))
        without = GltfDocument(played.path)
        del without.json["animations"]
        still = Path(place) / "still.glb"
        still.write_bytes(without.packed())
        command = [python, _SCRIPT, played.path, still, asked, answer]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
        if done.returncode or not answer.exists():
            raise RuntimeError(f"Blender: {done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        found = dict(np.load(answer))
    result: dict[str, Any] = {"revision": str(found["version"]), "clips": []}
    for clip in clips:
        worst = 0.0
        for k, (name, own) in enumerate(_meshes(played)):
            theirs = found[f"clip {clip.animation} {k}"]
            if theirs.shape[1] != len(own):
                raise RuntimeError(
                    f"Blender has {theirs.shape[1]} vertices in {name}, the file {len(own)}"
                )
            off = theirs - clip.positions[:, own]
            worst = max(worst, float(np.sqrt((off**2).sum(axis=2).max())))
        result["clips"].append({"name": clip.clip, "frames": len(clip.times), "worst": worst})
    return result


def _meshes(played: PlayedGltf) -> list[tuple[str, np.ndarray]]:
    """The mesh of each node with a skin, by name, and its vertices that triangles have."""
    used = np.unique(played.rigged.character.skin.triangles)
    order: dict[int, list[np.ndarray]] = {}
    start = 0
    for part in skinned_parts(played):
        inside = np.isin(part.first + np.arange(part.count), used)
        order.setdefault(part.node, []).append(start + np.flatnonzero(inside))
        start += part.count
    nodes, meshes = played.document.json["nodes"], played.document.json["meshes"]
    listed = []
    for node, own in order.items():
        mesh = nodes[node]["mesh"]
        listed.append((meshes[mesh].get("name", f"Mesh_{mesh}"), np.concatenate(own)))
    return sorted(listed, key=lambda pair: pair[0])
