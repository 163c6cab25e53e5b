"""A page in which a reduced model lives: one file that needs nothing but a browser."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Literal

import numpy as np
from scipy.spatial import cKDTree

from supple.core.errors import InputError
from supple.core.files import replacing
from supple.core.types import Floats, Ints
from supple.io.surfaces import Shading
from supple.reduction import ReducedModel
from supple.reduction.errors.told import known_of, notes_of
from supple.web.pages import data_element, encoded, fill, json_text, page_text, script_element

MOST_BYTES = 40e6
"""A page that is larger is not written."""
_CREASE = 40.0  # [degrees]; edges that bend by more look sharp
_SLOW = 3.0  # [Hz]; a body that vibrates faster is shown in slow motion
_BODY = (0.84, 0.47, 0.33)
_PALETTE = (
    (0.84, 0.47, 0.33),
    (0.29, 0.56, 0.60),
    (0.86, 0.71, 0.36),
    (0.57, 0.46, 0.70),
    (0.52, 0.63, 0.40),
    (0.78, 0.50, 0.56),
)
_REST = (0.72, 0.68, 0.63)
_Z_UP = np.array([(1.0, 0, 0), (0, 0, -1), (0, 1, 0)])  # takes (x, y, z) with y up to z up


@dataclass(frozen=True, eq=False)
class Record:
    """A run to show: q (T, r), frames ``dt`` [s] apart, for a free body also its frame.

    ``rotations`` (T, 3, 3) and ``positions`` (T, 3) [m] of the centre of mass.
    """

    dt: float
    q: Floats
    rotations: Floats | None = None
    positions: Floats | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Play:
    """What a page starts with.

    ``poke`` (r,) are the coordinates that the poke begins with; ``compliance`` [m/N] says how far
    the softest place gives way. ``record`` is shown where the model cannot run in a page.
    """

    title: str
    poke: Floats
    compliance: float
    dt: float = 1e-3
    damping: float = 0.03
    gravity: float = 0.0
    up: Literal["y", "z"] = "z"
    record: Record | None = None


def runs_in_page(model: ReducedModel) -> bool:
    """Whether a page can run the model: it can if it is held and its energy is a polynomial."""
    return model.floating is None and model.quartic is not None


def write_play_page(path: str | os.PathLike[str], model: ReducedModel, play: Play) -> bool:
    """Writes the page, whole or not at all; whether it draws all of the model's skin.

    A skin that would make the page larger than a browser likes gives way to the boundary of the
    mesh. Raises InputError where that is too large too, or where the model can only be shown and
    there is no record.
    """
    if play.record is None and not runs_in_page(model):
        raise InputError(
            "a page can run models of StVK bodies that are held; this one needs a record of a run"
        )
    text = play_page(model, play)
    coarser = len(text) > MOST_BYTES and model.skin is not None
    if coarser:
        text = play_page(replace(model, skin=None), play)
    if len(text) > MOST_BYTES:
        raise InputError(
            f"the page would have {len(text) / 1e6:,.0f} MB, more than {MOST_BYTES / 1e6:.0f}; "
            "take fewer coordinates (--size), or give the model a coarser mesh or skin"
        )
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return not coarser


def play_page(model: ReducedModel, play: Play) -> str:
    """The whole page as text."""
    body = fill(
        "play/play.html",
        title=escape(play.title),
        size=f"{model.mesh.n_vertices:,} vertices, moved by {model.size} coordinates",
        controls=_controls(model, play),
        known=_known(model),
    )
    data = data_element("model", json_text(_data(model, play)))
    return page_text(play.title, body, data + script_element("play/play.js"), "play/play.css")


# -- the controls --------------------------------------------------------------------------------


def _controls(model: ReducedModel, play: Play) -> str:
    scale = min(1.0, _SLOW / max(float(model.frequencies[0]), 1e-9))
    slowest = min(-1.3, float(np.log10(scale)) - 1.0)
    time = _slider("Time", "time", slowest, 0.5, float(np.log10(scale)))
    if play.record is not None:
        return fill("play/recorded.html", sliders=time)
    regions = [
        _slider(escape(name), "region", -1, 1, 0, region=k, color=_PALETTE[k % len(_PALETTE)])
        for k, name in enumerate(model.regions)
    ]
    sliders = [
        _slider("Stiffness", "stiffness", -1, 1, 0),
        *regions,
        _slider("Damping", "damping", 0, 1, play.damping**0.5),
        _slider("Gravity", "gravity", 0, max(20.0, play.gravity), play.gravity),
        time,
    ]
    return fill("play/live.html", sliders="\n".join(sliders))


def _known(model: ReducedModel) -> str:
    """How the model compares with its body, where that is known."""
    rows = known_of(model)
    if not rows:
        return ""
    style = "off" if notes_of(model) else "near"
    listed = "".join(fill("play/row.html", name=escape(k), text=escape(v)) for k, v in rows)
    return fill("play/known.html", style=style, rows=listed)


def _slider(
    label: str,
    name: str,
    low: float,
    high: float,
    value: float,
    *,
    region: int | None = None,
    color: tuple[float, ...] | None = None,
) -> str:
    chip = ""
    if color is not None:
        red, green, blue = (round(255 * c) for c in color)
        chip = f'<i style="background:rgb({red},{green},{blue})"></i>'
    where = "" if region is None else f' data-region="{region}"'
    return (
        f'<label class="slider"><span>{chip}{label}</span><output></output><input type="range" '
        f'data-name="{name}"{where} min="{low:g}" max="{high:g}" step="any" '
        f'value="{value:.6g}"></label>'
    )


# -- the data ------------------------------------------------------------------------------------


def _data(model: ReducedModel, play: Play) -> dict[str, Any]:
    turn = _Z_UP if play.up == "y" else np.eye(3)
    rest, triangles, vectors = _surface(model)
    rest = rest @ turn.T
    vectors = vectors @ turn.T
    scales = np.maximum(np.abs(vectors).max(axis=(1, 2)), 1e-300) / 32767.0
    shading = Shading.cut(rest, triangles, _CREASE)
    low, high = rest.min(axis=0), rest.max(axis=0)
    diagonal = float(np.linalg.norm(high - low))
    floor = _floor(model, play.up, float(low[2]), diagonal)
    target = 0.5 * (low + high)
    data: dict[str, Any] = {
        "size": model.size,
        "scales": [float(f"{s:.9g}") for s in scales],
        "vectors": encoded(np.round(vectors / scales[:, None, None]), "<i2"),
        "source": encoded(shading.source, "<u4"),
        "triangles": encoded(shading.triangles, "<u4"),
        "colors": encoded(np.round(255 * _colors(model, rest @ turn)), "u1"),
        "regions": list(model.regions),
        "members": [[model.regions.index(name) for name in g.regions] for g in model.groups],
        "frequency": float(model.frequencies[0]),
        "compliance": play.compliance,
        "dt": play.dt,
        "reach": 0.6 * diagonal,
        "target": target.tolist(),
        "radius": 0.5 * diagonal,
        "azimuth": -62.0,
        "elevation": 16.0,
        "floor": floor,
        "grid": _round_number(diagonal / 9),
    }
    if play.record is None:
        data |= {
            "rest": encoded(rest, "<f4"),
            "groups": [encoded(energy, "<f8") for energy in _energies(model)],
            "mass": encoded(model.mass, "<f8"),
            "down": encoded(model.weight(-turn[2]), "<f8"),
            "poke": encoded(play.poke, "<f8"),
        }
        return data
    data["record"] = {"dt": play.record.dt, "q": encoded(play.record.q, "<f4")}
    if model.floating is not None:
        rotations, positions = play.record.rotations, play.record.positions
        assert rotations is not None
        assert positions is not None
        centre = turn @ model.floating.centre
        rest = rest - centre
        poses = np.empty((len(positions), 12))
        poses[:, :9] = (turn @ rotations @ turn.T).reshape(-1, 9)
        poses[:, 9:] = positions @ turn.T
        data["record"]["poses"] = encoded(poses, "<f4")
        data["centre"] = centre.tolist()
    return data | {"rest": encoded(rest, "<f4")}


def _surface(model: ReducedModel) -> tuple[Floats, Ints, Floats]:
    """What is drawn: vertices (s, 3), triangles and basis (r, s, 3) of the skin or the boundary."""
    if model.skin is not None:
        return model.skin.vertices, model.skin.triangles, model.skin.vectors
    surface = model.mesh.boundary()
    return surface.vertices, surface.triangles, model.vectors[:, surface.vertex_ids]


def _energies(model: ReducedModel) -> list[Floats]:
    return [group.energy.at(*group.lame) for group in model.groups if group.energy is not None]


def held_vertices(model: ReducedModel) -> Ints:
    """The vertices that no coordinate moves."""
    return np.flatnonzero(np.abs(model.vectors).max(axis=(0, 2)) == 0.0)


def _floor(model: ReducedModel, up: str, low: float, diagonal: float) -> float:
    """The ground: under the feet of a body that stands, well below one that hangs or flies."""
    z = model.mesh.vertices[:, "xyz".index(up)]
    held = z[held_vertices(model)]
    stands = len(held) and held.max() <= z.min() + 0.1 * np.ptp(z)
    return low if stands else low - 0.22 * diagonal


def _colors(model: ReducedModel, places: Floats) -> Floats:
    """Of the drawn vertices (s, 3): each region its own, the rest of the body grey."""
    mesh = model.mesh
    names = model.regions or tuple(mesh.regions)
    if not model.regions and not 2 <= len(names) <= len(_PALETTE):
        return np.tile(np.array(_BODY), (len(places), 1))
    by_cell = np.tile(np.array(_REST), (mesh.n_cells, 1))
    for k, name in enumerate(names):
        by_cell[mesh.region(name)] = _PALETTE[k % len(_PALETTE)]
    # A few of the nearest cells, so that one colour runs softly into the next.
    _, nearest = cKDTree(mesh.centroids).query(places, k=range(1, min(6, mesh.n_cells) + 1))
    colors: Floats = by_cell[nearest].mean(axis=1)
    return colors


def _round_number(value: float) -> float:
    """1, 2 or 5 times a power of ten, not above the value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(step for step in (1, 2, 5) if step * power <= value * 1.0001))
