"""A damping by example as one page: pictures of its examples, and their curves."""

from __future__ import annotations

import os
from html import escape
from typing import Literal

from supple.core.checks import instance
from supple.core.errors import InputError
from supple.core.files import replacing
from supple.core.types import Floats
from supple.damping import ExampleDamping
from supple.io.report.design_pictures import ExamplePictures
from supple.io.report.design_plots import own_curve_plots
from supple.io.report.example_cards import CURVES_NOTE, DESIGN_STYLE, example_cards, figures
from supple.io.report.page import header, page
from supple.mesh import Embedding, VolumeMesh


def write_damping_page(
    path: str | os.PathLike[str],
    damping: ExampleDamping,
    mesh: VolumeMesh,
    *,
    title: str = "Damping by example",
    skin: Embedding | None = None,
    colors: Floats | None = None,
    floor: float | None = None,
    up: Literal["z", "y"] = "z",
) -> None:
    """Write a page that shows each example of a damping, swinging, and its curve.

    ``path`` is the file, ``*.html``; it needs no other file and no network. ``mesh`` is the body's;
    ``skin`` a surface embedded in it to be drawn instead of its boundary, with ``colors`` (s, 3)
    in 0…1; ``floor`` the level [m] along ``up`` that shadows fall on.
    """
    instance("damping", damping, ExampleDamping, "ExampleDamping(Rayleigh(mass=0.1), [...])")
    if not damping.examples:
        raise InputError("this damping has no examples to show; give it some")
    if damping.examples[0].shape.shape != mesh.vertices.shape:
        raise InputError(
            f"an example has shape {damping.examples[0].shape.shape}, the mesh "
            f"{mesh.vertices.shape}; give the mesh that the examples deform"
        )
    pictures = ExamplePictures.of(
        mesh, damping, skin=skin, colors=colors, floor=floor, up=up, size=(240, 240)
    )
    body = [
        header(title, f"Base: {damping.base}"),
        example_cards(damping, pictures, [""] * len(damping.examples)),
        f'<h2>How strongly each is damped</h2><p class="note">{CURVES_NOTE}</p>',
        figures(own_curve_plots(damping)),
    ]
    with replacing(path) as temporary:
        text = page(escape(title), "\n".join(body), pictures.scripts, DESIGN_STYLE)
        temporary.write_text(text, encoding="utf-8")
