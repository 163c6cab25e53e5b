"""Two soft blocks, a blanket that falls over them and a rope across, all in one world."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from drawing import IMAGES, on_white

import supple as sp
from supple.io.pictures import Camera, render

mpl.use("Agg")
import matplotlib.pyplot as plt

COLORS = ((0.80, 0.62, 0.50), (0.72, 0.50, 0.52), (0.45, 0.60, 0.75), (0.25, 0.25, 0.27))
ROPE = 0.004  # m, as it is drawn


def block(
    size: tuple[float, float, float], at: tuple[float, float, float], young: float
) -> sp.Body:
    mesh = sp.TetMesh.box(size=size, cells=tuple(max(2, round(20 * s)) for s in size))
    moved = sp.TetMesh(mesh.vertices + np.array(at), mesh.cells)
    return sp.Body(moved, sp.StableNeoHookean(young=young, poisson=0.4, density=500))


def drawn(sim: sp.Simulation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, triangles and colours of all bodies; the rope as a strip."""
    x, faces, colors, count = [], [], [], 0
    for body, color in zip(sim.bodies, COLORS, strict=True):
        places = body.mesh.vertices + sim.state_of(body).u
        if isinstance(body, sp.SpringNetwork):
            width = np.array([0.0, 0.0, ROPE])
            lines = np.concatenate([places + width, places - width])
            n, i = len(places), np.arange(len(places) - 1)
            triangles = np.concatenate(
                [np.stack([i, i + 1, i + n], 1), np.stack([i + 1, i + n + 1, i + n], 1)]
            )
            places = lines
        elif isinstance(body, sp.Cloth):
            triangles = body.mesh.cells
        else:
            skin = body.mesh.boundary()
            places, triangles = places[skin.vertex_ids], skin.triangles
        x.append(places)
        faces.append(triangles + count)
        colors.append(np.tile(color, (len(places), 1)))
        count += len(places)
    return np.concatenate(x), np.concatenate(faces), np.concatenate(colors)


def main() -> None:
    below = block((0.3, 0.2, 0.15), (0.0, 0.0, 0.01), 6e4)
    above = block((0.15, 0.15, 0.12), (0.05, 0.02, 0.18), 2e4)
    grid = sp.SheetMesh.grid(size=(0.5, 0.5), cells=(16, 16))
    sheet = sp.SheetMesh(grid.vertices + np.array([-0.12, -0.15, 0.34]), grid.cells)
    felt = sp.IsotropicCloth(young=2e4, poisson=0.3, thickness=5e-4, areal_density=0.2)
    blanket = sp.Cloth(sheet, felt)
    line = sp.SpringMesh.chain((0.12, -0.22, 0.38), (0.13, 0.42, 0.38), 24)
    rope = sp.SpringNetwork(line, stiffness=2000.0, mass=0.05)
    sim = sp.Simulation(
        [below, above, blanket, rope],
        damping={
            below: sp.StrainRate(shear=60),
            above: sp.StrainRate(shear=20),
            blanket: sp.Rayleigh(mass=1.0, stiffness=1e-3),
            rope: sp.Rayleigh(mass=1.0),
        },
        obstacles=sp.Plane(friction=0.5),
        self_contact=sp.SelfContact(friction=0.3),
        dt=1 / 100,
        gravity=(0, 0, -9.81),
    )
    camera = Camera((0.14, 0.1, 0.16), 0.66, azimuth=-55.0, elevation=18.0)
    pictures = []
    for steps in (0, 20, 60):
        for _ in range(steps):
            sim.step()
        x, faces, colors = drawn(sim)
        pictures.append(on_white(render(x, faces, camera, size=(560, 420), colors=colors)))
        print(f"{sim.state.time:.2f} s: {sim.stats.contacts} contacts", flush=True)
    figure, axes = plt.subplots(figsize=(9.2, 2.5), layout="constrained")
    axes.imshow(np.concatenate(pictures, axis=1))
    axes.set_axis_off()
    figure.savefig(IMAGES / "world.png", dpi=110)


if __name__ == "__main__":
    main()
