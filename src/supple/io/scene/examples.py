"""Example deformations as scene files describe them: by mode, force, shape or motion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from supple.bodies.solid import Body
from supple.core.errors import InputError, StepFailed
from supple.core.types import Floats, Ints, Progress
from supple.design import shape_between, shape_of_frame, shape_within
from supple.dynamics.recording import read_motion
from supple.dynamics.statics import static_shape
from supple.io.scene.build import Fields
from supple.mesh import QuadraticTetMesh, read_mesh
from supple.reduction import Modes, vibration_modes

_SWING = 0.1  # of the body's longest side: how far a vibration mode goes at excitation 1


class Sources:
    """Makes the shapes of examples, all of them displacements from one shape.

    That is ``about`` (n, 3), where the body rests under ``gravity``, or the rest shape.
    """

    def __init__(
        self,
        body: Body,
        about: Floats | None,
        gravity: Sequence[float],
        scale: float,
        progress: Progress | None,
    ) -> None:
        self._body, self._gravity, self._scale, self._progress = body, gravity, scale, progress
        self._about = np.zeros_like(body.mesh.vertices) if about is None else about
        self._modes: Modes | None = None
        self._count = 0

    def count_modes(self, examples: Sequence[Fields]) -> None:
        """Hear of all examples beforehand, so that modes are computed once."""
        self._count = max((given.get("mode", 0) for given in examples), default=0)

    def shape(self, given: Fields, vertices: Ints | None) -> Floats:
        """The displacements (n, 3) [m] of one example; ``vertices`` are those its force acts on."""
        u = np.where(self._body.free, self._source(given, vertices), 0.0)
        if not u.any():
            raise InputError("this moves only what is held, which leaves nothing to damp")
        if "region" in given:
            u = shape_within(self._body, u, given["region"], blend=given.get("blend", 0.0))
        amplitude = given.get("amplitude")
        if amplitude is None and "mode" in given:
            amplitude = _SWING * float(np.ptp(self._body.mesh.bounds, axis=0).max())
        if amplitude is not None:
            u *= amplitude / np.linalg.norm(u, axis=1).max()
        return u

    def _source(self, given: Fields, vertices: Ints | None) -> Floats:
        if "mode" in given:
            return self._mode(given["mode"])
        if vertices is not None:
            return self._pushed(given["force"], vertices)
        if "shape" in given:
            rest = self._body.mesh.vertices + self._about
            return shape_between(rest, self._positions(given["shape"]))
        if "between" in given:
            first, second = (self._positions(file) for file in given["between"])
            return shape_between(first, second)
        motion = read_motion(given["motion"])
        if not np.array_equal(motion.mesh.vertices, self._body.mesh.vertices):
            raise InputError(
                f"{given['motion']} is a motion of another mesh; record one of this scene"
            )
        return shape_of_frame(motion, time=given["time"], about=self._about)

    def _mode(self, number: int) -> Floats:
        if self._modes is None:
            self._modes = vibration_modes(self._body, self._count, at=self._about)
        shape: Floats = self._modes.shapes[number - 1]
        return shape

    def _pushed(self, force: Sequence[float], vertices: Ints) -> Floats:
        share = np.array(force) / len(vertices)
        load = self._body.point_force(vertices, share)
        try:
            u = static_shape(
                self._body,
                load,
                gravity=self._gravity,
                start=self._about,
                progress=self._progress,
            )
        except StepFailed as failure:
            raise InputError(
                f"the body cannot be brought to rest under this force: {failure} A weaker force "
                "and amplitude, which scales the shape, may do"
            ) from failure
        if np.allclose(u, self._about, rtol=0.0, atol=1e-300):
            raise InputError(
                "this force moves nothing: it is zero, or acts only where the body is held"
            )
        return shape_between(self._about, u)

    def _positions(self, file: Path) -> Floats:
        """Where the vertices of this body's mesh are in a file."""
        mesh = self._body.mesh
        if isinstance(mesh, QuadraticTetMesh):
            raise InputError("shapes of quadratic tets cannot be read from meshes; give a motion")
        found = read_mesh(file).scaled(self._scale)
        if found.vertices.shape != mesh.vertices.shape:
            raise InputError(
                f"{file} has {found.n_vertices} vertices, and this body {mesh.n_vertices}; give "
                "the same mesh, deformed"
            )
        return found.vertices
