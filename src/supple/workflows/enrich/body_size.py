"""Which vertices of a file are the body of its character, and how large that is."""

from __future__ import annotations

import numpy as np

from supple.core.types import Bools, Floats
from supple.io.gltf.character import RiggedFile


def body_vertices(rigged: RiggedFile) -> Bools:
    """Which vertices have a skin and lie where a triangle has a corner, (n,).

    Scenery has no skin, and strays have no triangle. Primitives may share vertices of which each
    uses some: those lie where others have corners.
    """
    skin = rigged.character.skin
    with_skin = np.concatenate([np.full(part.count, part.skinned) for part in rigged.parts])
    places = np.unique(skin.vertices + 0.0, axis=0, return_inverse=True)[1].ravel()
    return with_skin & np.isin(places, places[skin.triangles[with_skin[skin.triangles[:, 0]]]])


def body_sides(rigged: RiggedFile) -> Floats:
    """Sides of the box about the body at rest [m], (3,)."""
    x = rigged.character.surface().vertices[body_vertices(rigged)]
    return np.asarray(np.ptp(x, axis=0)) if len(x) else np.zeros(3)
