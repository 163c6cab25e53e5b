"""From a body and a basis to a reduced model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.bodies.solid import Body
from supple.core.checks import instance
from supple.core.errors import InputError
from supple.core.types import Floats, Progress
from supple.materials import StVK
from supple.mesh import Embedding
from supple.reduction.basis import Basis
from supple.reduction.cubature.cubature import Cubature
from supple.reduction.cubature.training import train_cubature
from supple.reduction.grouping import make_groups
from supple.reduction.model import ReducedModel, is_definite
from supple.reduction.runtime.floating import FloatingInertia


def reduce(
    body: Body,
    basis: Basis,
    *,
    regions: Sequence[str] = (),
    skin: Embedding | None = None,
    cubature: Cubature | None = None,
    progress: Progress | None = None,
) -> ReducedModel:
    """A small model of ``body`` that moves in the span of ``basis``.

    StVK bodies get their exact energy polynomial. Other materials get ``cubature``, made by
    ``train_cubature`` for this basis, or by default one trained here. The materials of ``regions``
    can be edited later; ``skin`` is a surface to draw.
    """
    instance("body", body, Body, "Body(mesh, StVK(young=1e6, poisson=0.4))")
    instance("basis", basis, Basis, "modal_derivative_basis(body, modes=20, size=30)")
    if basis.vectors.shape[1:] != body.mesh.vertices.shape:
        raise InputError(
            f"the basis has vectors of shape {basis.vectors.shape[1:]}, the body "
            f"{body.mesh.vertices.shape}; make the basis from this body"
        )
    if isinstance(regions, str):
        raise InputError(f"regions={regions!r} is one name; give a sequence, e.g. [{regions!r}]")
    if body.held.moving:
        raise InputError(
            "a reduced model holds its supports still, but this body has supports that move; "
            "use fixed= instead, and push the model with forces"
        )
    loose = body.free_rigid_motions
    if loose and not body.free.all():
        raise InputError(
            f"the supports leave {loose} rigid motions free; hold the body firmly, or not at all"
        )
    if loose > 6:
        raise InputError(
            f"the body is in {loose // 6} pieces that are not joined; reduce them one by one"
        )
    vectors = np.ascontiguousarray(basis.vectors)
    if np.abs(vectors[:, ~body.free]).max(initial=0.0) > 0.0:
        raise InputError("the basis moves components that are held; make the basis from this body")
    exact = cubature is None and all(isinstance(part.material, StVK) for part in body.parts)
    if cubature is not None and cubature.n_coordinates != len(vectors):
        raise InputError(
            f"the cubature is for {cubature.n_coordinates} basis vectors, the basis has "
            f"{len(vectors)}; train it with train_cubature(body, basis.vectors)"
        )
    if cubature is not None and not _belongs(cubature, body, vectors):
        raise InputError(
            "the cubature was trained for another body or basis; train it with "
            "train_cubature(body, basis.vectors)"
        )
    if not exact and cubature is None:
        cubature = train_cubature(body, vectors, progress=progress)
    model = ReducedModel(
        mesh=body.mesh,
        vectors=vectors,
        groups=make_groups(body, vectors, tuple(regions), polynomial=exact, progress=progress),
        cubature=cubature,
        floating=FloatingInertia.of(body, vectors) if loose else None,
        body=body,
    )
    if not is_definite(model.mass):
        raise InputError(
            "the basis vectors depend on each other; make them independent, e.g. with "
            "picked_basis(body, shapes)"
        )
    return model if skin is None else model.with_skin(skin)


def _belongs(cubature: Cubature, body: Body, vectors: Floats) -> bool:
    """Whether a cubature has the materials of ``body`` and the gradients of ``vectors``."""
    if cubature.size and cubature.cells.max() >= body.mesh.n_cells:
        return False
    fresh = Cubature.of_cells(body, vectors, cubature.cells, cubature.weights)
    same = fresh.materials == cubature.materials and fresh.counts == cubature.counts
    return same and all(
        np.allclose(array, cubature.arrays()[name], rtol=1e-9)
        for name, array in fresh.arrays().items()
    )
