"""Woven cloth close up: three weaves that hang from two corners, drawn as tubes."""

from __future__ import annotations

import numpy as np
from drawing import write_png

from supple.io.pictures import Camera, render
from supple.io.yarn_surfaces import YarnTubes
from supple.yarns import Weave, WovenCloth, Yarn, YarnDamping, YarnNet, YarnSimulation

COUNT, SPACING, RADIUS = 26, 1e-3, 3.2e-4  # yarns each way, [m], [m]
WIDE, CLOSE = (340, 220), (340, 320)


def draped(weave: Weave) -> YarnSimulation:
    """A patch that hangs from two opposite corners, nearly at rest."""
    net = YarnNet.patch(COUNT, COUNT, spacing=SPACING, weave=weave)
    yarn = Yarn(radius=RADIUS, linear_density=5e-5, stretch=0.2, bending=5e-10)
    cloth = WovenCloth(net, warp=yarn, shear=2e-9, friction=0.3)
    sim = YarnSimulation(
        cloth,
        damping=YarnDamping(stretch=0.03, bending=0.1, shear=0.05),
        gravity=(0, 0, -9.81),
        fixed=[0, COUNT * COUNT - 1],
        dt=2e-3,
    )
    sim.run(0.2, every=100)
    return sim


def main() -> None:
    whole, close = [], []
    for weave in (Weave.plain(), Weave.twill(2, 2), Weave.satin(5, 2)):
        sim = draped(weave)
        tubes = YarnTubes(sim.mesh, samples=8, sides=12)
        x = tubes.at(sim.q[:, :3] - sim.mesh.vertices)
        camera = Camera.framing(x, azimuth=-60.0, elevation=38.0, aspect=WIDE[0] / WIDE[1])
        whole.append(render(x, tubes.triangles, camera, size=WIDE, colors=tubes.paint))
        a, b, c = sim.q[:, :3].mean(axis=0)
        near = Camera((a, b, c + SPACING), 9.0 * SPACING, azimuth=-60.0, elevation=42.0)
        close.append(render(x, tubes.triangles, near, size=CLOSE, colors=tubes.paint))
    rows = [np.concatenate(pictures, axis=1) for pictures in (whole, close)]
    write_png("weaves.png", np.concatenate(rows, axis=0))


if __name__ == "__main__":
    main()
