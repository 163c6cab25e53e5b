"""Characters that come as tets with weights of bones, as complementary dynamics publishes them.

A folder has a tet mesh (``.mesh``, MEDIT), bones (``.tgf``), the weights of the bones at every
vertex of the mesh (``.dmat``) and a motion (``_anim.txt``). The last is not documented; it is read
as its numbers bear out. Angles [°] come about x, then y, then z. Those at rest turn the axis y into
the direction of each bone, to two digits for most; those of a frame are zero at its beginning, so
they are taken as turns of a bone about its start, within its frame at rest. The first line of a
frame, zero at its beginning too, is taken as the shift of the root; the second is left out.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import supple as sp
from supple.character import Channel, Character, Clip, Rig, RigPose, Skin, Track
from supple.character.rigs import SkeletonRig
from supple.character.skeleton.whole_skeleton import held_by_skeleton
from supple.character.tissue.volume import Volume
from supple.core.types import Floats, Ints

SCALE = 0.01
"""From the units of the file to metres: the elephant is 1.3 m tall."""


def tet_character(folder: Path) -> tuple[SkeletonRig, Volume]:
    """Rig and volume, held by the bones; the one clip is called "motion"."""
    from scipy.spatial.transform import Rotation

    about = json.loads(next(folder.glob("*.json")).read_text(encoding="utf-8"))
    mesh = _medit(folder / about["mesh_file"])
    places, bones = _bones(folder / about["handle_file"])
    weights = _weights(folder / about["weight_file"])
    lines = (folder / about["anim_file"]).read_text(encoding="utf-8").splitlines()
    count, frames = (int(word) for word in lines[0].split())
    rows = np.array([line.split() for line in lines[1:]], dtype=float).reshape(frames + 1, -1, 3)
    at_rest = Rotation.from_euler("xyz", rows[0, -count:], degrees=True)
    heads = places[bones[:, 0]]
    above = np.array([_first(bones[:, 1] == bone[0]) for bone in bones])
    roots = above < 0
    # how each bone lies in the one that it hangs on
    parent = Rotation.from_quat(np.where(roots[:, None], [0, 0, 0, 1], at_rest.as_quat()[above]))
    local = parent.inv() * at_rest
    shifts = parent.inv().apply(heads - np.where(roots[:, None], 0.0, heads[above]))
    rest = RigPose(shifts, local.as_quat(), np.ones((count, 3)))
    rig = Rig(tuple(f"bone {k}" for k in range(count)), above, rest)

    surface = mesh.boundary()
    own = np.maximum(weights[surface.vertex_ids], 0.0)
    kept = np.argsort(-own, axis=1, kind="stable")[:, :4]
    skin = Skin(
        surface.vertices, surface.triangles, np.arange(count), np.linalg.inv(rig.world(rest)), kept,
        np.take_along_axis(own, kept, axis=1),
    )  # fmt: skip
    times = about["dt"] * np.arange(frames)
    tracks = []
    for bone in range(count):
        turns = Rotation.from_euler("xyz", rows[1:, -count + bone], degrees=True)
        tracks.append(Track(bone, Channel.ROTATION, times, (local[bone] * turns).as_quat()))
        if roots[bone]:
            moved = shifts[bone] + SCALE * rows[1:, 0]
            tracks.append(Track(bone, Channel.TRANSLATION, times, moved))
    character = Character(rig, skin, {"motion": Clip("motion", tracks)})
    posed = SkeletonRig(character)
    volume = Volume(mesh, sp.Embedding(mesh, posed.surface()), np.zeros(mesh.n_vertices, bool))
    return posed, held_by_skeleton(volume, character)


def _medit(file: Path) -> sp.TetMesh:
    words = file.read_text(encoding="utf-8").split()

    def table(name: str, width: int) -> Floats:
        start = words.index(name) + 2
        count = int(words[start - 1])
        return np.array(words[start : start + count * width], dtype=float).reshape(count, width)

    cells = table("Tetrahedra", 5)[:, :4].astype(np.int64) - 1
    return sp.TetMesh(SCALE * table("Vertices", 4)[:, :3], cells)


def _bones(file: Path) -> tuple[Floats, Ints]:
    """Places of joints (j, 3) [m], and both ends of every bone (b, 2)."""
    joints, bones, *_ = file.read_text(encoding="utf-8").split("#")
    places = np.array([line.split()[1:4] for line in joints.splitlines() if line], dtype=float)
    ends = np.array([line.split()[:2] for line in bones.splitlines() if line], dtype=np.int64)
    return SCALE * places, ends - 1


def _weights(file: Path) -> Floats:
    """(vertices, bones)."""
    columns, rows, *values = file.read_text(encoding="utf-8").split()
    return np.array(values, dtype=float).reshape(int(columns), int(rows)).T


def _first(where: np.ndarray) -> int:
    found = np.flatnonzero(where)
    return int(found[0]) if len(found) else -1
