"""One creature under four deformers, and a bar that its bones twist and bend in two ways."""

from __future__ import annotations

import numpy as np
from drawing import INK, write_png
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

import supple as sp
from supple.builtin import creature
from supple.character import Character, Rig, RigPose, Skin
from supple.character.rigs import (
    BendRig,
    Blend,
    BlendShapeRig,
    LatticeRig,
    PoseRig,
    SkeletonRig,
    WireRig,
)
from supple.io.pictures import Camera, render

SIZE, LONG = (300, 340), (390, 190)


def deformed() -> list[tuple[str, NDArray]]:
    """A picture of the creature in a pose of each deformer."""
    made = creature(resolution=24)
    assert made.skin is not None
    skin = made.skin.surface
    ear = np.array([(0.045, 0.0, 0.27), (0.055, 0.0, 0.31), (0.07, 0.0, 0.37), (0.08, 0.0, 0.43)])
    wire = WireRig(skin, ear, radius=0.07)
    folded = np.zeros((4, 3))
    folded[2:] = [(0.05, -0.01, -0.02), (0.12, -0.02, -0.10)]
    lattice = LatticeRig(skin, (3, 3, 4))
    points = lattice.control_points()
    low, high = skin.bounds
    middle = np.isclose(points[:, 2], low[2] + (high[2] - low[2]) / 3)
    wide = np.where(middle[:, None], points * [0.7, 0.6, 0.0], 0.0)
    proud = np.zeros((1, skin.n_vertices, 3))
    head = np.clip((skin.vertices[:, 2:] - 0.17) / 0.06, 0.0, 1.0)
    proud[0] = head**2 * (3 - 2 * head) * (skin.vertices - [0.0, 0.0, 0.17])
    bend = BendRig(skin, along=(0, 0, 1), about=(0, 1, 0), origin=(0, 0, 0), bounds=(0.05, 0.40))
    shown: list[tuple[str, PoseRig, NDArray]] = [
        ("at rest", bend, np.zeros(1)),
        ("BendRig", bend, np.array([1.0])),
        ("WireRig", wire, folded.ravel()),
        ("LatticeRig", lattice, wide.ravel()),
        ("BlendShapeRig", BlendShapeRig(skin, proud), np.array([0.22])),
    ]
    camera = Camera((0.025, 0.0, 0.235), 0.54, azimuth=-72.0, elevation=10.0, floor=0.0)
    return [
        (name, render(rig.vertices(pose), rig.triangles, camera, size=SIZE, colors=made.colors))
        for name, rig, pose in shown
    ]


def arm() -> Character:
    """A square bar along x on two bones that meet in the middle."""
    bar = sp.HexMesh.box(size=(1.0, 0.22, 0.22), cells=(60, 12, 12)).tetrahedra().boundary()
    x = bar.vertices - [0.5, 0.11, 0.11]
    places = np.array([(-0.5, 0.0, 0.0), (0.5, 0.0, 0.0)])
    rest = RigPose(places, np.tile([0.0, 0.0, 0.0, 1.0], (2, 1)), np.ones((2, 3)))
    rig = Rig(("near", "far"), np.array([-1, 0]), rest)
    far = np.clip(x[:, :1] / 0.5 + 0.5, 0, 1)
    bones = np.tile([0, 1], (len(x), 1))
    binds = np.linalg.inv(rig.world(rest))
    return Character(rig, Skin(x, bar.triangles, [0, 1], binds, bones, np.hstack([1 - far, far])))


def blended() -> list[tuple[str, NDArray]]:
    """The bar, twisted and bent, by both blends."""
    character = arm()
    stripes = np.where((np.floor(character.skin.vertices[:, :1] * 12) % 2).astype(bool), 0.88, 1.0)
    colors = stripes * np.array([0.55, 0.70, 0.85])
    camera = Camera((0.0, 0.0, 0.0), 0.56, azimuth=-70.0, elevation=18.0)
    bent = Camera((-0.08, 0.0, 0.11), 0.80, azimuth=-90.0, elevation=12.0)
    shown = []
    for motion, turn, view in (
        ("twisted", (2.9, 0.0, 0.0), camera),
        ("bent", (0.0, -2.2, 0.0), bent),
    ):
        for blend in Blend:
            rig = SkeletonRig(character, blend)
            pose = rig.pose_of(character.rig.turned({"far": turn}))
            image = render(rig.vertices(pose), rig.triangles, view, size=LONG, colors=colors)
            shown.append((f"{motion}, {blend.value}", image))
    return shown


def main() -> None:
    figure = Figure(figsize=(11.6, 4.2), dpi=100)
    canvas = FigureCanvasAgg(figure)
    rows = figure.subfigures(2, 1, height_ratios=[1.55, 1], hspace=0.0)
    for row, pictures in zip(rows, (deformed(), blended()), strict=True):
        for axes, (name, image) in zip(row.subplots(1, len(pictures)), pictures, strict=True):
            axes.imshow(image)
            axes.set_title(name, color=INK, fontsize=10, y=-0.06)
            axes.axis("off")
        row.subplots_adjust(left=0.005, right=0.995, top=0.995, bottom=0.07, wspace=0.02)
    canvas.draw()
    write_png("rigs.png", np.asarray(canvas.buffer_rgba()))


if __name__ == "__main__":
    main()
