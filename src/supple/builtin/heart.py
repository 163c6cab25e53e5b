"""A soft heart with its great vessels."""

from __future__ import annotations

import numpy as np

from supple.builtin.shapes import (
    Ellipsoid,
    Vessel,
    joined,
    melted,
    mixed,
    net_surface,
    painted,
    rod,
)
from supple.builtin.solid import Solid, checked_resolution, with_regions
from supple.core.types import Floats
from supple.materials import StVK
from supple.mesh import Embedding, HexMesh, Surface

_SKIN_EDGE = 0.0022  # [m] grid on which its skin is drawn
_BLEND = 0.012  # [m] how softly its parts run into one another


# Seen from the front, from −y: the tip points down to the right, as in a body that faces us.
_VENTRICLES = (
    Ellipsoid((0.012, 0.004, -0.012), (0.034, 0.034, 0.052), lean=-27.0, nod=8.0),
    Ellipsoid((-0.012, -0.012, -0.006), (0.034, 0.026, 0.042), lean=-38.0, nod=6.0),
    Ellipsoid((0.031, -0.004, -0.050), (0.013, 0.014, 0.016), lean=-30.0),
)
_ATRIA = (
    Ellipsoid((-0.036, 0.004, 0.026), (0.019, 0.022, 0.025), lean=12.0),
    Ellipsoid((-0.022, -0.020, 0.032), (0.014, 0.010, 0.011), lean=-30.0),
    Ellipsoid((0.010, 0.022, 0.032), (0.032, 0.019, 0.020)),
    Ellipsoid((0.035, -0.006, 0.027), (0.012, 0.012, 0.015), lean=25.0),
)
_RED, _BLUE, _PINK = (0.80, 0.22, 0.20), (0.36, 0.42, 0.66), (0.76, 0.40, 0.44)
_AORTA = Vessel((
    (0.002, -0.002, 0.020), (-0.009, -0.006, 0.046), (-0.004, 0.000, 0.068),
    (0.010, 0.010, 0.075), (0.023, 0.024, 0.068), (0.029, 0.040, 0.054),
), 0.0115, _RED)  # fmt: skip
_TRUNK = Vessel((
    (-0.004, -0.026, 0.014), (0.009, -0.024, 0.036), (0.021, -0.012, 0.050), (0.044, 0.006, 0.058),
), 0.0105, _BLUE)  # fmt: skip
_CAVA = Vessel(
    ((-0.034, 0.006, 0.034), (-0.033, 0.008, 0.058), (-0.031, 0.008, 0.082)), 0.0090, _BLUE
)
_LOWER_CAVA = Vessel(
    ((-0.037, 0.012, 0.010), (-0.041, 0.018, -0.012), (-0.042, 0.020, -0.030)), 0.0090, _BLUE
)
_BRANCHES = tuple(
    Vessel(((x, y, 0.066), (x + dx, y + 0.001, 0.097)), r, _RED)
    for x, y, dx, r in (
        (-0.005, 0.000, -0.006, 0.0052),
        (0.0065, 0.007, 0.001, 0.0045),
        (0.0165, 0.014, 0.006, 0.0045),
    )
)
_VEINS = tuple(
    Vessel(((0.010, 0.024, z), (x, 0.034, z + 0.006)), 0.0062, _PINK)
    for x in (-0.046, 0.060)
    for z in (0.024, 0.039)
)
_VESSELS = (_AORTA, _TRUNK, _CAVA, _LOWER_CAVA, *_BRANCHES, *_VEINS)
_UPPER = (_TRUNK, _CAVA, *_BRANCHES)  # it hangs on these

_MUSCLE, _DEEP, _FAT = (0.70, 0.20, 0.19), (0.60, 0.16, 0.20), (0.90, 0.70, 0.46)
# Coronary vessels over the front, pressed onto the surface.
_CORONARIES = (
    (((0.017, -0.040, 0.030), (0.012, -0.048, 0.004), (0.018, -0.046, -0.022),
      (0.033, -0.03, -0.055)), 0.0021, _RED),
    (((0.013, -0.046, 0.000), (0.026, -0.040, -0.014), (0.036, -0.028, -0.034)), 0.0016, _RED),
    (((-0.010, -0.040, 0.020), (-0.034, -0.034, 0.008), (-0.044, -0.020, -0.008)), 0.0019, _RED),
    (((-0.034, -0.034, 0.008), (-0.026, -0.042, -0.012), (-0.012, -0.042, -0.034)), 0.0015, _RED),
    (((0.012, -0.040, 0.024), (0.007, -0.048, 0.002), (0.0125, -0.046, -0.022),
      (0.025, -0.03, -0.053)), 0.0016, _BLUE),
)  # fmt: skip
_TAPER = np.r_[0.4, 0.85, np.linspace(1.0, 0.45, 23), 0.15]  # along a coronary vessel


