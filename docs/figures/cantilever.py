"""The quickstart's beam: where it is at some moments, and the height of its tip over time."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, plain

import supple as sp
from supple.io.pictures import Camera, render
from supple.io.surfaces import Shading

mpl.use("Agg")
import matplotlib.pyplot as plt


def main() -> None:
    beam = sp.TetMesh.box(size=(1.0, 0.2, 0.2), cells=(20, 4, 4))
    body = sp.Body(beam, sp.StVK(young=1e6, poisson=0.4, density=1000), fixed=beam.where(x=0))
    sim = sp.Simulation(
        body,
        damping=sp.Rayleigh(mass=0.1, stiffness=1e-3),
        integrator=sp.Bathe(),
        dt=1 / 60,
        gravity=(0, 0, -9.81),
    )
    motion = sim.run(2.0)
    tip = motion.vertex(int(beam.where(x=1, y=0.1, z=0.1)[0]))[:, 2]
    surface = beam.boundary()
    cut = Shading.cut(surface.vertices, surface.triangles, 40.0)  # sharp edges stay sharp
    lowest = int(np.argmin(tip))
    frames = [surface.vertices + motion.displacements[k, surface.vertex_ids] for k in (0, lowest)]
    camera = Camera.framing(np.array(frames), azimuth=-68, elevation=14, aspect=1.45)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.2, 3.1), width_ratios=(1, 1.25), layout="constrained"
    )
    for x, opacity in zip(frames, (0.28, 1.0), strict=True):
        left.imshow(render(x[cut.source], cut.triangles, camera, size=(640, 440)), alpha=opacity)
    left.set_axis_off()
    left.set_title(f"at rest, and lowest at {motion.times[lowest]:.2f} s", fontsize=9, color=INK)
    right.plot(motion.times, 100 * tip, color=COLORS[0], linewidth=1.6)
    right.set_xlabel("time [s]", fontsize=9, color=INK)
    right.set_ylabel("height of the tip [cm]", fontsize=9, color=INK)
    plain(right)
    figure.savefig(IMAGES / "cantilever.png", dpi=110)


if __name__ == "__main__":
    main()
