"""Small woven cloths and states of them in general position."""

from __future__ import annotations

import numpy as np

from supple.yarns import Weave, WovenCloth, Yarn, YarnNet

SPACING = 1e-3


def cloth(warps: int = 4, wefts: int = 5, **options) -> WovenCloth:
    """A small twill of two unlike yarns."""
    net = YarnNet.patch(warps, wefts, spacing=(SPACING, 1.2 * SPACING), weave=Weave.twill())
    warp = Yarn(radius=2e-4, linear_density=1e-4, stretch=2.0, bending=1e-8)
    weft = Yarn(radius=1.5e-4, linear_density=7e-5, stretch=3.0, bending=2e-8)
    return WovenCloth(net, warp=warp, weft=weft, **{"shear": 1e-6, "friction": 0.3, **options})


def bent(body: WovenCloth, seed: int = 0, size: float = 0.15) -> np.ndarray:
    """A state with every crossing and arc length moved by some of the spacing."""
    rng = np.random.default_rng(seed)
    q = body.rest_state
    q[:, :3] += size * SPACING * rng.normal(size=(body.n_nodes, 3))
    q[:, 3:] += 0.1 * SPACING * rng.uniform(-1, 1, (body.n_nodes, 2))
    return q


def rates(body: WovenCloth, seed: int = 1, speed: float = 0.1) -> np.ndarray:
    return speed * np.random.default_rng(seed).normal(size=(body.n_nodes, 5))


def turning(q: np.ndarray, spin: np.ndarray, drift: np.ndarray) -> np.ndarray:
    """Rates of a rigid motion; arc lengths rest."""
    v = np.zeros_like(q)
    v[:, :3] = np.cross(spin, q[:, :3]) + drift
    return v


def derivatives(body: WovenCloth, potential, q: np.ndarray, **options):
    """A potential at q, its gradient (n, 5), and its matrix as blocks on the body's pattern."""
    g, K = np.zeros_like(q), np.zeros((body.pattern.n_blocks, 5, 5))
    return potential(q, g, K, **options), g, K


def remainders(body: WovenCloth, potential, q: np.ndarray, d: np.ndarray, **options):
    """What three terms of the energy and two of the gradient leave at q + h d, a function of h."""
    energy, g, K = derivatives(body, potential, q, **options)
    Kd = body.pattern.multiply(K, d)

    def left(h: float) -> np.ndarray:
        there, other, _ = derivatives(body, potential, q + h * d, **options)
        third = there - energy - h * np.vdot(g, d) - h * h / 2 * np.vdot(d, Kd)
        return np.array([abs(third), np.linalg.norm(other - g - h * Kd)])

    return left