def heart(*, resolution: int = 45) -> Solid:
    """A soft heart 0.16 m tall with its vessels: chambers, arteries and veins cut open, z up.

    Bricks, ``resolution`` of them over its height, with the regions "vessels", "atria" and
    "ventricles". Places: "vessel ends", on which it hangs, "tip" and "front". Its material is like
    muscle at rest, StVK(young=3e4, poisson=0.45, density=1060): hanging it swings at about 1.2 Hz.
    """
    checked_resolution(resolution, 16, 160, "over its height")
    low, high = np.array([-0.068, -0.056, -0.076]), np.array([0.072, 0.056, 0.106])
    smooth = net_surface(_distance, low, high, _SKIN_EDGE)
    mouths = [(vessel.mouth, vessel.mouth_colors) for vessel in _VESSELS]
    mesh = HexMesh.voxelize(joined([smooth, *(mouth for mouth, _ in mouths)]), resolution)
    nearest = _by_kind(mesh.centroids).argmin(axis=0)
    mesh = with_regions(mesh, {"vessels": nearest == 2, "atria": nearest == 1}, rest="ventricles")
    tubes = [(rod(_pressed(np.array(p)), r * _TAPER, sides=8), c) for p, r, c in _CORONARIES]
    skin, colors = painted([(smooth, _colors(smooth)), *mouths, *tubes])
    brick = float(np.ptp(mesh.vertices[mesh.cells[0], 2]))

    def at_ends(x: Floats) -> Floats:
        near = [np.linalg.norm(x - v.end, axis=1) < v.radius + brick for v in _UPPER]
        return np.asarray(np.any(near, axis=0))

    places = {
        "vessel ends": mesh.where(inside=at_ends),
        "tip": mesh.where(z=(None, mesh.bounds[0, 2] + 1.5 * brick)),
        "front": mesh.where(
            inside=lambda x: np.linalg.norm(x - (0.0, -0.042, -0.01), axis=1) < 0.012
        ),
    }
    material = StVK(young=3e4, poisson=0.45, density=1060)
    return Solid(mesh, Embedding(mesh, skin), colors, places, material)


def _by_kind(places: Floats) -> Floats:
    """Distance from ventricles, atria and vessels [m], (3, p)."""
    kinds = (_VENTRICLES, _ATRIA, _VESSELS)
    return np.array([np.min([part.distance(places) for part in kind], axis=0) for kind in kinds])


def _distance(places: Floats) -> Floats:
    chambers = melted((part.distance(places) for part in (*_VENTRICLES, *_ATRIA)), _BLEND)
    vessels = melted((vessel.distance(places) for vessel in _VESSELS), 0.25 * _BLEND)
    return melted((chambers, vessels), 0.5 * _BLEND)


def _pressed(points: Floats) -> Floats:
    """A smooth path through points (k, 3), moved onto the surface of the chambers."""
    from scipy.interpolate import make_interp_spline  # slow to import

    s = np.linspace(0.0, 1.0, len(points))
    path: Floats = make_interp_spline(s, points, k=2)(np.linspace(0.0, 1.0, len(_TAPER)))
    steps = 1e-5 * np.concatenate([np.eye(3), -np.eye(3)])[:, None]
    for _ in range(8):
        ahead, behind = _distance((path + steps).reshape(-1, 3)).reshape(2, 3, -1)
        slope = (ahead - behind).T
        slope /= np.linalg.norm(slope, axis=1, keepdims=True)
        path = path - _distance(path)[:, None] * slope
    return path


def _colors(surface: Surface) -> Floats:
    """Muscle, darker atria, fat in the groove between them, and vessels in their colours."""
    places = surface.vertices
    ventricles, atria, vessels = _by_kind(places)
    colors = np.tile(np.array(_MUSCLE), (len(places), 1))
    colors = mixed(colors, 0.5 - (atria - ventricles) / 0.006, _DEEP)
    colors = mixed(colors, 1.0 - np.abs(atria - ventricles) / 0.006, _FAT)
    nearest = np.argmin([vessel.distance(places) for vessel in _VESSELS], axis=0)
    own = np.array([vessel.color for vessel in _VESSELS])[nearest]
    return mixed(colors, 0.5 - (vessels - np.minimum(ventricles, atria)) / 0.004, own)
