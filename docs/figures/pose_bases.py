"""Modes of poses, drawn from the examples that are run as tests."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from drawing import IMAGES, INK, on_white
from matplotlib import colormaps
from numpy.typing import NDArray

import supple as sp
from supple.character.training.alignment import procrustes
from supple.character.training.modes import pose_modes as pose_modes_of
from supple.io.pictures import Camera, render

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import pose_alignment  # noqa: E402
import pose_contact_modes  # noqa: E402
import pose_local_modes  # noqa: E402
import pose_modes  # noqa: E402

Floats = NDArray[np.float64]


def heat(u: Floats, most: float) -> Floats:
    """Colours (n, 3) by how far u (n, 3) moves: blue for nothing, red for ``most``."""
    share = np.clip(np.linalg.norm(u, axis=1) / most, 0.0, 1.0)
    return np.asarray(colormaps["turbo"](0.1 + 0.8 * share))[:, :3]


def drawn(
    mesh: sp.VolumeMesh, x: Floats, camera: Camera, size: tuple[int, int], colors: Floats | None
) -> NDArray[np.uint8]:
    skin = mesh.boundary()
    ids = np.asarray(skin.vertex_ids)
    paint = None if colors is None else colors[ids]
    return render(x[ids], skin.triangles, camera, size=size, colors=paint)


def over(image: NDArray[np.uint8], faint: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """An image over a faint one."""
    faint = faint.copy()
    faint[..., 3] = 0.25 * faint[..., 3]
    share = image[..., 3:] / 255.0
    return (share * on_white(image) + (1 - share) * on_white(faint)).astype(np.uint8)


def panels(
    name: str,
    rows: list[list[NDArray[np.uint8]]],
    titles: list[str],
    labels: tuple[str, ...] = ("", ""),
) -> None:
    """Images side by side under their titles, rows with their labels."""
    height, width = rows[0][0].shape[:2]
    figure, axes = plt.subplots(
        len(rows),
        len(titles),
        figsize=(len(titles) * width / 100, len(rows) * height / 100 + 0.3),
        squeeze=False,
    )
    for line, row, label in zip(axes, rows, labels, strict=True):
        line[0].text(0.04, 0.96, label, transform=line[0].transAxes, fontsize=10, color=INK)
        for cell, image in zip(line, row, strict=True):
            cell.imshow(image)
            cell.axis("off")
    for cell, title in zip(axes[0], titles, strict=True):
        cell.set_title(title, fontsize=10, color=INK)
    figure.subplots_adjust(0.0, 0.0, 1.0, 1 - 0.3 / figure.get_figheight(), 0.0, 0.0)
    figure.savefig(IMAGES / name, dpi=100)
    plt.close(figure)


def bent_beam() -> None:
    mesh, x = pose_modes.mesh, pose_modes.bent.mesh.vertices
    rows, ways = [], []
    for load in pose_modes.LOADS.values():
        found = pose_modes.shapes(load)
        ways = list(found)
        full = found["full"]
        shown = np.concatenate([x, x + full, x + found["modes of the U"]])
        camera = Camera.framing(shown, azimuth=-70, elevation=50, aspect=1.0)
        camera = Camera(camera.target, 1.45 * camera.height, -70, 50)
        rest = drawn(mesh, x, camera, (250, 250), None)
        most = np.linalg.norm(full, axis=1).max()
        rows.append(
            [
                over(drawn(mesh, x + u, camera, (250, 250), heat(u, most)), rest)
                for u in found.values()
            ]
        )
    short = {
        "full": "full finite elements",
        "modes of the straight beam, turned": "the straight beam's modes",
    }
    panels("pose_modes.png", rows, [short.get(way, way) for way in ways])


def folded_arm() -> None:
    """The first modes without and with contact, and the arm when it has closed farthest."""
    arm, x = pose_contact_modes, pose_contact_modes.body.mesh.vertices
    camera = Camera.framing(x, azimuth=-80, elevation=72, aspect=1.3)
    camera = Camera(camera.target, 1.35 * camera.height, -80, 72)
    size = (290, 220)
    rest = drawn(arm.mesh, x, camera, size, None)
    rows = []
    for contact in (None, arm.contact):
        shapes = [pose_modes_of(arm.body, 3, contact=contact).shapes[k] for k in range(3)]
        frames = arm.swing(
            arm.bases["without contact" if contact is None else "with contact"].vectors
        )
        last = frames[np.abs(frames).max(axis=(1, 2)).argmax()]
        moved = [0.12 * u / np.abs(u).max() for u in shapes] + [last]
        rows.append(
            [
                over(drawn(arm.mesh, x + u, camera, size, heat(u, np.abs(u).max())), rest)
                for u in moved
            ]
        )
    panels(
        "pose_contact_modes.png",
        rows,
        ["first mode", "second", "third", "as the arm stops closing"],
        ("without contact", "with contact"),
    )


def half_way() -> None:
    """Products of the columns of two bases, as computed and aligned."""
    beam = pose_alignment
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    thick = np.array([1.0, 1 + beam.HAIR, 1 - beam.HAIR])
    thin = np.array([1.0, 1 - beam.HAIR, 1 + beam.HAIR])
    figure, axes = plt.subplots(1, 4, figsize=(10, 3.1), layout="constrained")
    for first, (name, one, two, back) in enumerate(
        (
            ("a hair wider, a hair higher", beam.X * thick, beam.X * thin, np.eye(3)),
            ("turned by 90°", beam.X, beam.X @ turn.T, turn),
        )
    ):
        poses = np.stack([one, two])
        bases = np.stack([beam.modes(x) for x in poses])
        alone = bases[1] if not first else bases[1] @ procrustes(bases[1], bases[0], beam.masses)[0]
        ways = (
            ("column by column" if not first else "Procrustes alone", alone),
            ("aligned" if not first else "turned back first", beam.in_turn(poses, bases)[1]),
        )
        for second, (way, basis) in enumerate(ways):
            seen = np.einsum("ji,njr->nir", back, basis)
            table = np.einsum("nak,n,nal->kl", bases[0], beam.masses, seen)
            cell = axes[2 * first + second]
            cell.imshow(np.abs(table), cmap="Blues", vmin=0.0, vmax=1.0)
            cell.set_title(f"{name}:\n{way}", fontsize=9, color=INK)
            cell.set_xticks([]), cell.set_yticks([])
    figure.savefig(IMAGES / "pose_alignment.png", dpi=100)
    plt.close(figure)


def pulled_bear() -> None:
    bear = pose_local_modes
    mesh, x, rows, ways = bear.body.mesh, bear.body.mesh.vertices, [], []
    camera = Camera.framing(x, azimuth=-65, elevation=10, aspect=0.8)
    camera = Camera(camera.target, 1.1 * camera.height, -65, 10)
    for name in bear.PULLS:
        found = bear.pulled(name)
        ways = list(found)
        most = np.linalg.norm(found["full"], axis=1).max()
        rows.append(
            [
                on_white(drawn(mesh, x + 6 * u, camera, (225, 270), heat(u, 0.3 * most)))
                for u in found.values()
            ]
        )
    panels("pose_local_modes.png", rows, ["full finite elements", *ways[1:]])


def main() -> None:
    bent_beam()
    folded_arm()
    half_way()
    pulled_bear()


if __name__ == "__main__":
    main()
