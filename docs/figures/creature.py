"""The picture of the front page: a soft creature that is nudged, sways and settles."""

from __future__ import annotations

import numpy as np
from drawing import save_strip

import supple as sp
from supple.builtin import creature
from supple.io.pictures import Camera


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
    camera = Camera.framing(np.array(frames), azimuth=-72, elevation=12, floor=0.0, aspect=0.9)
    save_strip(
        "creature.png",
        frames,
        made.skin.surface.triangles,
        size=(232, 256),
        camera=camera,
        colors=made.colors,
    )


if __name__ == "__main__":
    main()
