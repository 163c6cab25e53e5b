"""Damping by the whole tangent stiffness, C = β K(u), as papers have it: a model of one's own.

K(u) has a geometric part, the stress that turns with the body. It brakes the rotation of a
stressed body, and under compression it makes C indefinite: such damping feeds energy.
``Rayleigh(stiffness=β)`` leaves it out. Other examples show what it does to motions.
"""

from dataclasses import dataclass

import numpy as np

import supple as sp
from supple.bodies.shape import Shape
from supple.core.types import Floats
from supple.damping.base import BoundDamping, BoundViscousDamping
from supple.damping.cells import BoundCellDamping, Points, PointSums


@dataclass(frozen=True)
class WholeStiffness(sp.Damping):
    """C = β K(u)."""

    stiffness: float  # β [s]

    def bind(self, body: sp.ElasticBody) -> BoundDamping:
        if isinstance(body, sp.Body):
            return _InCells(body, self.stiffness)
        return _OfMatrix(body, self.stiffness)


class _OfMatrix(BoundViscousDamping):
    """Of any body."""

    def __init__(self, body: sp.ElasticBody, beta: float) -> None:
        self._body, self._beta = body, beta

    def evaluate(self, shape: Shape, v: Floats) -> tuple[float, Floats]:
        product = self._body.evaluate(shape.u, order=0, direction=v).product
        return 0.5 * self._beta * float(np.vdot(v, product)), self._beta * product

    def add_matrix(
        self, shape: Shape, v: Floats, factor: float, values: Floats, *, definite: bool
    ) -> None:
        K = shape.definite_stiffness if definite else shape.stiffness
        values += factor * self._beta * K


class _InCells(BoundCellDamping):
    """Of solids, point by point: r = β/2 Ḟ : ∂²ψ/∂F² : Ḟ."""

    needs_elasticity = True

    def __init__(self, body: sp.Body, beta: float) -> None:
        super().__init__(body)
        self._beta = beta

    def add_points(self, points: Points, to: PointSums) -> None:
        A = points.A.copy()
        if to.definite:
            points.part.material.make_definite(points.F, A)
        stress = np.zeros_like(points.rate)
        columns = zip(*np.triu_indices(3), strict=True)
        for s, (j, l) in enumerate(columns):  # six blocks ∂P_ij/∂F_kl, j ≤ l
            stress[..., j] += np.einsum("cqik,cqk->cqi", A[:, :, s], points.rate[..., l])
            if j < l:
                stress[..., l] += np.einsum("cqki,cqk->cqi", A[:, :, s], points.rate[..., j])
        r, P, total = to.arrays
        r += 0.5 * self._beta * np.einsum("cqij,cqij->cq", points.rate, stress)
        if to.order >= 1:
            P += self._beta * stress
        if to.order >= 2:
            total += to.factor * self._beta * A

    def add_shape_gradient_points(self, points: Points, G: Floats, factor: float) -> None:
        raise NotImplementedError("for ADMM alone")


def main() -> None:
    beta = 0.01  # [s]
    beam = sp.TetMesh.box((1.0, 0.2, 0.2), (8, 2, 2))
    body = sp.Body(beam, sp.StVK(young=1e5, poisson=0.3, density=1000))
    print("least and largest eigenvalue of C [N s/m], a beam pressed together by")
    for share in (0.0, 0.1, 0.3):
        u = beam.vertices * [-share, 0, 0]
        found = []
        for damping in (WholeStiffness(beta), sp.Rayleigh(stiffness=beta)):
            values = np.zeros((body.pattern.n_blocks, 3, 3))
            damping.bind(body).add_matrix(Shape(body, u), 0 * u, 1.0, values, definite=False)
            found.append(np.linalg.eigvalsh(body.pattern.full(values).toarray())[[0, -1]])
        (whole, most), (material, _) = found
        print(f"{share:5.0%}: whole {whole:9.2e}, material part {material:9.2e}, {most:.3g}")
        assert material > -1e-12 * most
        assert (whole < -1e-3 * most) == (share > 0)


if __name__ == "__main__":
    main()
