"""The built-in creature as a rigged, animated file: a character to try things on."""

from __future__ import annotations

import os

import numpy as np
import pygltflib as gl
from scipy.spatial.transform import Rotation

from supple.builtin import creature
from supple.character.skeleton.bones import segment_distances
from supple.core.types import Floats, Ints
from supple.io.gltf.file import GltfFile, add_material, add_track, new_document
from supple.io.surfaces import Shading

# Name, parent, where the joint is and where its bone ends [m]; z is up, it looks towards −y.
_JOINTS: tuple[tuple[str, int, Floats, Floats], ...] = tuple(
    (name, parent, np.array(start), np.array(end))
    for name, parent, start, end in (
        ("hips", -1, (0.0, 0.03, 0.07), (0.0, 0.03, 0.12)),
        ("chest", 0, (0.0, 0.03, 0.12), (0.0, 0.01, 0.19)),
        ("head", 1, (0.0, 0.01, 0.19), (0.0, -0.02, 0.27)),
        ("left ear", 2, (0.045, 0.0, 0.29), (0.075, 0.01, 0.38)),
        ("right ear", 2, (-0.045, 0.0, 0.29), (-0.075, 0.01, 0.38)),
        ("left arm", 1, (0.085, -0.03, 0.175), (0.11, -0.055, 0.12)),
        ("right arm", 1, (-0.085, -0.03, 0.175), (-0.11, -0.055, 0.12)),
        ("left foot", 0, (0.06, -0.02, 0.03), (0.06, -0.10, 0.02)),
        ("right foot", 0, (-0.06, -0.02, 0.03), (-0.06, -0.10, 0.02)),
        ("tail", 0, (0.0, 0.06, 0.06), (0.0, 0.11, 0.06)),
    )
)
_NEAREST = 4
_SHARP = 4.0  # the power of the distance to a bone by which it loses its hold on the skin
_KEYS = 24  # a second
_SIDE, _UP = np.eye(3)[:2]  # axes of the file, y up


def write_rigged_creature(path: str | os.PathLike[str], *, resolution: int = 24) -> None:
    """Writes the built-in creature as .glb: ten joints, a skin, and three clips.

    "hop" and "shake" loop, "nod" does not. ``resolution`` is that of ``builtin.creature``.
    """
    made = creature(resolution=resolution)
    assert made.skin is not None
    assert made.colors is not None
    surface = made.skin.surface
    bones, weights = _weights(surface.vertices)
    shading = Shading.cut(surface.vertices, surface.triangles, 180.0)
    place = shading.source
    file = GltfFile()
    primitive = gl.Primitive(
        attributes=gl.Attributes(
            POSITION=file.vectors(_y_up(surface.vertices[place])),
            NORMAL=file.vectors(_y_up(shading.normals(surface.vertices))),
            COLOR_0=file.vectors(made.colors[place] ** 2.2),
            JOINTS_0=file.bones(bones[place]),
            WEIGHTS_0=file.quaternions(weights[place], drawn=True),
        ),
        indices=file.indices(shading.triangles),
        material=0,
    )
    starts = _y_up(np.stack([start for _, _, start, _ in _JOINTS]))
    binds = np.tile(np.eye(4), (len(_JOINTS), 1, 1))
    binds[:, :3, 3] = -starts
    count = len(_JOINTS)
    nodes = []
    for k, (name, parent, _, _) in enumerate(_JOINTS):
        above = starts[parent] if parent >= 0 else np.zeros(3)
        below = [j for j, joint in enumerate(_JOINTS) if joint[1] == k]
        nodes.append(gl.Node(name=name, translation=(starts[k] - above).tolist(), children=below))
    nodes.append(gl.Node(name="creature", mesh=0, skin=0))
    document = new_document(nodes, [0, count])
    document.meshes = [gl.Mesh(name="creature", primitives=[primitive])]
    add_material(document, "fur", (1.0, 1.0, 1.0))
    binding = file.matrices(binds)
    document.skins = [gl.Skin(joints=list(range(count)), inverseBindMatrices=binding)]
    document.animations = [_hop(file, starts[0]), _shake(file), _nod(file)]
    file.write(document, path)


def _weights(places: Floats) -> tuple[Ints, Floats]:
    """The nearest bones of each place (n, 3), (n, 4), and how far it follows them, (n, 4)."""
    segments = np.stack([np.stack([start, end]) for _, _, start, end in _JOINTS])
    distance = np.maximum(segment_distances(places, segments), 1e-3)
    bones = np.argsort(distance, axis=1)[:, :_NEAREST]
    hold = np.take_along_axis(distance, bones, axis=1) ** -_SHARP
    return bones, hold / hold.sum(axis=1, keepdims=True)


def _hop(file: GltfFile, hips: Floats) -> gl.Animation:
    """Up and down on the spot, once in 0.75 s, leaning forward on the way up."""
    t = np.arange(19) / _KEYS
    phase = 2 * np.pi * t / t[-1]
    up = 0.05 * (1 - np.cos(phase)) / 2 + 0.012 * (1 - np.cos(2 * phase)) / 2
    clip = gl.Animation(name="hop", samplers=[], channels=[])
    where = file.vectors(hips + np.outer(up, _UP), drawn=False)
    add_track(clip, 0, "translation", file.scalars(t, bounded=True), where)
    _turn(clip, file, 1, t, 0.12 * np.sin(phase), _SIDE)
    _turn(clip, file, 2, t, 0.10 * np.sin(phase + 0.6), _SIDE)
    return clip


def _shake(file: GltfFile) -> gl.Animation:
    """The head goes left and right, twice in a second."""
    t = np.arange(25) / _KEYS
    clip = gl.Animation(name="shake", samplers=[], channels=[])
    angle = np.sin(4 * np.pi * t / t[-1])
    _turn(clip, file, 2, t, 0.5 * angle, _UP)
    _turn(clip, file, 1, t, 0.15 * angle, _UP)
    return clip


def _nod(file: GltfFile) -> gl.Animation:
    """The head bows within half a second, and stays down."""
    t = np.arange(37) / _KEYS
    s = np.clip(t / 0.5, 0.0, 1.0)
    clip = gl.Animation(name="nod", samplers=[], channels=[])
    _turn(clip, file, 2, t, 0.35 * s * s * (3 - 2 * s), _SIDE)
    return clip


def _turn(
    clip: gl.Animation, file: GltfFile, joint: int, t: Floats, angles: Floats, axis: Floats
) -> None:
    """Lets a joint turn by angles (T,) [rad] about an axis."""
    turns = file.quaternions(Rotation.from_rotvec(np.outer(angles, axis)).as_quat())
    add_track(clip, joint, "rotation", file.scalars(t, bounded=True), turns)


def _y_up(x: Floats) -> Floats:
    """From z up to y up, as glTF has it."""
    return np.stack([x[..., 0], x[..., 2], -x[..., 1]], axis=-1)
