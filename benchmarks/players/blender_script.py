"""Run by Blender's Python: the vertices that it shows, at the times asked for.

Arguments: the .glb file, the same file without its clips, a JSON file with clips and times, and
the .npz file to write.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np


def main(file: str, still: str, wanted: str, target: str) -> None:
    with open(wanted) as opened:
        asked = json.load(opened)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=still)
    rest = {name: matrix for name, _, matrix in poses()}
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = asked["rate"], 1.0
    bpy.ops.import_scene.gltf(filepath=file)
    found: dict[str, Any] = {"version": bpy.app.version_string}
    for clip in asked["clips"]:
        choose(clip["name"])
        for name, bone, _ in poses():
            bone.matrix_basis = rest[name]
        frames: list[list[np.ndarray]] = [[] for _ in skinned()]
        for time in clip["times"]:
            frame = time * asked["rate"]
            whole = int(np.floor(frame + 1e-6))
            scene.frame_set(whole, subframe=min(max(frame - whole, 0.0), 0.999999))
            graph = bpy.context.evaluated_depsgraph_get()
            for k, item in enumerate(skinned()):
                frames[k].append(shown(item, graph))
        for k, positions in enumerate(frames):
            found[f"clip {clip['animation']} {k}"] = np.stack(positions).astype(np.float32)
    np.savez(target, **found)


def poses() -> Iterator[tuple[Any, Any, Any]]:
    """The name of each bone, itself, and how it lies."""
    for item in bpy.data.objects:
        for bone in item.pose.bones if item.pose else ():
            yield bone.name, bone, bone.matrix_basis.copy()


def skinned() -> list[Any]:
    """Objects that follow an armature, in the order of the names of their meshes."""
    meshes = [item for item in bpy.data.objects if item.type == "MESH"]
    return sorted(
        (item for item in meshes if any(m.type == "ARMATURE" for m in item.modifiers)),
        key=lambda item: item.data.name,
    )


def choose(clip: str) -> None:
    """Lets every object play the clip of this name, or rest where it has none."""
    holders = [item for item in bpy.data.objects if item.animation_data]
    holders += [key for key in bpy.data.shape_keys if key.animation_data]
    for holder in holders:
        data = holder.animation_data
        data.action = None
        for track in data.nla_tracks:
            track.mute = True
            if track.name == clip:
                strip = track.strips[0]
                data.action = strip.action
                if hasattr(strip, "action_slot") and strip.action_slot is not None:
                    data.action_slot = strip.action_slot
        if data.action is None and isinstance(holder, bpy.types.Key):
            for block in holder.key_blocks:
                block.value = 0.0


def shown(item: Any, graph: Any) -> np.ndarray:
    """Vertices of an object in the world, (n, 3), y up."""
    evaluated = item.evaluated_get(graph)
    mesh = evaluated.to_mesh()
    x = np.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", x)
    evaluated.to_mesh_clear()
    matrix = np.array(evaluated.matrix_world)
    return y_up(x.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])


def y_up(x: np.ndarray) -> np.ndarray:
    """Blender has z up, glTF y."""
    return np.stack([x[:, 0], x[:, 2], -x[:, 1]], axis=1)


if __name__ == "__main__":
    main(*sys.argv[-4:])
