"""Shirts of yarns at the paper's sizes on a man in mid-stride, whole and yarn by yarn.

``python -m benchmarks yarn_shirts FOLDER --save SHAPES`` makes the shapes, of which this draws
those that there are: ``yarn_shirts.py FOLDER SHAPES``.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from drawing import write_png
from numpy.typing import NDArray

import supple as sp
from supple.io.pictures import Camera, render
from supple.io.yarn_surfaces import YarnTubes
from supple.mesh import YarnMesh

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.yarn_shirts import SPACINGS, woven_shirt  # noqa: E402

WHOLE = Camera((0.0, 0.0, 0.93), 0.92, azimuth=-58.0, elevation=7.0)
ACROSS = 24  # spacings that the detail shows
THICKER = 4.5  # so yarns are drawn in the detail, as a closer weave would show them
CHEST = (0.06, -1.0, 1.02)  # [m] in front of the place that is shown
SKIN, CLOTH = (0.80, 0.66, 0.55), (0.52, 0.58, 0.66)
SIZE = (400, 480)
PICTURES = {"136,741": "yarn_shirt_137k.png", "1,053,175": "yarn_shirt_1m.png"}


def near(mesh: YarnMesh, x: NDArray[np.float64], centre: int, reach: float) -> YarnMesh:
    """The yarns around a crossing, at x (n, 3)."""
    inside = np.linalg.norm(x - x[centre], axis=1) < reach
    kept = inside[mesh.cells].all(axis=1)
    nodes = np.unique(mesh.cells[kept])
    number = np.full(len(x), -1)
    number[nodes] = np.arange(len(nodes))
    row = np.cumsum(kept) - 1
    regions = {name: row[some[kept[some]]] for name, some in mesh.regions.items()}
    return replace(
        mesh,
        vertices=x[nodes],
        cells=number[mesh.cells[kept]],
        regions=regions,
        arc_lengths=mesh.arc_lengths[nodes],
        warp_on_top=mesh.warp_on_top[nodes],
        radii=THICKER * mesh.radii,
    )


def picture(
    x: NDArray[np.float64],
    triangles: NDArray[np.int64],
    paint: NDArray[np.float64],
    skin: sp.Surface,
    camera: Camera,
) -> NDArray[np.uint8]:
    """Cloth and skin."""
    return render(
        np.concatenate([x, skin.vertices]),
        np.concatenate([triangles, skin.triangles + len(x)]),
        camera,
        size=SIZE,
        colors=np.concatenate([paint, np.tile(SKIN, (skin.n_vertices, 1))]),
    )


def pictures(folder: Path, shapes: Path, name: str) -> list[NDArray[np.uint8]]:
    """The whole shirt, and some yarns of it."""
    saved = np.load(shapes / f"yarns_{name.replace(',', '')}.npz")
    cloth, man, _ = woven_shirt(folder, np.load(shapes / "worn.npz")["x"], SPACINGS[name])
    mesh, x = cloth.mesh, saved["q"][:, :3].astype(float)
    skin = man.surface(float(saved["time"]))
    painted = np.tile(CLOTH, (len(x), 1))
    whole = picture(x, mesh.sheet_triangles, painted, skin, WHOLE)
    ahead = x[x[:, 1] < np.median(x[:, 1])]  # on his front
    at = ahead[np.argmin(np.linalg.norm((ahead - CHEST)[:, [0, 2]], axis=1))]
    centre = int(np.argmin(np.linalg.norm(x - at, axis=1)))
    wide = ACROSS * SPACINGS[name]
    tubes = YarnTubes(near(mesh, x, centre, 1.2 * wide), samples=6, sides=10)
    closer = Camera(tuple(at), wide, azimuth=-80.0, elevation=12.0)
    yarns = tubes.at(np.zeros_like(tubes.curves.mesh.vertices))
    return [whole, picture(yarns, tubes.triangles, tubes.paint, skin, closer)]


def main() -> None:
    folder, shapes = map(Path, sys.argv[1:])
    for name, file in PICTURES.items():
        if (shapes / f"yarns_{name.replace(',', '')}.npz").exists():
            drawn = pictures(folder, shapes, name)
            write_png(file, np.concatenate(drawn, axis=1))


if __name__ == "__main__":
    main()
