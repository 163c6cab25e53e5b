"""A man fills out in a shirt: drawn towards his bones, on the way, and dressed.

Run as ``dressing.py FOLDER`` with the folder of man and shirt; see examples/shirt.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from drawing import write_png
from numpy.typing import NDArray

import supple as sp
from supple.io.pictures import Camera, render

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import shirt as example  # noqa: E402

INSTANTS = (0.0, 0.09, 0.17, 0.4)  # [s]
CAMERA = Camera((0.0, 0.0, 0.87), 0.86, azimuth=-55.0, elevation=7.0)
SKIN, CLOTH = (0.80, 0.66, 0.55), (0.33, 0.48, 0.70)


def snapshot(x: NDArray[np.float64], cells: NDArray[np.int64], man: sp.Surface) -> NDArray:
    """The man, with the shirt's vertices at x (n, 3)."""
    colors = np.repeat([CLOTH, SKIN], [len(x), man.n_vertices], axis=0)
    triangles = np.concatenate([cells, man.triangles + len(x)])
    places = np.concatenate([x, man.vertices])
    return render(places, triangles, CAMERA, size=(300, 400), colors=colors)


def main() -> None:
    cloth, man = example.around(example.wishes().folder, example.DRESSING)
    sim = example.simulation(cloth, man, example.DAMPINGS["medium"], dt=2.5e-3)
    motion = sim.run(INSTANTS[-1])
    shown = []
    for time in INSTANTS:
        frame = int(np.argmin(np.abs(motion.times - time)))
        body = man.surface(float(motion.times[frame]))
        shown.append(snapshot(motion.positions[frame], cloth.mesh.cells, body))
    write_png("dressing.png", np.hstack(shown))


if __name__ == "__main__":
    main()
