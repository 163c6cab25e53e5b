"""Dampings of a reduced model that are sums over points, for compiled steps: laws at points.

What `CubatureDamping` evaluates from Python, kernels evaluate by the addresses of its laws.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple._kernels.elasticity.material_call import address_of
from supple._kernels.linear_algebra.dense import padded
from supple._kernels.reduction.laws import PointLaws
from supple._kernels.reduction.points import AT_ONCE
from supple.core.memory import apart
from supple.damping.laws import WIDTH, CellLaw
from supple.reduction.damping.points import CubatureDamping, WeighedPoints
from supple.reduction.damping.reduced import ReducedDamping


def compiled_laws(damping: ReducedDamping) -> PointLaws | None:
    """All of a damping that has laws; None if nothing does. Those that examples scale come first.

    Dampings on the same points share them. Where they differ, each law has coefficients of 0 at the
    points of others.
    """
    linear, beside = (_with_laws(each) for each in (damping.points, damping.beside))
    dampings = [*linear, *beside]
    if not dampings:
        return None
    blocks: list[WeighedPoints] = []
    for each in dampings:
        if not any(each.at.is_same(block) for block in blocks):
            blocks.append(each.at)
    starts = np.concatenate([[0], np.cumsum([len(block.volumes) for block in blocks])])
    laws: list[tuple[CellLaw, int]] = []
    for each in dampings:
        k = next(k for k, block in enumerate(blocks) if each.at.is_same(block))
        laws += [(law, int(starts[k])) for law in each.laws or ()]
    base = 0 if damping.examples is None else sum(len(each.laws or ()) for each in linear)
    return _laid_out(laws, base, blocks)


def _with_laws(dampings: Sequence[object]) -> list[CubatureDamping]:
    return [
        each for each in dampings if isinstance(each, CubatureDamping) and each.laws is not None
    ]


def _laid_out(laws: list[tuple[CellLaw, int]], base: int, blocks: list[WeighedPoints]) -> PointLaws:
    """Laws, each with the first of its points."""
    elastic = any(law.needs_elasticity for law, _ in laws)
    G = np.concatenate([block.G for block in blocks])
    m, r = len(G) // 9, G.shape[1]
    longest = max(len(law.numbers) for law, _ in laws)
    coefficients, numbers = np.zeros((len(laws), WIDTH, m)), np.zeros((len(laws), longest))
    for k, (law, start) in enumerate(laws):
        coefficients[k, :, start : start + law.coefficients.shape[1]] = law.coefficients
        numbers[k, : len(law.numbers)] = law.numbers
    groups = [group for block in blocks for group in block.materials] if elastic else []
    lam, mu = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("lam", "mu"))
    wide = int(padded(r))
    return apart(
        PointLaws(
            addresses=np.array([law.address for law, _ in laws]),
            base=base,
            coefficients=coefficients,
            numbers=numbers,
            G=G,
            volumes=np.concatenate([block.volumes for block in blocks]),
            lam=lam,
            mu=mu,
            materials=np.array(
                [address_of(material.evaluate) for material, _ in groups], dtype=np.int64
            ),
            starts=np.concatenate([[0], np.cumsum([count for _, count in groups])]).astype(int),
            **{name: np.zeros((m, 1, 3, 3)) for name in ("F", "rate", "P", "stress")},
            **{name: np.zeros((m, 1, 6, 3, 3)) for name in ("A", "derivative")},
            **{name: np.zeros((m, 1)) for name in ("psi", "density")},
            D=np.zeros((9, 9)),
            T=np.zeros((9 * int(AT_ONCE), wide)),
            **{name: np.zeros((r, wide)) for name in ("C", "kept")},
            made=np.zeros(3),
        )
    )
