"""A beast of boxes: a level body on four legs, a head with ears, a tail."""

from __future__ import annotations

import numpy as np
from tests.character.bodies import character_of, rig_of, soup

import supple as sp
from supple.character import Character

# joint, lowest corner and size [m] of what it carries; x is forward and z up
_BOXES = (
    ("hips", (-0.6, -0.25, 0.6), (0.6, 0.5, 0.6)),
    ("chest", (0.0, -0.25, 0.6), (0.6, 0.5, 0.6)),
    ("neck", (0.5, -0.1, 1.0), (0.25, 0.2, 0.25)),
    ("last", (0.7, -0.2, 0.9), (0.6, 0.4, 0.4)),
    ("last", (0.75, -0.2, 1.3), (0.1, 0.05, 0.3)),
    ("last", (0.75, 0.15, 1.3), (0.1, 0.05, 0.3)),
    ("leg a", (-0.55, -0.2, 0.0), (0.15, 0.15, 0.7)),
    ("leg b", (-0.55, 0.05, 0.0), (0.15, 0.15, 0.7)),
    ("leg c", (0.4, -0.2, 0.0), (0.15, 0.15, 0.7)),
    ("leg d", (0.4, 0.05, 0.0), (0.15, 0.15, 0.7)),
    ("Tail", (-1.3, -0.05, 1.0), (0.75, 0.1, 0.1)),
)
_JOINTS = {
    "hips": (-1, (-0.5, 0.0, 0.75)),
    "chest": (0, (0.0, 0.0, 0.75)),
    "neck": (1, (0.55, 0.0, 1.1)),
    "last": (2, (0.75, 0.0, 1.1)),
    "leg a": (0, (-0.475, -0.125, 0.65)),
    "leg b": (0, (-0.475, 0.125, 0.65)),
    "leg c": (1, (0.475, -0.125, 0.65)),
    "leg d": (1, (0.475, 0.125, 0.65)),
    "Tail": (0, (-0.6, 0.0, 1.05)),
}


def beast() -> Character:
    """Its head is the joint "last", whose bone ends in the middle of it."""
    names = tuple(_JOINTS)
    rig = rig_of(names, [_JOINTS[n][0] for n in names], [_JOINTS[n][1] for n in names])
    boxes = [
        sp.TetMesh.box(size, tuple(max(1, round(side / 0.1)) for side in size), low).boundary()
        for _, low, size in _BOXES
    ]
    joints = [names.index(joint) for joint, _, _ in _BOXES]
    carried = np.repeat(joints, [box.triangles.size for box in boxes])
    return character_of(soup(*boxes), rig, np.eye(len(names))[carried])
