"""Sheets of cloth: one dropped on a ball, with friction and without, and one whose corners move."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from drawing import write_png
from numpy.typing import NDArray

import supple as sp
from supple.io.pictures import Camera, render

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import cloth_on_sphere  # noqa: E402

LINEN, INDIGO, STONE = (0.86, 0.76, 0.62), (0.36, 0.46, 0.62), (0.60, 0.58, 0.55)


def checked(mesh: sp.SheetMesh, squares: float) -> NDArray[np.float64]:
    """Colours of a chequered cloth, whose squares are those of its pattern."""
    assert mesh.pattern is not None
    size = np.ptp(mesh.pattern, axis=0).max() / squares
    odd = (np.floor(mesh.pattern / size + 1e-9).sum(axis=1) % 2)[:, None]
    return np.where(odd == 1, INDIGO, LINEN)


def on_a_ball() -> None:
    """The sheet at three moments with friction, and at the last of them without."""
    ball = sp.Sphere(radius=0.985 * cloth_on_sphere.RADIUS).surface()  # flat triangles cut corners
    rough, smooth = cloth_on_sphere.dropped(0.5), cloth_on_sphere.dropped(0.0)
    mesh = cloth_on_sphere.mesh
    camera = Camera((0.03, 0.0, 0.02), 1.34, azimuth=-60.0, elevation=22.0)
    pictures = []
    for motion, time in ((rough, 0.0), (rough, 0.24), (rough, 1.8), (smooth, 0.72)):
        x = np.concatenate([mesh.vertices + motion.at(time), ball.vertices])
        faces = np.concatenate([mesh.cells, ball.triangles + mesh.n_vertices])
        paint = np.concatenate([checked(mesh, 9.5), np.tile(STONE, (ball.n_vertices, 1))])
        pictures.append(render(x, faces, camera, size=(400, 360), colors=paint))
    write_png("cloth_on_sphere.png", np.concatenate(pictures, axis=1))


def hanging() -> None:
    """The scene examples/hanging_cloth.toml, with more triangles."""
    text = (ROOT / "examples" / "hanging_cloth.toml").read_text(encoding="utf-8")
    assert "cells = [16, 16]" in text
    with TemporaryDirectory() as folder:
        finer = Path(folder) / "hanging_cloth.toml"
        finer.write_text(text.replace("cells = [16, 16]", "cells = [40, 40]"), encoding="utf-8")
        scene = sp.load_scene(finer)
    motion = scene.simulation().run(scene.duration, every=scene.every)
    mesh = motion.mesh
    assert isinstance(mesh, sp.SheetMesh)
    camera = Camera.framing(motion.positions[::5], azimuth=-68.0, elevation=10.0, aspect=330 / 360)
    pictures = [
        render(
            mesh.vertices + motion.at(time),
            mesh.cells,
            camera,
            size=(330, 360),
            colors=checked(mesh, 8),
        )
        for time in (0.0, 0.4, 0.8, 1.4)
    ]
    write_png("hanging_cloth.png", np.concatenate(pictures, axis=1))


def main() -> None:
    on_a_ball()
    hanging()


if __name__ == "__main__":
    main()
