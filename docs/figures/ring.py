"""The tutorial's ring: the surface, the bricks that cover it, and the skin as it is shaken."""

from __future__ import annotations

import numpy as np
import trimesh
from drawing import write_png

import supple as sp
from supple.io.pictures import Camera, render
from supple.io.surfaces import Shading

AZIMUTH, ELEVATION, SIZE = 66.0, 24.0, (960, 300)
UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # y up → z up
PLACES = (0.0, 0.40, 0.80)  # [m] along the row
CLAY, STONE = (0.80, 0.62, 0.50), (0.74, 0.81, 0.88)


def main() -> None:
    torus = trimesh.creation.torus(0.10, 0.04, major_sections=48, minor_sections=24)
    surface = sp.Surface(torus.vertices, torus.faces)
    bricks = sp.HexMesh.voxelize(surface, resolution=14)
    skin = sp.Embedding(bricks, surface)
    shake = sp.Support.keyframes(
        bricks.where(y=(0.11, None)), [0.0, 0.15, 0.3], [(0, 0, 0), (0.05, 0, 0), (0, 0, 0)]
    )
    body = sp.Body(bricks, sp.StableNeoHookean(young=2e4, poisson=0.45), supports=[shake])
    down = (0, -9.81, 0)
    sim = sp.Simulation(body, damping=sp.Rayleigh(mass=0.3, stiffness=4e-3), gravity=down)
    sim.state.u = sp.static_shape(body, gravity=down)
    motion = sim.run(0.25)
    bent = int(np.ptp(motion.positions[:, :, 0], axis=1).argmax())
    cubes = bricks.boundary()
    cut = Shading.cut(cubes.vertices, cubes.triangles, 40.0)
    shown = [
        (surface.vertices, surface.triangles, CLAY),
        (cubes.vertices[cut.source], cut.triangles, STONE),
        (skin.deform(motion.displacements[bent]), surface.triangles, CLAY),
    ]
    aside = Camera((0, 0, 0), 1, AZIMUTH, ELEVATION).axes[0]
    x = [p @ UPRIGHT.T + place * aside for (p, _, _), place in zip(shown, PLACES, strict=True)]
    starts = np.cumsum([0] + [len(p) for p in x[:-1]])
    faces = [triangles + start for (_, triangles, _), start in zip(shown, starts, strict=True)]
    colors = [np.tile(color, (len(p), 1)) for (p, _, color) in shown]
    together = np.concatenate(x)
    camera = Camera.framing(
        together, azimuth=AZIMUTH, elevation=ELEVATION, aspect=SIZE[0] / SIZE[1]
    )
    image = render(
        together, np.concatenate(faces), camera, size=SIZE, colors=np.concatenate(colors)
    )
    write_png("ring.png", image)


if __name__ == "__main__":
    main()
