"""The stored energy of a free reduced body, at any places of those that carry it.

Seen from a frame R, the places are at z_a = Rᵀ (x_a − c), with c their mean. With the coordinates
q = Λ (z − Y) of the model and what is left, d = z − Y − Σ q_i Y_i (Y and Y_i being X − X̄ and φ_i
there, Λ = M̃⁻¹ μ Yᵀ), the energy in that frame and the body's own are

    Ψ(z) = U(q) + ½ κ |d|²        V(x) = min_R Ψ(Rᵀ (x − c)).

Where d = 0 it is that of the model, all else is stiff: κ = ω² μ gives whatever is not a shape of
the model the frequency ω. V is the same however the body is turned, so its forces have no torque.
With g = ∇Ψ, H = ∇²Ψ, and θ a further turn of the frame,

    ∇V = R g        ∇²V = R (H − C S⁻¹ Cᵀ) Rᵀ,    C_i = e_i × g − H (e_i × z) = ∂g/∂θ_i,
    S_ij = (e_i × z)·H (e_j × z) + ½ Σ (z_i g_j + z_j g_i) − δ_ij Σ z·g = ∂²Ψ/∂θ_i ∂θ_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.core.types import Floats
from supple.reduction.floating_space import FloatingSpace
from supple.reduction.model import ReducedModel

_AXES = np.eye(3)
_CROSS = np.cross(_AXES[None, :], _AXES[:, None]).reshape(3, 9)  # e_i × e_k by k, then i
_MOST_TURNS = 50
_FAR = 0.5  # rad, that one iteration turns the frame at most
_LEAST = 1e-3  # of the largest curvature by a turn: what is below is taken for that
_FOUND = 1e-13  # rad, that the frame may be off


@dataclass(frozen=True, eq=False)
class Frame:
    """Where places are, seen from a frame that turns with them."""

    centre: Floats
    """c [m], (3,)."""
    R: Floats
    """From the frame to the world, (3, 3)."""
    z: Floats
    """Rᵀ (x − c) [m], (n, 3)."""
    q: Floats
    """Coordinates of the model there, (r,)."""


@dataclass(frozen=True, eq=False)
class Balance(Frame):
    """The energy where no turn of the frame makes it less."""

    energy: float
    g: Floats
    """∇Ψ [N], (n, 3)."""
    stiffness: Floats
    """∇²U (r, r)."""
    S: Floats
    """∂²Ψ/∂θ² [J], (3, 3)."""
    C: Floats
    """∂g/∂θ [N], (3, n, 3)."""


class FloatingEnergy:
    """V, with its gradient and its Hessian, of a model at places of its space.

    ``rate`` ω [rad/s] is the frequency of what is not a shape of the model.
    """

    def __init__(self, model: ReducedModel, space: FloatingSpace, rate: float) -> None:
        self._model, self.space = model, space
        self.kappa = rate**2 * space.mass
        r, n = len(space.shapes), space.n
        self._flat = space.shapes.reshape(r, 3 * n)
        self._mass = space.mass * self._flat @ self._flat.T
        self.coordinates = space.mass * np.linalg.solve(self._mass, self._flat)
        """Λ, (r, 3n)."""
        self._tied = rate**2 * self._mass

    # -- the frame -------------------------------------------------------------------------

    def frame(self, x: Floats) -> Frame:
        """That of the mean axes (Tisserand), of which Σ Y × z = 0; exact where d = 0."""
        centre = x.mean(axis=0)
        left, _, right = np.linalg.svd((x - centre).T @ self.space.rest)
        left[:, 2] *= np.sign(np.linalg.det(left @ right))
        return self._seen(centre, left @ right, x)

    def _seen(self, centre: Floats, R: Floats, x: Floats) -> Frame:
        z = (x - centre) @ R
        return Frame(centre, R, z, self.coordinates @ (z - self.space.rest).ravel())

    def shape(self, q: Floats) -> Floats:
        """Y + Σ q_i Y_i [m], (n, 3)."""
        return np.asarray(self.space.rest + (q @ self._flat).reshape(-1, 3))

    def rates(self, frame: Frame) -> Floats:
        """∂q/∂x at a frame of mean axes, (r, n, 3)."""
        z, Y, r = frame.z, self.space.rest, len(self._flat)
        P = z.T @ Y  # symmetric; θ̇ = (tr P − P)⁻¹ Σ Y × ż
        turning = np.linalg.solve(np.trace(P) * _AXES - P, turned(Y).reshape(3, -1))
        of_turns = self.coordinates @ turned(z).reshape(3, -1).T
        own = (self.coordinates - of_turns @ turning).reshape(r, -1, 3)
        own -= own.mean(axis=1, keepdims=True)
        return np.asarray(own @ frame.R.T)

    # -- the energy ------------------------------------------------------------------------

    def balance(self, x: Floats) -> Balance | None:
        """The energy at x (n, 3) and what its derivatives are made of; None if there is none."""
        frame, turn = self.frame(x), np.inf
        for _ in range(_MOST_TURNS):
            found = self._evaluated(frame)
            if not np.isfinite(found.energy):
                return None
            torque = _moment(found.z, found.g)
            values, axes = np.linalg.eigh(found.S)
            firm = np.maximum(np.abs(values), _LEAST * np.abs(values).max())
            theta = axes @ ((axes.T @ torque) / firm)
            before, turn = turn, float(np.linalg.norm(theta))
            if turn < _FOUND or (turn < 1e3 * _FOUND and turn >= 0.5 * before):
                return found if values[0] > 0 else None
            theta *= min(1.0, _FAR / turn)
            frame = self._seen(found.centre, found.R @ _rotation(theta), x)
        return None

    def _evaluated(self, frame: Frame) -> Balance:
        q, z, n = frame.q, frame.z, self.space.n
        energy, force, K = self._model.evaluate(q)
        d = z - self.shape(q)
        g = self.kappa * d + (force @ self.coordinates).reshape(n, 3)
        turns = turned(z)
        stiff = self._times(K, turns)
        C = turned(g) - stiff
        S = turns.reshape(3, -1) @ stiff.reshape(3, -1).T
        both = z.T @ g
        S = 0.5 * (S + S.T + both + both.T) - np.trace(both) * _AXES
        total = energy + 0.5 * self.kappa * float(np.vdot(d, d))
        return Balance(frame.centre, frame.R, z, q, total, g, K, S, C)

    def _times(self, K: Floats, fields: Floats) -> Floats:
        """H w = κ (w − w̄) + Λᵀ (∇²U − ω² M̃) Λ w of fields w (k, n, 3)."""
        flat = fields.reshape(len(fields), -1)
        of_shapes = ((flat @ self.coordinates.T) @ (K - self._tied)) @ self.coordinates
        centred = fields - fields.mean(axis=1, keepdims=True)
        return np.asarray(self.kappa * centred + of_shapes.reshape(fields.shape))

    def force(self, at: Balance) -> Floats:
        """∇V [N], (n, 3)."""
        return at.g @ at.R.T

    def matrix(self, at: Balance, *, definite: bool = False) -> Floats:
        """∇²V [N/m], (n, n, 3, 3); or the nearest positive semidefinite matrix."""
        n, r = self.space.n, len(self._flat)
        factors = np.concatenate([self.coordinates.reshape(r, n, 3), at.C]) @ at.R.T
        inner = np.zeros((r + 3, r + 3))
        inner[:r, :r] = at.stiffness - self._tied
        inner[r:, r:] = -np.linalg.inv(at.S)
        flat = factors.reshape(r + 3, -1)
        if definite:
            flat, inner = self._definite(flat, inner)
        blocks = (flat.T @ inner @ flat).reshape(n, 3, n, 3).transpose(0, 2, 1, 3).copy()
        blocks -= self.kappa / n * _AXES
        blocks[np.arange(n), np.arange(n)] += self.kappa * _AXES
        return blocks

    def _definite(self, flat: Floats, inner: Floats) -> tuple[Floats, Floats]:
        """What to add to κ for no eigenvalue of the sum to be negative: factors, and between."""
        Q, upper = np.linalg.qr(flat.T)
        values, vectors = np.linalg.eigh(upper @ inner @ upper.T)
        return (Q @ vectors).T, np.diag(np.maximum(values, -self.kappa))


def turned(field: Floats) -> Floats:
    """e_i × w_a of a field w (n, 3), (3, n, 3)."""
    return np.ascontiguousarray((field @ _CROSS).reshape(-1, 3, 3).transpose(1, 0, 2))


def _moment(z: Floats, g: Floats) -> Floats:
    """Σ z × g, (3,)."""
    both = z.T @ g
    skew = both - both.T
    return np.array([skew[1, 2], skew[2, 0], skew[0, 1]])


def _rotation(theta: Floats) -> Floats:
    """exp [θ]: Rodrigues' formula, (3, 3)."""
    angle = float(np.linalg.norm(theta))
    K = np.array([[0, -theta[2], theta[1]], [theta[2], 0, -theta[0]], [-theta[1], theta[0], 0]])
    half = np.sinc(angle / (2 * np.pi))
    return np.asarray(_AXES + np.sinc(angle / np.pi) * K + 0.5 * half**2 * K @ K)
