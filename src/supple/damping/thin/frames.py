"""Sheets and springs as cells with stretches, whose rates x = J ε̇ are linear in the velocity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from supple._kernels.elasticity import membrane
from supple._kernels.linear_algebra.blocks import add_scaled
from supple.bodies.cloth import Cloth
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.springs import SpringNetwork, Stretch
from supple.core.types import Floats
from supple.damping.thin.laws import positive

_FLAT = 1e-6  # stretches of less count as this


@dataclass(frozen=True, eq=False)
class Frame:
    """The stretches of all cells at one shape."""

    sigma: Floats
    """(m, 2) in a sheet, (m, 1) in a network."""
    J: Floats
    """From strain rates ε̇ to x, (m, d, d)."""
    back: Floats
    """Its inverse."""
    place: Floats | Stretch
    """F of a sheet (m, 3, 2), how the springs lie."""


class ThinBody(ABC):
    """What laws of strain rates ask of a body."""

    weights: Floats
    """Area, or length, of every cell at rest, (m,)."""

    @abstractmethod
    def frame(self, u: Floats) -> Frame:
        """The stretches at displacements u (n, 3)."""

    @abstractmethod
    def strain_rates(self, at: Frame, v: Floats) -> Floats:
        """ε̇ [1/s], (m, d)."""

    @abstractmethod
    def forces(self, at: Frame, S: Floats) -> Floats:
        """Σ w ∇ε S of stresses (m, d), (n, 3)."""

    @abstractmethod
    def add_blocks(self, at: Frame, C: Floats, S: Floats, values: Floats) -> None:
        """Add Σ w (∇ε C ∇εᵀ + ∂²ε/∂x² S⁺) with C (m, d, d), S⁺ what is not negative of S."""

    @abstractmethod
    def stretch_stiffness(self, at: Frame) -> Floats:
        """∂²ψ/∂σ², without its negative eigenvalues, (m, 1, 1) or (m, 2, 2)."""


class Sheet(ThinBody):
    """The membrane of cloth; strains are (E₀₀, E₁₁, 2 E₀₁)."""

    def __init__(self, body: Cloth) -> None:
        self._body, self.weights = body, body.mesh.areas
        self._elasticity = _mean_over_directions(body.tension_stiffness)

    def frame(self, u: Floats) -> Frame:
        F = self._body.deformation(u)
        squares, V = np.linalg.eigh(np.einsum("eij,eik->ejk", F, F))
        sigma = np.maximum(np.sqrt(np.maximum(squares, 0.0)), _FLAT)
        a, b = V[:, 0, 0], V[:, 1, 0]  # the first axis; the second is (−b, a) or its opposite
        scale = np.column_stack([sigma, np.sqrt(2 * (sigma**2).sum(axis=1))])
        J = _turned(a, b) / scale[:, :, None]
        return Frame(sigma, J, _turned(a, -b) * scale[:, None, :], F)

    def strain_rates(self, at: Frame, v: Floats) -> Floats:
        E = np.asarray(at.place).transpose(0, 2, 1) @ self._body.rates(v)
        return np.column_stack([E[:, 0, 0], E[:, 1, 1], E[:, 0, 1] + E[:, 1, 0]])

    def forces(self, at: Frame, S: Floats) -> Floats:
        body, force = self._body, np.zeros_like(self._body.mesh.vertices)
        gradients = body.rest.gradients
        membrane.add_forces(body.mesh.cells, gradients, self.weights, at.place, S, force)
        return force

    def add_blocks(self, at: Frame, C: Floats, S: Floats, values: Floats) -> None:
        body, kept = self._body, S.copy()
        membrane.clamp(kept)
        given = body.rest.gradients, self.weights, at.place, C, kept, 1.0
        membrane.add_blocks(*given, body.triangle_slots, values)

    def stretch_stiffness(self, at: Frame) -> Floats:
        C, S = self._elasticity, np.empty((self._body.n_cells, 3))
        membrane.stress(at.place, C, self.weights, S)
        # E_a = ½ (σ_a² − 1): ∂²ψ/∂σ_a∂σ_b = σ_a σ_b C_ab + δ_ab S_a along the axes
        H = (at.back.transpose(0, 2, 1) @ C @ at.back)[:, :2, :2]
        along = np.einsum("eda,ed->ea", at.back, S)[:, :2] / at.sigma
        H[:, [0, 1], [0, 1]] += along
        return positive(H)


class Springs(ThinBody):
    """The springs of a network; the strain is ε = ‖x‖/L − 1."""

    def __init__(self, body: SpringNetwork) -> None:
        self._body, self.weights = body, body.mesh.rest_lengths

    def frame(self, u: Floats) -> Frame:
        place = self._body.stretched(u)
        one = np.ones((len(self.weights), 1, 1))
        return Frame((place.lengths / self.weights)[:, None], one, one, place)

    def strain_rates(self, at: Frame, v: Floats) -> Floats:
        n = _lying(at).directions
        ahead = np.einsum("ei,ei->e", n, self._body.differences(v))
        rates: Floats = (ahead / self.weights)[:, None]
        return rates

    def forces(self, at: Frame, S: Floats) -> Floats:
        return self._body.gathered(S * _lying(at).directions)

    def add_blocks(self, at: Frame, C: Floats, S: Floats, values: Floats) -> None:
        place = _lying(at)
        across = np.maximum(S[:, 0], 0.0) / place.lengths
        blocks = self._body.blocks(place, C[:, 0, 0] / self.weights, across)
        add_scaled(blocks.reshape(-1), 1.0, values.reshape(-1))

    def stretch_stiffness(self, at: Frame) -> Floats:
        return self._body.spring_stiffness[:, None, None]


def thin(body: ElasticBody) -> ThinBody | None:
    """A sheet or a network as laws see it; None if it is neither."""
    if isinstance(body, Cloth):
        return Sheet(body)
    return Springs(body) if isinstance(body, SpringNetwork) else None


def _mean_over_directions(C: Floats) -> Floats:
    """The isotropic elasticity (m, 3, 3) that is the mean of C over all axes in the plane.

    Where two stretches coincide their axes are any two. A form in stretches that knew warp from
    weft would change with the choice, and its forces would jump.
    """
    both = 0.25 * (C[:, 0, 0] + C[:, 1, 1] + 2 * C[:, 0, 1])  # λ + μ
    mu = 0.125 * (C[:, 0, 0] + C[:, 1, 1] - 2 * C[:, 0, 1] + 4 * C[:, 2, 2])
    mean = np.zeros_like(C)
    mean[:, 0, 0] = mean[:, 1, 1] = both + mu
    mean[:, 0, 1] = mean[:, 1, 0] = both - mu
    mean[:, 2, 2] = mu
    return mean


def _lying(at: Frame) -> Stretch:
    assert isinstance(at.place, Stretch)
    return at.place


def _turned(a: Floats, b: Floats) -> Floats:
    """From strains (E₀₀, E₁₁, 2 E₀₁) to those along the axes (a, b) and (−b, a), (m, 3, 3)."""
    rows = [
        [a * a, b * b, a * b],
        [b * b, a * a, -a * b],
        [-2 * a * b, 2 * a * b, a * a - b * b],
    ]
    return np.stack([np.stack(row, axis=1) for row in rows], axis=1)
