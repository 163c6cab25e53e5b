"""The runtime of a character, once more, in plain NumPy."""

from __future__ import annotations

import numpy as np

from supple.character.model.pose_space_model import PoseSpaceModel
from supple.integrators import ImplicitIntegrator, Newmark, State


class Twin:
    """Reduced model of a pose, every array dense."""

    def __init__(self, model: PoseSpaceModel, pose: np.ndarray) -> None:
        self.model = model
        rig = model.tet_rig
        self.x, frames = rig.vertices(pose), rig.frames(pose)
        w = model.weights(rig.rig.features(pose))
        U = np.einsum("m,mnir->nir", w, model.bases)
        norms = np.sqrt(np.einsum("n,nir,nir->r", model.masses, U, U))  # Eq. 15
        self.U = U / norms
        if frames is not None:
            self.U = np.einsum("nij,njr->nir", frames, self.U)
        self.M = np.einsum("n,nir,nis->rs", model.masses, self.U, self.U)
        corners = rig.mesh.cells[model.cells]
        edges = self.x[corners[:, 1:]] - self.x[corners[:, :1]]  # (c, 3, 3), rows
        inverse = np.linalg.inv(edges)  # ∂X: columns are gradients of corners 1, 2, 3
        moved = self.U[corners[:, 1:]] - self.U[corners[:, :1]]  # (c, corner, i, r)
        self.G = np.einsum("cjk,ckir->cijr", inverse, moved)
        self.volumes = (w @ model.cell_weights) * np.abs(np.linalg.det(edges)) / 6
        self.lame = np.einsum("m,mck->kc", w, model.lame)
        self.gap = model.gaps.at(rig.rig.features(pose), 1 / norms)

    def evaluate(self, q: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Energy, its gradient and its Hessian (Eqs. 21–22)."""
        c = len(self.volumes)
        F = np.eye(3) + self.G @ q
        psi, P, A = np.empty((c, 1)), np.empty((c, 1, 3, 3)), np.empty((c, 1, 6, 3, 3))
        self.model.material.evaluate(F[:, None].copy(), *self.lame, psi, P, A, 2)
        D = np.empty((c, 3, 3, 3, 3))
        for s, (j, l) in enumerate(zip(*np.triu_indices(3), strict=True)):
            D[:, :, j, :, l] = A[:, 0, s]
            D[:, :, l, :, j] = A[:, 0, s].transpose(0, 2, 1)
        f = np.einsum("c,cij,cijr->r", self.volumes, P[:, 0], self.G)
        weighted = self.volumes[:, None, None, None, None] * D
        K = np.einsum("cijr,cijkl,ckls->rs", self.G, weighted, self.G, optimize=True)
        energy = float(self.volumes @ psi[:, 0] + 0.5 * q @ self.gap @ q)
        return energy, f + self.gap @ q, K + self.gap

    def geometric(self, q: np.ndarray) -> np.ndarray:
        """What of the stiffness is stress that turns with the shape: δ_ik S_jl, S = F⁻¹ P."""
        c = len(self.volumes)
        F = np.eye(3) + self.G @ q
        psi, P, A = np.empty((c, 1)), np.empty((c, 1, 3, 3)), np.empty((c, 1, 6, 3, 3))
        self.model.material.evaluate(F[:, None].copy(), *self.lame, psi, P, A, 2)
        S = self.volumes[:, None, None] * np.linalg.solve(F, P[:, 0])
        return np.einsum("cijr,cjl,cils->rs", self.G, S, self.G, optimize=True)

    def inertia(self, a: np.ndarray) -> np.ndarray:
        """Of accelerations (n, 3) (Eq. 23)."""
        at, model = self.model.inertial_vertices, self.model
        weights = model.inertial_weights * model.masses[at]
        return -np.einsum("s,si,sir->r", weights, a[at], self.U[at])


def stepped(
    model: PoseSpaceModel,
    rule: ImplicitIntegrator,
    poses: list[np.ndarray],
    dt: float,
    damping: tuple[float, float],
    gravity: np.ndarray,
) -> np.ndarray:
    """Coordinates after each step of a rule with one stage, from rest in the first pose."""
    r = model.n_coordinates
    rig = model.tet_rig
    x = rig.vertices(poses[0])
    twin = Twin(model, poses[0])
    start = np.linalg.solve(twin.M, -twin.inertia(np.tile(gravity, (len(x), 1))))
    flesh, bones = State(0.0, np.zeros(r), np.zeros(r), start), State(0.0, x, 0 * x, 0 * x)
    path, found = [x] * 4, []
    for pose in poses[1:]:
        twin = Twin(model, pose)
        stage, rig_stage = (next(rule.stages(s, None, dt)) for s in (flesh, bones))
        x = rig.vertices(pose)
        path = [*path[1:], x]
        moved = rig_stage.acceleration(x)
        if isinstance(rule, Newmark):  # the cubic through four frames, at the last of them
            moved = np.tensordot([-1.0, 4.0, -5.0, 2.0], path, axes=1) / dt**2
        f = twin.inertia(moved - gravity)
        q = flesh.u.copy()
        for _ in range(30):
            _, R, K = twin.evaluate(q)
            C = damping[0] * twin.M + damping[1] * (K - twin.geometric(q))
            v, a = stage.velocity(q), stage.acceleration(q)
            rest = f - R - C @ v - twin.M @ a
            q += np.linalg.solve(stage.c_a * twin.M + stage.c_v * C + K, rest)
        flesh, bones = stage.state(q), rig_stage.state(x)
        found.append(q)
    return np.array(found)
