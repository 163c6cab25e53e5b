"""What of bodies that cannot come near themselves is anywhere near others."""

import numpy as np

from supple._kernels.compiling import kernel
from supple._kernels.contact.boxes import overlap


@kernel
def part_boxes(x, y, parts, room, boxes):
    """Fills the box (parts, 6) of each part's vertices on the way from x to y (m, 3), and more."""
    boxes[:, :3] = np.inf
    boxes[:, 3:] = -np.inf
    for a in range(len(x)):
        own = boxes[parts[a]]
        for i in range(3):
            own[i] = min(own[i], x[a, i] - room, y[a, i] - room)
            own[3 + i] = max(own[3 + i], x[a, i] + room, y[a, i] + room)


@kernel
def in_company(x, y, prims, alone, parts, boxes, meet, near):
    """Fills which primitives (k, nodes) are in the box of another part, or may meet their own.

    ``alone`` (m,) tells of which vertices it takes another part, ``meet`` (parts, parts) which
    boxes overlap.
    """
    own = np.empty(6)
    for k in range(len(prims)):
        if not alone[prims[k, 0]]:
            near[k] = True
            continue
        for i in range(3):
            own[i], own[3 + i] = np.inf, -np.inf
            for a in range(prims.shape[1]):
                p, q = x[prims[k, a], i], y[prims[k, a], i]
                own[i], own[3 + i] = min(own[i], p, q), max(own[3 + i], p, q)
        part = parts[prims[k, 0]]
        near[k] = False
        for other in range(len(boxes)):
            if other != part and meet[part, other] and overlap(own, boxes[other]):
                near[k] = True
                break
