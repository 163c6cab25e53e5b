"""A soft creature."""

from __future__ import annotations

import numpy as np

from supple.builtin.shapes import Ellipsoid, icosphere, melted, mixed, net_surface, painted
from supple.builtin.solid import Solid, checked_resolution, with_regions
from supple.core.types import Bools, Floats
from supple.mesh import Embedding, HexMesh

_SKIN_EDGE = 0.0075  # [m] grid on which the creature's skin is drawn
_BLEND = 0.022  # [m] how softly two of its ellipsoids run into one another

# The creature looks towards −y and stands on z = 0; it is 0.43 m tall, ears included.
_BELLY = Ellipsoid((0.0, -0.030, 0.100), (0.086, 0.080, 0.082))
_EAR = Ellipsoid((0.062, 0.006, 0.345), (0.030, 0.022, 0.088), lean=20.0, nod=-6.0)
_HEAD = Ellipsoid((0.0, -0.014, 0.245), (0.088, 0.078, 0.070))
_EARS = (_EAR, _EAR.mirrored())
_FOOT = Ellipsoid((0.060, -0.062, 0.026), (0.040, 0.060, 0.028))
_ARM = Ellipsoid((0.098, -0.040, 0.148), (0.026, 0.028, 0.052), lean=-38.0, nod=-24.0)
_BODY = (
    Ellipsoid((0.0, 0.0, 0.105), (0.100, 0.088, 0.105)),
    _BELLY,
    _HEAD,
    Ellipsoid((0.0, -0.078, 0.228), (0.040, 0.028, 0.028)),
    Ellipsoid((0.0, 0.094, 0.062), (0.036, 0.034, 0.036)),
    *_EARS,
    *(part for limb in (_FOOT, _ARM) for part in (limb, limb.mirrored())),
)
# What holds the flesh: pelvis and spine, skull, feet and arms. Belly and ears hang from them.
_BONES = (
    Ellipsoid((0.0, 0.045, 0.110), (0.075, 0.050, 0.120)),
    Ellipsoid((0.0, -0.010, 0.245), (0.075, 0.065, 0.058)),
    *(
        part
        for limb in (
            Ellipsoid((0.060, -0.050, 0.020), (0.050, 0.080, 0.030)),
            Ellipsoid((0.112, -0.045, 0.158), (0.040, 0.050, 0.070)),
        )
        for part in (limb, limb.mirrored())
    ),
)
_EYE = Ellipsoid((0.034, -0.0795, 0.262), (0.0115, 0.0075, 0.0145), lean=0.0, nod=12.0)
_GLINT = Ellipsoid((0.037, -0.0856, 0.2675), (0.0036, 0.0024, 0.0036))
_NOSE = Ellipsoid((0.0, -0.105, 0.238), (0.0125, 0.0085, 0.0085))

_FUR, _PALE, _ROSE = (0.87, 0.62, 0.46), (0.98, 0.89, 0.77), (0.95, 0.66, 0.62)
_DARK, _WHITE = (0.14, 0.11, 0.13), (1.0, 1.0, 1.0)


def creature(*, resolution: int = 24) -> Solid:
    """A soft creature 0.43 m tall: round belly, head, two floppy ears.

    Bricks, ``resolution`` of them over its height, with the regions "ears", "belly" and "rest",
    and a smooth skin. Places: "feet", what it stands on, "bones", which carry belly and ears,
    "head", "ear tips", and "left ear tip" and "right ear tip" as the creature has them.
    """
    checked_resolution(resolution, 16, 120, "over its height")
    low, high = np.array([-0.16, -0.17, -0.02]), np.array([0.16, 0.16, 0.46])
    smooth = net_surface(_blended, low, high, _SKIN_EDGE)
    mesh = HexMesh.voxelize(smooth, resolution)
    middle = mesh.centroids
    ears = (np.min([ear.distance(middle) for ear in _EARS], axis=0) < 0.006) & (
        _HEAD.distance(middle) > 0.004
    )
    belly = _BELLY.distance(middle) < 0.0
    mesh = with_regions(mesh, {"ears": ears, "belly": belly}, rest="rest")
    face = [(_EYE, _DARK), (_EYE.mirrored(), _DARK), (_GLINT, _WHITE), (_GLINT.mirrored(), _WHITE)]
    features = [(icosphere(part), color) for part, color in [*face, (_NOSE, _DARK)]]
    skin, colors = painted([(smooth, _fur(smooth.vertices)), *features])
    brick = float(np.ptp(mesh.vertices[mesh.cells[0], 2]))
    top = mesh.bounds[1, 2]
    feet = mesh.where(z=(None, mesh.bounds[0, 2] + 0.5 * brick))
    tips = mesh.where(z=(top - 1.5 * brick, None))
    places = {
        "feet": feet,
        "bones": np.union1d(feet, mesh.where(inside=_is_bone)),
        "head": mesh.where(inside=lambda x: np.asarray(_HEAD.distance(x) < 0)),
        "ear tips": tips,
        "left ear tip": tips[mesh.vertices[tips, 0] > 0],
        "right ear tip": tips[mesh.vertices[tips, 0] < 0],
    }
    return Solid(mesh, Embedding(mesh, skin), colors, places)


def _is_bone(places: Floats) -> Bools:
    return np.asarray(np.min([bone.distance(places) for bone in _BONES], axis=0) < 0)


def _blended(places: Floats) -> Floats:
    """Distance from all ellipsoids, melted together where they meet; the same left and right."""
    places = np.abs(places[:, :1]) * np.array([1.0, 0.0, 0.0]) + places * np.array([0.0, 1.0, 1.0])
    return melted((part.distance(places) for part in _BODY), _BLEND)


def _fur(places: Floats) -> Floats:
    """Colours: pale belly, muzzle and tail, rosy inside of the ears."""

    def blend(share: Floats, color: tuple[float, float, float], onto: Floats) -> Floats:
        s = np.clip(share, 0.0, 1.0)
        return mixed(onto, s * s * (3 - 2 * s), color)

    x, y, z = places.T
    colors = np.tile(np.array(_FUR), (len(places), 1))
    patch = Ellipsoid((0.0, -0.115, 0.100), (0.062, 0.07, 0.062)).distance(places)
    muzzle = Ellipsoid((0.0, -0.09, 0.224), (0.045, 0.035, 0.030)).distance(places)
    tail = Ellipsoid((0.0, 0.125, 0.062), (0.04, 0.035, 0.04)).distance(places)
    for where in (patch, muzzle, tail):
        colors = blend(0.5 - where / 0.010, _PALE, colors)
    for side in (1, -1):
        cheek = np.sqrt((x - side * 0.060) ** 2 + (y + 0.078) ** 2 + (z - 0.228) ** 2)
        colors = blend(0.75 * (1.4 - cheek / 0.017), _ROSE, colors)
        inner = Ellipsoid((side * 0.064, -0.025, 0.352), (0.019, 0.022, 0.066), side * 20.0, -6.0)
        colors = blend(0.5 - inner.distance(places) / 0.006, _ROSE, colors)
    return colors
