"""Small bodies for rigs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import supple as sp
from supple.character import Channel, Character, Clip, Rig, RigPose, Skin, Track
from supple.character.rigs import SkeletonRig

BAR = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(10, 2, 2)).tetrahedra().boundary()


def arm(*, scale: float = 1.0, loose: bool = False) -> Character:
    """A bar along x on an upper and a lower bone, under a root that has no skin.

    ``loose``: both bones hang on the root. The clip "wave" bends the lower bone; "slide" pulls it
    out, too.
    """
    places = np.array([(0.1, 0.2, 0.3), (0.0, 0.0, 0.0), (0.5 / scale, 0.0, 0.0)])
    turns = np.tile([0.0, 0, 0, 1], (3, 1))
    turns[0] = (0.5, 0.5, 0.5, 0.5)
    scales = np.ones((3, 3))
    scales[0] = scale
    rig = Rig(
        ("root", "upper", "lower"),
        np.array([-1, 0, 0 if loose else 1]),
        RigPose(places, turns, scales),
    )
    X = BAR.vertices / scale + [0, -0.1 / scale, -0.1 / scale]
    world = rig.world(rig.rest)
    binds = np.linalg.inv(world[1:]) @ world[0]  # the skin was modelled in the root's frame
    lower = np.clip((scale * X[:, :1] - 0.3) / 0.4, 0, 1)
    bones = np.tile([0, 1], (len(X), 1))
    skin = Skin(X, BAR.triangles, np.array([1, 2]), binds, bones, np.hstack([1 - lower, lower]))
    bend = Track(2, Channel.ROTATION, (0.0, 1.0), [(0, 0, 0, 1), (0, 0, 0.6, 0.8)])
    pull = Track(2, Channel.TRANSLATION, (0.0, 1.0), np.array([(0.5, 0, 0), (0.7, 0, 0)]) / scale)
    clips = {"wave": Clip("wave", [bend])}
    if loose:
        clips["slide"] = Clip("slide", [bend, pull])
    return Character(rig, skin, clips)


def playing(character: Character, *tracks: Track, name: str = "clip") -> SkeletonRig:
    """A character as a rig, with a clip of these tracks alone."""
    return SkeletonRig(replace(character, clips={name: Clip(name, list(tracks))}))


def some_pose(character: Character, seed: int = 0, angle: float = 1.0) -> RigPose:
    """Every joint turned, at random."""
    rng = np.random.default_rng(seed)
    names = character.rig.names
    return character.rig.turned({name: angle * rng.uniform(-1, 1, 3) for name in names})


def with_targets(character: Character) -> Character:
    """The same with two morph targets at random, the first of which it has by half at rest."""
    targets = np.random.default_rng(0).standard_normal((2, len(character.skin.vertices), 3)) / 1e3
    rest = replace(character.rig.rest, weights=np.array([0.5, 0.0]))
    skin = replace(character.skin, targets=targets)
    return replace(character, skin=skin, rig=replace(character.rig, rest=rest))


def reshaped(character: Character, vertices: np.ndarray) -> Character:
    """The same with its skin, before skinning, somewhere else."""
    return replace(character, skin=replace(character.skin, vertices=vertices))
