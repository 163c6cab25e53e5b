"""Worlds of several bodies: towers, arches, chains, houses of cards, drawn from the examples."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from drawing import on_white, write_png

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import arch  # noqa: E402
import ball_in_cloth  # noqa: E402
import card_house  # noqa: E402
import dominoes  # noqa: E402
import linked_rings  # noqa: E402
import marble_on_bridge  # noqa: E402
import stacked_blocks  # noqa: E402
import thrown_among_each_other  # noqa: E402
import woven_hammock  # noqa: E402
import wrapped_ball  # noqa: E402

import supple as sp  # noqa: E402
from supple.io.pictures import Camera, render  # noqa: E402
from supple.io.surfaces import moving_bodies  # noqa: E402

HUES = (
    (0.80, 0.62, 0.50),
    (0.45, 0.60, 0.75),
    (0.72, 0.50, 0.52),
    (0.55, 0.66, 0.48),
    (0.78, 0.70, 0.46),
)
HELD = (0.55, 0.55, 0.58)


def picture(sim: sp.Simulation, camera: Camera, size: tuple[int, int], smooth: bool) -> np.ndarray:
    """The bodies of a world, in turns of a few hues; faces flat unless they are ``smooth``."""
    group = sim.body.mesh
    surface = group.surface()
    x = group.points.moved(sim.state.u)[surface.vertex_ids]
    counts = [surface_of(body).n_vertices for body in sim.bodies]
    hues = [
        HELD if not body.free.any() else HUES[k % len(HUES)] for k, body in enumerate(sim.bodies)
    ]
    colors = np.repeat(np.array(hues), counts, axis=0)
    triangles = surface.triangles
    if not smooth:
        x, colors = x[triangles].reshape(-1, 3), np.repeat(colors[triangles[:, 0]], 3, axis=0)
        triangles = np.arange(len(x)).reshape(-1, 3)
    return on_white(render(x, triangles, camera, size=size, colors=colors))


def surface_of(body: sp.ElasticBody) -> sp.Surface:
    """What of a body is drawn."""
    mesh = body.mesh
    if isinstance(mesh, sp.RigidMesh | sp.ReducedMesh | sp.FloatingMesh):
        return mesh.skin
    return mesh.surface() if isinstance(mesh, sp.SheetMesh) else mesh.boundary()


def steps(sim: sp.Simulation, seconds: float) -> None:
    for _ in range(round(seconds / sim.dt)):
        sim.step()


def strip(
    name: str,
    sims: Sequence[tuple[sp.Simulation, Sequence[float]]],
    camera: Camera,
    size: tuple[int, int],
    *,
    smooth: bool = False,
) -> None:
    """Pictures side by side, each after some more seconds of a world."""
    found = []
    for sim, pauses in sims:
        for pause in pauses:
            steps(sim, pause)
            found.append(picture(sim, camera, size, smooth))
    write_png(name, np.concatenate(found, axis=1))
    print(name, flush=True)


def stack() -> None:
    camera = Camera((0, 0, 0.49), 1.12, azimuth=-60, elevation=12, floor=0.0)
    sims = [(stacked_blocks.tower(kind), (1.0,)) for kind in ("rigid", "rubber")]
    strip("world_stack.png", sims, camera, (220, 560))


def voussoirs() -> None:
    joints = np.linspace(0.0, np.pi, arch.STONES + 1)
    critical = arch.critical_friction(joints)
    camera = Camera((0, 0, 0.55), 2.1, azimuth=-80, elevation=10)
    above, below = (arch.arch(joints, critical + way * arch.BEYOND) for way in (1, -1))
    strip("world_arch.png", [(above, (0.4,)), (below, (0.7,))], camera, (460, 300))


def rings() -> None:
    camera = Camera((0, 0, -0.11), 0.30, azimuth=-60, elevation=8)
    strip("world_rings.png", [(linked_rings.chain(8), (1.5,))], camera, (240, 520), smooth=True)


def cards() -> None:
    camera = Camera((0, 0, 0.085), 0.24, azimuth=-68, elevation=12, floor=0.0)
    strip("world_cards.png", [(card_house.house(2, 0.6), (0.6,))], camera, (420, 420))


def row() -> None:
    camera = Camera((0.13, 0, 0.02), 0.13, azimuth=-65, elevation=22, floor=0.0)
    strip("world_dominoes.png", [(dominoes.row(12), (0.1, 0.1, 0.1))], camera, (420, 200))


def catch() -> None:
    camera = Camera((0, 0, 0.06), 0.5, azimuth=-90, elevation=14)
    sim = ball_in_cloth.world(20)
    strip("world_catch.png", [(sim, (0.0, 0.25, 0.9))], camera, (330, 280), smooth=True)


def wrapped() -> None:
    camera = Camera((0, 0, 0.1), 0.42, azimuth=-60, elevation=24, floor=0.0)
    sim = wrapped_ball.world(20)
    strip("world_wrapped.png", [(sim, (0.0, 0.15, 0.6))], camera, (330, 280), smooth=True)


def marble() -> None:
    model = marble_on_bridge.reduced_bridge(80)
    camera = Camera((0, 0, 0.05), 0.62, azimuth=-62, elevation=16)
    sim = marble_on_bridge.world(model, -0.3)
    strip("world_marble.png", [(sim, (0.02, 0.3))], camera, (560, 300), smooth=True)


def woven() -> None:
    """Yarns as tubes, the other bodies smooth."""
    camera = Camera((0.09, 0, 0.055), 0.27, azimuth=-72, elevation=20)
    sim, found = woven_hammock.world(13), []
    for pause in (0.0, 0.12, 0.25):
        steps(sim, pause)
        drawn = moving_bodies(sp.Motion.from_frames(sim.body.mesh, [sim.frame()]))
        x, size = drawn.frame(0), (420, 260)
        found.append(on_white(render(x, drawn.triangles, camera, size=size, colors=drawn.colors)))
    write_png("world_woven.png", np.concatenate(found, axis=1))
    print("world_woven.png", flush=True)


def thrown() -> None:
    camera = Camera((0, 0, 0.22), 0.8, azimuth=-60, elevation=16, floor=0.0)
    sim = thrown_among_each_other.thrown(6)
    strip("world_thrown.png", [(sim, (0.0, 0.16, 0.34))], camera, (400, 330))


def main() -> None:
    every: tuple[Callable[[], None], ...]
    every = rings, catch, marble, cards, stack, voussoirs, wrapped, row, woven, thrown
    chosen = sys.argv[1:]
    for draw in every:
        if not chosen or draw.__name__ in chosen:
            draw()


if __name__ == "__main__":
    main()
