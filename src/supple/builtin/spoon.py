"""A soft spoon."""

from __future__ import annotations

import numpy as np

from supple.builtin.shapes import loft, mixed
from supple.builtin.solid import Solid, checked_resolution, with_regions
from supple.core.types import Floats
from supple.materials import StVK
from supple.mesh import Embedding, HexMesh, Surface

_LENGTH = 0.25  # [m]
_BOWL = 0.078  # [m] from the tip to where the neck begins
_STATIONS, _AROUND = 104, 32  # rings of the skin, and points on each

# Along the spoon, from the held end at x = 0 to the tip [m]:
_X = (0.0, 0.045, 0.09, 0.135, 0.166, 0.188, 0.210, 0.232, 0.250)
_MIDDLE = (0.0035, 0.0155, 0.0205, 0.0150, 0.0050, -0.0060, -0.0120, -0.0085, 0.0)  # its height
_LIFT = (-0.0012, -0.0008, -0.0005, 0.0, 0.0006, 0.0066, 0.0120, 0.0085, 0.0)  # of its sides
_THICK = (0.0034, 0.0032, 0.0030, 0.0034, 0.0032, 0.0025, 0.0022, 0.0022, 0.0022)
_STEEL, _SHADE = (0.72, 0.77, 0.84), (0.55, 0.62, 0.73)


def spoon(*, resolution: int = 100) -> Solid:
    """A soft spoon 0.25 m long, with a hollow bowl and a curved handle, along x, z up.

    Bricks, ``resolution`` of them along it, with the regions "handle", "neck" and "bowl". Places:
    "far end", the end of the handle, "middle" and "bowl tip". Its material is a rubbery plastic,
    StVK(young=4e7, poisson=0.4, density=1100): held at the far end it swings at about 2 Hz.
    """
    checked_resolution(resolution, 30, 400, "along it")
    skin = _skin()
    mesh = HexMesh.voxelize(skin, resolution)
    x = mesh.centroids[:, 0]
    parts = {"bowl": x > _LENGTH - _BOWL, "neck": x > 0.135}
    mesh = with_regions(mesh, parts, rest="handle")
    brick = _LENGTH / resolution
    places = {
        "far end": mesh.where(x=(None, 0.006 + 0.5 * brick)),
        "middle": mesh.where(x=(0.125 - brick, 0.125 + brick)),
        "bowl tip": mesh.where(x=(_LENGTH - 1.5 * brick, None)),
    }
    material = StVK(young=4e7, poisson=0.4, density=1100)
    colors = mixed(_STEEL, (0.172 - skin.vertices[:, 0]) / 0.03, _SHADE)
    return Solid(mesh, Embedding(mesh, skin), colors, places, material)


def _skin() -> Surface:
    """Rings around the spoon, each a lens that is bent up at its sides where the bowl is."""
    from scipy.interpolate import CubicSpline  # slow to import

    even = np.linspace(0.0, np.pi, _STATIONS + 2)[1:-1]
    x = 0.5 * _LENGTH * (1 - 0.55 * np.cos(even) - 0.45 * (1 - 2 * even / np.pi))  # dense at ends
    middle, lift, thick = (CubicSpline(_X, y)(x) for y in (_MIDDLE, _LIFT, _THICK))
    width = _half_width(x)
    turn = 2 * np.pi * (np.arange(_AROUND) + 0.5) / _AROUND
    across = np.cos(turn)[None, :]
    over = np.sign(np.sin(turn)) * np.abs(np.sin(turn)) ** 0.75
    half = 0.5 * np.minimum(thick, 1.6 * width)[:, None]
    y = width[:, None] * across
    z = middle[:, None] + lift[:, None] * across**2 + half * over
    return loft(np.stack([np.broadcast_to(x[:, None], y.shape), y, z], axis=-1))


def _half_width(x: Floats) -> Floats:
    """Half the width of the spoon [m]: an egg for the bowl, a handle that widens to its end."""
    from scipy.interpolate import PchipInterpolator  # slow to import

    along = np.clip((x - (_LENGTH - _BOWL)) / _BOWL, 0.0, 1.0)
    egg = 0.0225 * np.sqrt(np.maximum(4 * along * (1 - along), 0.0)) * (1.08 - 0.22 * along)
    stick = PchipInterpolator(
        (0.0, 0.02, 0.10, 0.15, 0.19, 0.25), (0.0098, 0.0102, 0.0062, 0.0042, 0.0042, 0.0)
    )(x)
    end = np.sqrt(np.clip(1 - (1 - np.minimum(x / 0.009, 1.0)) ** 2, 0.0, 1.0))
    # The 3-norm of both runs smoothly from one into the other.
    return np.asarray(end * (egg**3 + stick**3) ** (1 / 3))
