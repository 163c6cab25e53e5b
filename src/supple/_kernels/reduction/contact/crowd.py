"""Which copies of a reduced model may touch an obstacle on their way."""

import numpy as np

from supple._kernels.compiling import reordering_kernel
from supple._kernels.reduction.contact.pairs import MARGIN
from supple._kernels.reduction.contact.shapes import GIVEN, next_near


@reordering_kernel
def find_near(contacts, now, then, lasts, poses, near):
    """Sets ``near`` (copies,) where one may, on its way from ``now`` to ``then`` (r, copies).

    Obstacles are where row 0 of ``poses`` has them, and move on for ``lasts`` [s]. Those whose
    planes come from outside are left out.
    """
    balls, shapes, pairs = contacts.balls, contacts.shapes, contacts.pairs
    way, q = pairs.way, pairs.rates[0]
    margin = pairs.options[MARGIN]
    for copy in range(now.shape[1]):
        for i in range(np.uint64(len(way))):
            q[i] = now[i, copy]
            way[i] = then[i, copy] - now[i, copy]
        for o in range(len(shapes.kind)):
            if shapes.kind[o] == GIVEN or near[copy]:
                continue
            node = next_near(0, o, balls, shapes, poses, 0, lasts, margin, q, way)
            near[copy] = node >= 0
