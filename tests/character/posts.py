"""A post on two bones as a file, with clips: small, and yet with flesh inside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pygltflib as gl
from tests.character.sample_rigs import HALF, GltfBuilder

import supple as sp

POST = sp.HexMesh.box((0.2, 1.0, 0.2), (2, 8, 2)).tetrahedra().boundary()
"""Along y, which is up in a file."""
PERIOD = 0.5


def post(folder: Path, *, clips: bool = True, name: str = "post.glb") -> Path:
    """Writes it."""
    return built_post(clips=clips).write(folder / name)


def built_post(
    *,
    clips: bool = True,
    unit: float = 1.0,
    strays: int = 0,
    wide: float = 1.0,
    blend: float = 0.2,
    middle: float = 0.5,
) -> GltfBuilder:
    """Node 0 holds the mesh, 1 and 2 are joints at its foot and at half its height.

    ``unit`` is how long it is [m]; ``strays`` are vertices far off that no triangle uses. ``wide``,
    ``blend`` and ``middle`` are of its shape, of its weights and of its upper joint.

    "shake" moves all of it to and fro, again and again; "bend" turns the upper half and stops.
    """
    made = GltfBuilder()
    X = (POST.vertices - np.array([0.1, 0.0, 0.1])) * np.array([wide, 1.0, wide])
    X = np.vstack([X, np.full((strays, 3), 500.0)])
    upper = np.clip((X[:, 1] - 0.5) / blend + 0.5, 0.0, 1.0)
    shares = np.zeros((len(X), 4))
    shares[:, 0], shares[:, 1] = 1 - upper, upper
    primitive = gl.Primitive(
        attributes=gl.Attributes(
            POSITION=made.add(unit * X),
            JOINTS_0=made.add(np.tile([0, 1, 0, 0], (len(X), 1)), "u1"),
            WEIGHTS_0=made.add(shares),
        ),
        indices=made.add(POST.triangles.ravel(), "u2"),
    )
    accessor = made.document.accessors[primitive.attributes.POSITION]
    accessor.min, accessor.max = (unit * X).min(axis=0).tolist(), (unit * X).max(axis=0).tolist()
    binds = np.tile(np.eye(4), (2, 1, 1))
    binds[1, 1, 3] = -middle * unit
    made.document.asset = gl.Asset(version="2.0")
    made.document.meshes = [gl.Mesh(name="post", primitives=[primitive])]
    made.document.skins = [gl.Skin(joints=[1, 2], inverseBindMatrices=made.add(binds))]
    made.document.scenes = [gl.Scene(nodes=[0, 1])]
    made.document.nodes = [
        gl.Node(name="holder", mesh=0, skin=0),
        gl.Node(name="lower", children=[2]),
        gl.Node(name="upper", translation=[0.0, middle * unit, 0.0]),
    ]
    if clips:
        t = np.linspace(0.0, PERIOD, 13)
        aside = np.outer(0.1 * unit * np.sin(2 * np.pi * t / PERIOD), [1.0, 0.0, 0.0])
        made.clip("shake")
        made.track(1, "translation", t, aside)
        made.clip("bend")
        turns = [(0, 0, 0, 1), (0, 0, HALF, HALF), (0, 0, HALF, HALF)]
        made.track(2, "rotation", [0.0, 0.3, 0.6], turns)
        for clip in made.document.animations:
            for sampler in clip.samplers:
                times = made.document.accessors[sampler.input]
                times.min, times.max = [0.0], [0.5 if clip.name == "shake" else 0.6]
    return made


def with_floor(made: GltfBuilder, width: float = 80.0) -> GltfBuilder:
    """The same on a square floor [m] that has no skin."""
    X = width / 2 * np.array([(-1, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1)])
    primitive = gl.Primitive(
        attributes=gl.Attributes(POSITION=made.add(X)),
        indices=made.add(np.array([0, 2, 1, 0, 3, 2]), "u2"),
    )
    made.document.meshes.append(gl.Mesh(name="floor", primitives=[primitive]))
    made.document.nodes.append(gl.Node(name="floor", mesh=1))
    made.document.scenes[0].nodes.append(len(made.document.nodes) - 1)
    return made
