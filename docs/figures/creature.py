"""The picture of the front page: a soft creature that is nudged, sways and settles."""

from __future__ import annotations

import numpy as np
from drawing import write_png

import supple as sp
from supple.builtin import creature
from supple.io.pictures import Camera, render

AZIMUTH, ELEVATION, SIZE = -72.0, 12.0, (1160, 280)
PLACES = (0.0, 0.37, 0.84, 1.27, 1.66)  # [m] along the row


def main() -> None:
    made = creature(resolution=24)
    soft = {"ears": 14e3, "belly": 12e3, "rest": 35e3}
    materials = {
        region: sp.StableNeoHookean(young=young, poisson=0.4, density=250)
        for region, young in soft.items()
    }
    body = sp.Body(made.mesh, materials, fixed=made.places["feet"])
    down = (0.0, 0.0, -9.81)
    sim = sp.Simulation(
        body, damping=sp.Rayleigh(mass=0.5, stiffness=8e-3), dt=1 / 60, gravity=down
    )
    sim.state.u = sp.static_shape(body, gravity=down)
    height = np.maximum(made.mesh.vertices[:, 2], 0) / made.mesh.bounds[1, 2]
    sim.state.v = np.outer(height**1.5, (2.6, 0.0, 0.0))
    motion = sim.run(2.5)
    moments = (0.0, 0.1, 0.25, 0.4, 2.49)
    frames = [made.skin.deform(motion.at(time)) for time in moments]
    # All of them stand side by side on one floor, seen by one camera.
    aside = Camera((0, 0, 0), 1, AZIMUTH, ELEVATION).axes[0]
    x = np.concatenate([x + place * aside for x, place in zip(frames, PLACES, strict=True)])
    faces, count = made.skin.surface.triangles, made.skin.surface.n_vertices
    camera = Camera.framing(
        x, azimuth=AZIMUTH, elevation=ELEVATION, floor=0.0, aspect=SIZE[0] / SIZE[1]
    )
    image = render(
        x,
        np.concatenate([faces + k * count for k in range(len(frames))]),
        camera,
        size=SIZE,
        colors=np.tile(made.colors, (len(frames), 1)),
    )
    write_png("creature.png", image)


if __name__ == "__main__":
    main()
