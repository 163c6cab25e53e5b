"""Pictures of example deformations, on cards: the body swings between −1 and +1 of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.core.threads import map_all
from supple.core.types import Floats
from supple.damping import Example, ExampleDamping
from supple.io.pictures import Camera, png_address, render
from supple.io.report.design_plots import name_of
from supple.io.report.look import CREASE, Shown, view_data
from supple.io.surfaces import Shading, drawn_surface
from supple.mesh import VolumeMesh
from supple.web.pages import data_element, encoded, json_text, script_element

_HOT = np.array([0.86, 0.23, 0.16])  # what moves most
_PALE = np.array([0.90, 0.87, 0.83])  # what stays where it is
_PAINTED = 0.35  # how much of the body's own colours is left
_GHOST = (0.60, 0.57, 0.54, 0.34)  # of the shape without the example
_LEAST, _MOST = 0.05, 0.25  # of the diagonal: how far the farthest vertex should go in a picture
_BUDGET = 1_500_000  # bytes of moving shapes, before base64

DESIGN_STYLE = "report/design.css"
CURVES_NOTE = (
    "γ scales the damping along an example: 1 is the base damping, 10 is ten times as strong. "
    "The excitation |χ| says how much of the example is in the deformation; at 1 it is "
    "the example itself."
)


@dataclass(frozen=True, eq=False)
class ExamplePictures:
    """The body at +1 of each example, all seen by the same camera, and how to move it.

    ``stills`` are addresses; ``drawn`` the excitations that are drawn for 1, where that would be
    too small to see or too large to draw; ``data`` is for ``web/report/examples.js``, empty
    where the body is too large for a page.
    """

    stills: list[str]
    drawn: list[float]
    data: str

    @property
    def scripts(self) -> str:
        """What makes the pictures swing, for the end of the page."""
        if not self.data:
            return ""
        return data_element("shapes", self.data) + script_element("report/examples.js")

    @classmethod
    def of(
        cls, mesh: VolumeMesh, damping: ExampleDamping, shown: Shown, *, size: tuple[int, int]
    ) -> ExamplePictures:
        """Pictures of ``size`` (width, height) pixels."""
        assert not isinstance(shown.skin, Mapping)  # one body
        surface = drawn_surface(mesh, shown.skin)
        shading = Shading.cut(surface.rest, surface.triangles, CREASE)
        own = shown.paint(surface.rest)[shading.source]

        def at(u: Floats) -> Floats:
            return surface.moved(u)[shading.source]

        about = np.zeros_like(mesh.vertices) if damping.about is None else damping.about
        drawn = [_excitation(example, mesh.diagonal) for example in damping.examples]
        moves = [e.at(s) for s, e in zip(drawn, damping.examples, strict=True)]
        rest = shown.upright(at(about))
        ends = [shown.upright(at(about + sign * u)) for u in moves for sign in (-1, 1)]
        paints = [_painted(at(u) - surface.rest[shading.source], own) for u in moves]
        pictured = list(zip(ends[1::2], paints, strict=True))
        aspect = size[0] / size[1]
        camera = Camera.framing(np.concatenate([rest, *ends]), floor=shown.floor, aspect=aspect)
        ghost, *stills = map_all(
            lambda of: render(of[0], shading.triangles, camera, size=size, colors=of[1]),
            [(rest, None), *pictured],
        )
        data = ""
        if len(rest) * (24 + 9 * len(moves)) <= _BUDGET:
            data = json_text(
                {
                    "rest": encoded(rest, "<f4"),
                    "examples": [_moving(end - rest, paint) for end, paint in pictured],
                    "ghost": _GHOST,
                }
                | view_data(len(rest), shading.triangles, camera, aspect)
            )
        return cls([png_address(_over(image, ghost)) for image in stills], drawn, data)


def example_cards(
    damping: ExampleDamping, pictures: ExamplePictures, frequencies: Sequence[str]
) -> str:
    """A card an example: picture, name, frequency where it is known, and size."""
    cards = []
    for i, example in enumerate(damping.examples):
        name, scale = escape(name_of(damping, i)), pictures.drawn[i]
        facts = [f"up to {_length(example.amplitude)} at χ = 1"]
        if frequencies[i]:
            facts.insert(0, frequencies[i])
        if scale != 1:
            facts.append(f"drawn {scale:g} times as large")
        says = f"The body deformed by {name}, over its outline without"
        cards.append(
            f'<figure><div class="shot"><canvas role="img" aria-label="{says}, swinging">'
            f'</canvas><img alt="{says}" src="{pictures.stills[i]}"></div>'
            f"<figcaption><h3>{name}</h3><p>{'<br>'.join(map(escape, facts))}</p></figcaption>"
            "</figure>"
        )
    columns = min(len(cards), 4)
    return f'<div id="examples" style="--columns: {columns}">{"".join(cards)}</div>'


def _painted(moved: Floats, own: Floats) -> Floats:
    """Colours that glow where displacements (v, 3) are large, over those of the body, (v, 3)."""
    far = np.linalg.norm(moved, axis=1)
    share = (far / max(far.max(), 1e-300))[:, None]
    glow = (1 - share) * _PALE + share * _HOT
    colors: Floats = _PAINTED * own + (1 - _PAINTED) * glow
    return colors


def _excitation(example: Example, diagonal: float) -> float:
    """The excitation to draw: 1, or a round number that makes the example easy to see."""
    share = example.amplitude / diagonal
    if _LEAST <= share <= _MOST:
        return 1.0
    wanted = (_LEAST if share < _LEAST else _MOST) / share
    power = floor(log10(wanted))
    step = min((1, 2, 5, 10), key=lambda m: abs(m - wanted / 10.0**power))
    return float(f"{step}e{power}")


def _moving(shape: Floats, paint: Floats) -> dict[str, Any]:
    scale = max(float(np.abs(shape).max()), 1e-300) / 32767.0
    return {
        "shape": encoded(np.round(shape / scale), "<i2"),
        "scale": float(f"{scale:.7g}"),
        "colors": encoded(np.round(255 * paint), "u1"),
    }


def _over(image: NDArray[np.uint8], rest: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A picture over the outline of the body without the example."""
    top = image / 255.0
    opacity = top[..., 3:]
    under = _GHOST[3] * (rest[..., 3:] == 255) * (1 - opacity)
    alpha = opacity + under
    color = (top[..., :3] * opacity + np.array(_GHOST[:3]) * under) / np.maximum(alpha, 1e-6)
    return np.asarray(255.0 * np.concatenate([color, alpha], axis=-1) + 0.5, dtype=np.uint8)


def _length(metres: float) -> str:
    return f"{metres:.3g} m" if metres >= 1 else f"{1e3 * metres:.3g} mm"
