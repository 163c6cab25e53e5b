"""Pictures of example deformations: how the body swings between −1 and +1 of each."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.damping import Example, ExampleDamping
from supple.io.pictures import Camera, png_address, render
from supple.io.report.look import CREASE, paint_of, upright
from supple.io.report.player import view_data
from supple.io.surfaces import Shading
from supple.mesh import Embedding, VolumeMesh
from supple.web.pages import data_element, encoded, json_text, script_element

_HOT = np.array([0.86, 0.23, 0.16])  # what moves most
_PALE = np.array([0.90, 0.87, 0.83])  # what stays where it is
_PAINTED = 0.35  # how much of the body's own colours is left
_GHOST = (0.60, 0.57, 0.54, 0.34)  # of the shape without the example
_LEAST, _MOST = 0.05, 0.25  # of the diagonal: how far the farthest vertex should go in a picture
_BUDGET = 1_500_000  # bytes of moving shapes, before base64


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
        cls,
        mesh: VolumeMesh,
        damping: ExampleDamping,
        *,
        skin: Embedding | None,
        colors: Floats | None,
        floor: float | None,
        up: Literal["z", "y"],
        size: tuple[int, int],
    ) -> ExamplePictures:
        """Pictures of ``size`` (width, height) pixels, with the options of the report."""
        surface = _Surface.of(mesh, skin, colors, up)
        about = np.zeros_like(mesh.vertices) if damping.about is None else damping.about
        drawn = [_excitation(example, mesh.diagonal) for example in damping.examples]
        moves = [s * e.shape for s, e in zip(drawn, damping.examples, strict=True)]
        rest = surface.positions(about)
        ends = [surface.positions(about + sign * u) for u in moves for sign in (-1, 1)]
        aspect = size[0] / size[1]
        camera = Camera.framing(np.concatenate([rest, *ends]), floor=floor, aspect=aspect)
        paints = [surface.painted(u) for u in moves]
        ghost = render(rest, surface.triangles, camera, size=size)
        stills = [
            render(positions, surface.triangles, camera, size=size, colors=paint)
            for positions, paint in zip(ends[1::2], paints, strict=True)
        ]
        data = ""
        if len(rest) * (24 + 9 * len(moves)) <= _BUDGET:
            data = json_text(
                {
                    "rest": encoded(rest, "<f4"),
                    "examples": [
                        _moving(end - rest, paint)
                        for end, paint in zip(ends[1::2], paints, strict=True)
                    ],
                    "ghost": _GHOST,
                }
                | view_data(len(rest), surface.triangles, camera, aspect)
            )
        return cls([png_address(_over(image, ghost)) for image in stills], drawn, data)


@dataclass(frozen=True, eq=False)
class _Surface:
    """What is drawn of the mesh: its boundary, or the skin embedded in it."""

    rest: Floats
    triangles: Ints
    paint: Floats
    up: Literal["z", "y"]
    _skin: Embedding | None
    _source: Ints

    @classmethod
    def of(
        cls,
        mesh: VolumeMesh,
        skin: Embedding | None,
        colors: Floats | None,
        up: Literal["z", "y"],
    ) -> _Surface:
        whole = mesh.boundary() if skin is None else skin.surface
        if skin is not None and len(skin.mesh.vertices) != len(mesh.vertices):
            raise InputError(
                f"the skin is embedded in a mesh of {len(skin.mesh.vertices)} vertices, but the "
                f"examples have {len(mesh.vertices)}; embed it in the mesh that is damped"
            )
        shading = Shading.cut(whole.vertices, whole.triangles, CREASE)
        rest = whole.vertices[shading.source]
        paint = paint_of(whole.vertices, colors)[shading.source]
        source = shading.source
        if skin is None and whole.vertex_ids is not None:
            source = whole.vertex_ids[source]
        return cls(rest, shading.triangles, paint, up, skin, source)

    def displaced(self, u: Floats) -> Floats:
        """Displacements of what is drawn [m], (v, 3)."""
        return (u if self._skin is None else self._skin.displace(u))[self._source]

    def positions(self, u: Floats) -> Floats:
        """Vertices as drawn, z up [m], (v, 3)."""
        return upright(self.rest + self.displaced(u), self.up)

    def painted(self, u: Floats) -> Floats:
        """Colours that glow where displacements are large, (v, 3)."""
        far = np.linalg.norm(self.displaced(u), axis=1)
        share = (far / max(far.max(), 1e-300))[:, None]
        glow = (1 - share) * _PALE + share * _HOT
        colors: Floats = _PAINTED * self.paint + (1 - _PAINTED) * glow
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
