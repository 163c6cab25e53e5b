"""A soft block that slides over a rough floor to a stop, and a soft sheet that falls on a ball."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from drawing import COLORS, IMAGES, INK, on_white, plain

import supple as sp
from supple.io.pictures import Camera, render

mpl.use("Agg")
import matplotlib.pyplot as plt

DOWN = (0.0, 0.0, -9.81)
FRICTION, SPEED = 0.4, 1.5
CLAY, STONE = (0.80, 0.62, 0.50), (0.62, 0.62, 0.64)


def sliding() -> None:
    """Frames of the block, and its speed against that of a rigid one."""
    mesh = sp.TetMesh.box(size=(0.3, 0.2, 0.15), cells=(6, 4, 3))
    body = sp.Body(mesh, sp.StableNeoHookean(young=1.5e4, poisson=0.4, density=1000))
    sim = sp.Simulation(
        body,
        damping=sp.StrainRate(shear=120),
        obstacles=sp.Plane(friction=FRICTION, vertex_restitution=0),
        dt=1 / 200,
        gravity=DOWN,
    )
    sim.state.v = np.tile((SPEED, 0.0, 0.0), (mesh.n_vertices, 1))
    motion = sim.run(1.0)
    speed = motion.linear_momentum[:, 0] / body.total_mass
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(9.2, 4.6), layout="constrained", height_ratios=(1, 1.25)
    )
    moments = (0.0, 0.1, 0.25, 1.0)
    facets = mesh.boundary_facets().ravel()
    shifts = np.outer((0.0, 0.31, 0.64, 1.05), (1, 0, 0))
    frames = [
        (mesh.vertices + motion.at(t))[facets] + s for t, s in zip(moments, shifts, strict=True)
    ]
    x = np.concatenate(frames)
    size = 1380, 330
    camera = Camera.framing(x, azimuth=-90.0, elevation=8.0, floor=0.0, aspect=size[0] / size[1])
    top.imshow(on_white(render(x, np.arange(len(x)).reshape(-1, 3), camera, size=size)))
    for t, frame in zip(moments, frames, strict=True):
        middle = (frame.mean(axis=0) - camera.target) @ camera.axes[0] / camera.height
        top.text(size[0] / 2 + middle * size[1], size[1], f"{t:g} s", ha="center", va="top",
                 fontsize=9, color=INK)  # fmt: skip
    top.set_axis_off()
    t = motion.times
    rigid = np.maximum(SPEED - FRICTION * 9.81 * t, 0.0)
    bottom.plot(t, rigid, "--", color=COLORS[1], linewidth=1.2, label="a rigid block: −μ g")
    bottom.plot(t, speed, color=COLORS[0], linewidth=1.5, label="the soft block")
    bottom.set_xlabel("time [s]", fontsize=9, color=INK)
    bottom.set_ylabel("speed of its centre [m/s]", fontsize=9, color=INK)
    bottom.set_xlim(0, 1)
    bottom.legend(frameon=False, fontsize=9)
    plain(bottom)
    figure.savefig(IMAGES / "contact_block.png", dpi=110)
    way = motion.displacements[-1, :, 0].mean()
    print(f"way {way:.4f} m, rigid {SPEED**2 / (2 * FRICTION * 9.81):.4f} m")
    print(f"deepest {(mesh.vertices + motion.displacements)[..., 2].min():.1e} m")
    print(f"force {sim.contact_forces.sum(axis=0)}, weight {body.total_mass * 9.81:.2f} N")


def draped() -> None:
    """Three moments of the sheet, and the forces that hold it in the end."""
    mesh = sp.TetMesh.box(size=(0.7, 0.7, 0.035), cells=(20, 20, 1))
    body = sp.Body(mesh, sp.StableNeoHookean(young=3e4, poisson=0.4, density=1000))
    ball = sp.Sphere(centre=(0.35, 0.35, -0.21), radius=0.2, friction=0.5, vertex_restitution=0)
    sim = sp.Simulation(
        body, damping=sp.StrainRate(shear=400), obstacles=ball, dt=1 / 100, gravity=DOWN
    )
    motion = sim.run(2.5, every=5)
    skin = mesh.boundary()
    under = ball.surface()
    pictures = []
    camera = Camera((0.35, 0.35, -0.17), 0.72, azimuth=-60.0, elevation=14.0)
    for t in (0.0, 0.15, 2.5):
        u = motion.at(t)
        x = np.concatenate([(mesh.vertices + u)[skin.vertex_ids], under.vertices])
        faces = np.concatenate([skin.triangles, under.triangles + skin.n_vertices])
        colors = np.concatenate(
            [np.tile(CLAY, (skin.n_vertices, 1)), np.tile(STONE, (under.n_vertices, 1))]
        )
        pictures.append(on_white(render(x, faces, camera, size=(560, 380), colors=colors)))
    figure, axes = plt.subplots(figsize=(9.2, 2.9), layout="constrained")
    axes.imshow(np.concatenate(pictures, axis=1))
    axes.set_axis_off()
    figure.savefig(IMAGES / "contact_sheet.png", dpi=110)
    distance, _ = ball.signed_distance((mesh.vertices + motion.displacements).reshape(-1, 3))
    print(f"deepest {distance.min() / mesh.edge_lengths().mean():.1e} edges")
    print(f"force {sim.contact_forces.sum(axis=0)}, weight {body.total_mass * 9.81:.2f} N")
    print(f"fastest at the end {np.abs(sim.state.v).max():.1e} m/s")


def main() -> None:
    sliding()
    draped()


if __name__ == "__main__":
    main()
