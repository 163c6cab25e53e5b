"""Flesh that is easily computed: every vertex of a rig on a damped spring of its own."""

from __future__ import annotations

import numpy as np


class Springs:
    """u″ + 2 ζ ω u′ + ω² u = g − x″ for each vertex of the rig, by the trapezoidal rule."""

    def __init__(self, rig, *, frequency=2.0, ratio=0.2, gravity=(0.0, 0.0, 0.0)):
        self.rig, self.gravity = rig, np.asarray(gravity, dtype=float)
        self.omega, self.ratio = 2 * np.pi * frequency, ratio
        self.steps = 0

    def reset(self, pose):
        self.x = self.rig.vertices(pose)
        self.w = np.zeros_like(self.x)  # the rig's velocity; None where it is not known
        self.u, self.v = np.zeros_like(self.x), np.zeros_like(self.x)

    def teleport(self, pose):
        self.x, self.w = self.rig.vertices(pose), None

    def ease(self, pose):
        self.teleport(pose)
        self.u, self.v = 0.5 * self.u, np.zeros_like(self.v)

    def step(self, pose, dt):
        x = self.rig.vertices(pose)
        w = (x - self.x) / dt
        pushed = self.gravity - (0.0 if self.w is None else (w - self.w) / dt)
        c, k = 2 * self.ratio * self.omega, self.omega**2
        v = (self.v + dt * (pushed - k * (self.u + dt / 4 * self.v) - c / 2 * self.v)) / (
            1 + dt * c / 2 + dt * dt * k / 4
        )
        self.u = self.u + dt / 2 * (self.v + v)
        self.v, self.x, self.w = v, x, w
        self.steps += 1

    def surface_displacements(self):
        return self.u.copy()
