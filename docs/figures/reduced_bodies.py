"""The four bodies of the reduced models, at rest and bent by a force on one place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from drawing import on_white, write_png
from numpy.typing import NDArray

import supple as sp
from supple.builtin import Solid, bridge, heart, spoon, tower
from supple.io.pictures import Camera, render

HEIGHT = 300  # [pixels]


def panel(
    maker: Callable[[], Solid],
    place: str,
    force: tuple[float, float, float],
    *,
    modes: int,
    size: int,
    width: int,
    azimuth: float,
    elevation: float = 12.0,
) -> NDArray[np.uint8]:
    """One body, where it comes to rest under the force [N], over a faint one without it."""
    made = maker()
    body = sp.Body(made.mesh, made.material, fixed=next(iter(made.places.values())))
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=modes, size=size), skin=made.skin)
    slow = 2 * np.pi * model.frequencies[0]
    live = model.simulation(
        damping=sp.Rayleigh(mass=2 * slow, stiffness=0.2 / slow), dt=0.02 / slow
    )
    vertices = made.places[place]
    pull = sum(model.pull(int(v), np.array(force) / len(vertices)) for v in vertices)
    live.run_steps(2000, force=pull)
    assert model.skin is not None
    bent, rest = live.skin_vertices(), model.skin.vertices
    print(f"{maker.__name__}: moves by {np.abs(live.displacements()).max():.3g} m")
    camera = Camera.framing(
        np.array([bent, rest]), azimuth=azimuth, elevation=elevation, aspect=width / HEIGHT
    )
    faint, image = (
        render(x, model.skin.triangles, camera, size=(width, HEIGHT), colors=made.colors)
        for x in (rest, bent)
    )
    faint[..., 3] = 0.22 * faint[..., 3]
    share = image[..., 3:] / 255.0
    return (share * on_white(image) + (1 - share) * on_white(faint)).astype(np.uint8)


def main() -> None:
    panels = [
        panel(
            spoon,
            "bowl tip",
            (0.0, 0.08, 0.22),
            modes=6,
            size=12,
            width=290,
            azimuth=-66,
            elevation=20,
        ),
        panel(bridge, "deck middle", (0.0, 60.0, -90.0), modes=10, size=20, width=360, azimuth=-55),
        panel(tower, "top", (8.0, 5.0, 0.0), modes=20, size=30, width=210, azimuth=-60),
        panel(heart, "tip", (-1.2, 0.8, 0.5), modes=20, size=30, width=240, azimuth=-80),
    ]
    write_png("reduced_bodies.png", np.concatenate(panels, axis=1))


if __name__ == "__main__":
    main()
