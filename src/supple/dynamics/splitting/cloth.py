"""Triangles of cloth as local terms: their membrane and its strain rate dissipation together."""

from __future__ import annotations

import numpy as np

from supple._kernels.elasticity import membrane, strain_limits
from supple._kernels.local_steps import membrane as local_membrane
from supple.bodies.cloth import Cloth
from supple.core.types import Floats
from supple.dynamics.splitting.base import BodyTerms
from supple.integrators import Stage

_IN_STRAINS = np.array([1.0, 1.0, np.sqrt(2.0)])  # from (E₀₀, E₁₁, 2 E₀₁) to an orthonormal basis

_ROOM = 0.02  # share of the reach of a strain limit that local variables begin within, at least


class ClothTerms(BodyTerms):
    """Φ(F) for F (3, 2) of a triangle, with the stress F (C ε + C_d ε̇) by area, Ḟ = c_v (F − F̂).

    The weight is the least stiffness that the triangle has against any strain. Bending is in no
    term: it is linear, or nearly so, and goes into the matrix of the global step.
    """

    def __init__(self, body: Cloth, viscosity: Floats, *, c_v: float) -> None:
        self._body, self._viscosity, self._c_v = body, viscosity, c_v
        self.shape = (body.n_cells, 3, 2)
        firm = body.tension_stiffness + c_v * viscosity
        in_strains = firm * _IN_STRAINS[:, None] * _IN_STRAINS
        self._rule = np.linalg.eigvalsh(in_strains)[:, 0]
        self._before = np.zeros(self.shape)
        self.set_weight(1.0)

    def set_weight(self, factor: float) -> None:
        self._stiffness = factor * self._rule  # [N/m], by area
        self.weights = self._stiffness * self._body.mesh.areas

    def begin(self, stage: Stage, u_v: Floats, start_velocity: Floats) -> None:
        self._before = self._body.deformation(u_v)

    def gather(self, u: Floats, out: Floats) -> None:
        out[:] = self._body.deformation(u)

    def scatter(self, y: Floats, out: Floats) -> None:
        body = self._body
        unit = np.broadcast_to([1.0, 1.0, 0.0], (body.n_cells, 3)).copy()
        membrane.add_forces(body.mesh.cells, body.rest.gradients, self.weights, y, unit, out)

    def add_matrix(self, values: Floats) -> None:
        slots, g = self._body.triangle_slots, self._body.rest.gradients
        a, b = np.triu_indices(3)
        products = np.einsum("e,epi,epi->ep", self.weights, g[:, a], g[:, b])
        np.add.at(values, np.where(slots < 0, ~slots, slots), products)

    def warm_start(self, z: Floats, s: Floats) -> None:
        limit = self._body.strain_limit
        if limit is not None:  # supports may have moved z out
            within = limit.strain - _ROOM * (limit.strain - limit.onset_strain)
            strain_limits.shrink(z, within)
        local_membrane.warm_start(z, *self._model(), self._stiffness, s)

    def minimise(self, s: Floats, z: Floats) -> None:
        local_membrane.minimise(s, *self._model(), self._stiffness, self.accuracy, z)

    def _model(self) -> tuple[Floats, Floats, Floats, float, float, float, Floats]:
        """F̂, C, C_d, c_v, and the strain limit with its onset and stiffness."""
        body, limit = self._body, self._body.strain_limit
        strains = (np.inf, np.inf) if limit is None else (limit.strain, limit.onset_strain)
        model = self._before, body.tension_stiffness, self._viscosity, self._c_v
        return *model, *strains, body.limit_stiffness
