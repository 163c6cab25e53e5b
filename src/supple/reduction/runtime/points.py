"""What compiled steps need of a model with a cubature: its points, and matrices that are kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple._kernels.elasticity.material_call import address_of
from supple._kernels.linear_algebra.dense import padded
from supple._kernels.linear_algebra.tiles import SINGLE_WIDTH
from supple._kernels.reduction.example_newton import Examples
from supple._kernels.reduction.point_newton import Kept, Secants
from supple._kernels.reduction.points import AT_ONCE, WIDTH, Points
from supple.core.memory import apart
from supple.core.types import Floats
from supple.reduction.cubature.cubature import Cubature
from supple.reduction.damping.points import MatchedDamping
from supple.reduction.damping.reduced import ReducedDamping
from supple.reduction.model import ReducedModel

_MOST_SECANTS = 20


class PointLoop(NamedTuple):
    """The arrays of ``point_stepping`` for one simulation."""

    points: Points
    kept: Kept
    secants: Secants

    @property
    def state(self) -> tuple[NDArray[Any], ...]:
        """What the next step depends on, beside the history."""
        return (*self.kept, self.points.tangent)

    def forget(self) -> None:
        """Have matrices made anew."""
        self.kept.made[:] = 0.0

    @property
    def matrix_cost(self) -> int:
        """Of a matrix, in forces: measured at 20 to 100 coordinates."""
        return 2 + len(self.points.tangent) // 16


def point_loop(
    model: ReducedModel, damping: ReducedDamping, examples: Examples | None, stages: int
) -> PointLoop | None:
    """The loop of a model, if kernels know all of its energy and damping."""
    cubature = model.cubature
    if model.quartic is not None or cubature is None:
        return None
    if any(each.laws is None for each in damping.beside):
        return None
    if any(len(group.extra) for group in cubature.groups):
        return None  # materials that take more than λ and μ are called from Python
    if damping.examples is not None and damping.examples.local:
        return None  # what goes with a part is turned in Python
    found = _viscosities(damping, cubature)
    if found is None:
        return None
    X = np.empty((0, model.size)) if examples is None else examples.X
    points = _points(cubature, *found, X)
    r, k = model.size, len(X)
    kept = Kept(
        made=np.zeros((1 + stages, 8)),
        factors=np.zeros((stages, r, r)),
        F=np.zeros((stages, k, r)),
        solved=np.zeros((stages, k, r)),
        T=np.zeros((stages, k, k)),
        BX=np.zeros((k, r)),
    )
    secants = Secants(
        steps=np.zeros((_MOST_SECANTS, r)),
        squares=np.zeros(_MOST_SECANTS),
        right=np.zeros((1, r)),
        amount=np.zeros(k),
        along=np.zeros(k),
    )
    return PointLoop(apart(points), apart(kept), apart(secants))


def _viscosities(
    damping: ReducedDamping, cubature: Cubature
) -> tuple[Floats, Floats, Floats] | None:
    """ψ, φ [Pa s] and β [s] of the cells, empty where there are none; None if they are not known.

    Where stresses are linear in the strain, β/2 Ė:C:Ė is that of the strain rate with moduli β λ
    and 2 β μ.
    """
    nothing = np.empty(0)
    beta = np.zeros(cubature.size)
    for each in damping.points:
        if isinstance(each, MatchedDamping) and each.cubature is cubature:
            beta += each.beta
        elif each.laws is None:
            return None
    if not beta.any():
        return nothing, nothing, nothing
    linear = [group.material.quadratic_in_strain for group in cubature.groups]
    if all(linear):
        return beta * cubature.mu, beta * cubature.lam, nothing
    return None if any(linear) else (nothing, nothing, beta)


def _points(cubature: Cubature, shear: Floats, bulk: Floats, beta: Floats, X: Floats) -> Points:
    c, n = cubature.volumes.shape
    m, r, k = c * n, cubature.n_coordinates, len(X)
    groups = cubature.groups
    G = np.ascontiguousarray(cubature.gradients.reshape(9 * m, r))
    volumes = np.ascontiguousarray(cubature.volumes.reshape(-1))
    GX = np.ascontiguousarray((G @ X.T).T.reshape(k, m, 9))
    blocks = -(-m // WIDTH)
    of_blocks = np.zeros((3, blocks * WIDTH))
    shear, bulk, beta = (np.repeat(x, n) for x in (shear, bulk, beta))
    of_blocks[0, :m] = volumes
    if len(shear):
        of_blocks[1, :m], of_blocks[2, :m] = shear, bulk
    size = 9 * blocks * WIDTH
    wide, single = int(padded(r)), -(-r // SINGLE_WIDTH) * SINGLE_WIDTH
    counts = [len(group.volumes) for group in groups]
    return Points(
        G=G,
        volumes=volumes,
        lam=np.repeat(cubature.lam, n),
        mu=np.repeat(cubature.mu, n),
        materials=np.array([address_of(group.material.evaluate) for group in groups]),
        starts=np.concatenate([[0], np.cumsum(counts)]),
        shear=shear,
        bulk=bulk,
        beta=beta,
        GX=GX.reshape(k, m, 1, 3, 3),
        X_blocks=_in_blocks(GX, blocks),
        of_blocks=of_blocks,
        **{name: np.zeros((m, 1, 3, 3)) for name in ("F", "rate", "P", "stress")},
        resting=np.zeros(9 * m),
        psi=np.zeros((m, 1)),
        A=np.zeros((m, 1, 6, 3, 3)),
        axis=np.zeros((m, 3)),
        none=np.zeros(m),
        F_blocks=np.zeros(size),
        D_blocks=np.zeros(size),
        viscous=np.zeros((k + 1, size)),
        G_single=G.astype(np.float32),
        T_single=np.zeros((9 * int(AT_ONCE), single), dtype=np.float32),
        sum_single=np.zeros((r, single), dtype=np.float32),
        T=np.zeros((9 * int(AT_ONCE), wide)),
        D=np.zeros((9, 9)),
        tangent=np.zeros((r, wide)),
    )


def _in_blocks(fields: Floats, blocks: int) -> Floats:
    """Fields (k, m, 9) in blocks, (k, blocks · 9 · WIDTH)."""
    k, m, _ = fields.shape
    room = np.zeros((k, blocks * WIDTH, 9))
    room[:, :m] = fields
    turned = room.reshape(k, blocks, WIDTH, 9).swapaxes(2, 3)
    return np.ascontiguousarray(turned).reshape(k, blocks * 9 * WIDTH)
