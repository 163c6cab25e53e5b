"""A ribbon that folds over itself, with and without self-contact, drawn from the example."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from drawing import IMAGES, INK, on_white

from supple.io.pictures import Camera, render

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import folded_cloth as example  # noqa: E402

import supple as sp  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

FRONT, BACK = (0.80, 0.36, 0.24), (0.93, 0.80, 0.66)
SIZE = 380, 400


def picture(x: np.ndarray) -> np.ndarray:
    """The ribbon at x (n, 3), each side in a colour of its own."""
    cells, n = example.mesh.cells, len(x)
    camera = Camera((0.05, 0.0, 0.11), 0.29, azimuth=-20.0, elevation=9.0)
    normals = np.cross(x[cells[:, 1]] - x[cells[:, 0]], x[cells[:, 2]] - x[cells[:, 0]])
    of_vertices = np.zeros_like(x)
    np.add.at(of_vertices, cells, normals[:, None])
    of_vertices /= np.linalg.norm(of_vertices, axis=1, keepdims=True)
    sides = np.concatenate([x + 2e-4 * of_vertices, x - 2e-4 * of_vertices])
    faces = np.concatenate([cells, cells[:, ::-1] + n])
    colors = np.repeat([FRONT, BACK], n, axis=0)
    return on_white(render(sides, faces, camera, size=SIZE, colors=colors))


def main() -> None:
    figure, axes = plt.subplots(figsize=(9.2, 2.5), layout="constrained")
    folded = example.let_down(sp.SelfContact(friction=0.3))
    tangled = example.let_down(None)
    moments = (0.35, 0.6, 0.9, 1.2)
    frames = [(folded, t, f"{t:.2g} s") for t in moments]
    frames.append((tangled, moments[-1], f"{moments[-1]:.2g} s, without"))
    axes.imshow(np.concatenate([picture(m.mesh.vertices + m.at(t)) for m, t, _ in frames], axis=1))
    for place, (_, _, name) in enumerate(frames):
        axes.text((place + 0.5) * SIZE[0], SIZE[1], name, ha="center", fontsize=9, color=INK)
    axes.set_axis_off()
    figure.savefig(IMAGES / "folded_cloth.png", dpi=110)


if __name__ == "__main__":
    main()
