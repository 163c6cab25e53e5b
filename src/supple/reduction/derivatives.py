"""Modal derivatives: how the vibration modes change as the body deforms along another mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import LinearOperator, cg

from supple.bodies.assembly import Part
from supple.bodies.solid import Body
from supple.core.checks import instance
from supple.core.errors import InputError, SuppleError
from supple.core.types import Floats, Ints, Progress
from supple.materials import Material, StVK
from supple.materials.moduli import four_fold
from supple.reduction.modes import Modes, SmallVibrations, combined, mass_times, products, without

_CHUNK_BYTES = 2**21  # forces of cells in flight: they stay in the cache
_KINDS = 2048  # cells whose D²P is known at once, where each has its own: 12 MB
_STEP = 4e-4  # of F, in differences of ∂P/∂F: errors of truncation and rounding balance
_SAME = 1e-6  # modes whose ω² differ by less than this share vibrate together


def derivative_pairs(body: Body, modes: Modes) -> Ints:
    """Which modes (i, j) each of the ``modal_derivatives`` belongs to, (pairs, 2).

    A held body has the pairs i ≤ j, row by row; a free one all of them, since there Φ^ij and Φ^ji
    differ. Rigid modes have no derivatives and are in no pair.
    """
    count = len(modes.shapes) - modes.rigid
    if body.free_rigid_motions:
        pairs = np.indices((count, count)).reshape(2, -1)
    else:
        pairs = np.array(np.triu_indices(count))
    return np.ascontiguousarray(pairs.T + modes.rigid, dtype=np.int64)


def modal_derivatives(body: Body, modes: Modes, *, progress: Progress | None = None) -> Floats:
    """Derivatives Φ^ij of mode i along mode j, (pairs, n, 3); ``derivative_pairs`` tells the pairs.

    ``modes`` are those of the body's rest shape. A held body's derivatives neglect inertia, as in
    Eq. 14, and are symmetric. A free body's are those of the full eigenproblem, Eq. 29: with
    Ψ^iᵀ M Φ^ij = 0, and mass-orthogonal to the rigid motions, which are the frame's. Where modes
    share a frequency, how they turn into each other has no limit and is left out.
    """
    rest = SmallVibrations(body, np.zeros_like(body.mesh.vertices))
    return derivatives_of(rest, checked_modes(rest, modes), progress=progress)


def derivatives_of(
    rest: SmallVibrations, modes: Modes, *, more: Modes | None = None, progress: Progress | None
) -> Floats:
    """The derivatives, given the linearization at rest; ``more`` modes than these, if known."""
    deforming = Modes(modes.frequencies[modes.rigid :], modes.shapes[modes.rigid :])
    forces = force_derivatives(rest.body, deforming.shapes) * rest.body.free
    if len(rest.rigid):
        more = rest.modes(reach(rest, len(deforming.shapes))) if more is None else more
        return _inertial(rest, deforming, more, forces, progress)
    first, second = np.triu_indices(len(deforming.shapes))
    derivatives = rest.solve(-forces[first, second])  # K Φ^ij = −(H : Ψ^i) Ψ^j, Eq. 14
    if progress is not None:
        progress(1, 1, "derivatives")
    return derivatives


def reach(rest: SmallVibrations, count: int) -> int:
    """How many modes of a free body make its ``count`` deforming ones easy to differentiate."""
    most = int(rest.body.free.sum()) - 1
    return min(len(rest.rigid) + 3 * count, most)


def checked_modes(rest: SmallVibrations, modes: Modes) -> Modes:
    """Stop unless these are modes of the body at rest."""
    instance("modes", modes, Modes, "vibration_modes(body, 20)")
    shape = rest.body.free.shape
    if modes.shapes.shape[1:] != shape:
        raise InputError(
            f"modes have shapes {modes.shapes.shape[1:]}, but this body has {shape[0]} vertices; "
            "give vibration_modes(body, 20) of this body"
        )
    if modes.rigid == len(modes.shapes):
        raise InputError(
            f"all {modes.rigid} modes are rigid motions, which have no derivatives; ask for more "
            f"modes, e.g. vibration_modes(body, {len(rest.rigid) + 20})"
        )
    phi = modes.shapes
    mass = products(phi, mass_times(rest.body, phi)) - np.eye(len(phi))
    stiffness = products(phi, rest.times(phi)) - np.diag(modes.squares)
    if np.abs(mass).max() > 1e-6 or np.abs(stiffness).max() > 1e-6 * modes.squares.max():
        raise InputError(
            "modes are not those of this body about its rest shape; give vibration_modes(body, 20) "
            "without at="
        )
    return modes


# -- the second derivative of the elastic force at rest --------------------------------------


def force_derivatives(body: Body, shapes: Floats, others: Floats | None = None) -> Floats:
    """(H : Ψ^i) Y^j = D²∇U(0)[Ψ^i, Y^j] for all shapes Ψ (k, n, 3) and others Y, (k, l, n, 3).

    Without ``others`` these are the shapes themselves.
    """
    others = shapes if others is None else others
    forces = np.zeros((body.n_vertices, 3, len(shapes), len(others)))
    for part in body.parts:
        for some in _with_few_kinds(part):
            tensors, kinds = _curvatures(some)
            _add_part(some, shapes, others, tensors, kinds, forces)
    return np.ascontiguousarray(forces.transpose(2, 3, 0, 1))


def _with_few_kinds(part: Part) -> Iterator[Part]:
    """The part, or where cells differ in more than λ and μ a few of its cells at a time."""
    if all(len(x) == 1 for x in part.extra):
        yield part
        return
    for first in range(0, len(part.cells), _KINDS):
        cut = slice(first, first + _KINDS)
        yield replace(
            part,
            cells=part.cells[cut],
            nodes=part.nodes[cut],
            gradients=part.gradients[cut],
            weights=part.weights[cut],
            slots=part.slots[cut],
            lame=(part.lame[0][cut], part.lame[1][cut]),
            extra=part.extra_of(cut),
        )


def _curvatures(part: Part) -> tuple[Floats, Ints]:
    """D²P at rest of each kind of cell (kinds, 9, 9, 9), and of which kind each cell is."""
    columns = list(part.lame)
    shared = all(len(x) == 1 for x in part.extra)
    if not shared:
        columns += [*part.extra[0].reshape(len(part.cells), -1).T]
    _, first, kinds = np.unique(np.stack(columns), axis=1, return_index=True, return_inverse=True)
    lam, mu = (x[first] for x in part.lame)
    return curvature(part.material, lam, mu, *part.extra_of(first)), kinds.ravel()


def _add_part(
    part: Part, shapes: Floats, others: Floats, tensors: Floats, kinds: Ints, forces: Floats
) -> None:
    """Adds Σ w D²P[∇Ψ^i, ∇Y^j] ∇N over the points of a part's cells to ``forces`` (n, 3, k, l).

    ``tensors`` (kinds, 9, 9, 9) are D²P by the kind of each cell. All is products of matrices.
    Cells in which no shape moves add nothing.
    """
    points, nodes_per_cell = part.weights.shape[1], part.nodes.shape[1]
    moving = np.abs(shapes).max(axis=(0, 2)) > 0
    moved = np.flatnonzero(moving[part.nodes].any(axis=1))

    def gradients(by_node: Floats, nodes: Ints, dN: Floats) -> Floats:
        """G[c, q, as, i] = ∂Ψ^i_a/∂X_s"""
        G = (dN.swapaxes(2, 3) @ by_node[nodes][:, None]).reshape(len(nodes), points, 3, 3, -1)
        return np.ascontiguousarray(G.swapaxes(2, 3)).reshape(len(nodes), points, 9, -1)

    first, second = (
        np.ascontiguousarray(s.transpose(1, 2, 0)).reshape(len(forces), -1)
        for s in (shapes, others)
    )
    # Rows are the stress P_al with l before a, then the first gradient; columns the second one.
    tensors = tensors.reshape(-1, 3, 3, 9, 9).swapaxes(1, 2).reshape(-1, 1, 81, 9)
    step = max(1, _CHUNK_BYTES // (8 * 9 * points * len(shapes) * len(others)))
    for start in range(0, len(moved), step):
        cut = moved[start : start + step]
        nodes, dN, c = part.nodes[cut], part.gradients[cut], len(cut)
        G = gradients(first, nodes, dN)
        H = G if others is shapes else gradients(second, nodes, dN)
        D = (tensors[kinds[cut]] @ H).reshape(c, points, 9, 9, -1)  # D²P[·, ∇Y^j]
        P = G.swapaxes(2, 3)[:, :, None] @ D  # D²P[∇Ψ^i, ∇Y^j], (c, q, la, i, j)
        weighted = (dN * part.weights[cut, :, None, None]).swapaxes(1, 2)
        nodal = weighted.reshape(c, nodes_per_cell, -1) @ P.reshape(c, 3 * points, -1)
        touched, place = np.unique(nodes, return_inverse=True)
        entries = np.ones(nodes.size), (place.ravel(), np.arange(nodes.size))
        gather = sparse.csr_array(entries, shape=(len(touched), nodes.size))
        forces[touched] += (gather @ nodal.reshape(nodes.size, -1)).reshape(-1, *forces.shape[1:])


def curvature(material: Material, lam: Floats, mu: Floats, *extra: Floats) -> Floats:
    """D²P at rest, the third derivative of ψ by F, for each of λ and μ [Pa] (d,): (d, 9, 9, 9)."""
    if type(material).evaluate is StVK.evaluate:
        return stvk_curvature(lam, mu)
    C = material.strain_elasticity(lam, mu, *extra)
    if C is not None and material.quadratic_in_strain:
        return quadratic_curvature(C)

    def some(b: Ints) -> Floats:
        more = (x if len(x) == 1 else np.ascontiguousarray(x[b]) for x in extra)
        return differenced_curvature(material, lam[b], mu[b], *more)

    batches = np.array_split(np.arange(len(lam)), -(-len(lam) // 1024))
    return np.concatenate([some(b) for b in batches])


def quadratic_curvature(C: Floats) -> Floats:
    """D²P[G, H] = C:(GᵀH) + G C:H + H C:G for ψ = ½ E:C:E, of moduli (d, 6, 6)."""
    unit = np.eye(9).reshape(9, 3, 3)
    four = four_fold(C)
    stresses = np.einsum("dabij,hij->dhab", four, unit, optimize=True)
    products = np.einsum("gka,hkl->ghal", unit, unit)
    ordered = np.einsum("gak,dhkl->dghal", unit, stresses, optimize=True)
    ordered += 0.5 * np.einsum("dabij,ghij->dghab", four, products, optimize=True)
    total = (ordered + ordered.swapaxes(1, 2)).reshape(len(C), 9, 9, 9)
    return np.asarray(total.transpose(0, 3, 1, 2))


def stvk_curvature(lam: Floats, mu: Floats) -> Floats:
    """D²P[G, H] = S(sym GᵀH) + G S(sym H) + H S(sym G) with S(e) = λ tr(e) I + 2μ e."""
    one, unit = np.eye(3), np.eye(9).reshape(9, 3, 3)
    products = np.einsum("gka,hkl->ghal", unit, unit)  # GᵀH

    def terms(stress: Callable[[Floats], Floats]) -> Floats:
        ordered = np.einsum("gak,hkl->ghal", unit, stress(unit)) + 0.5 * stress(products)
        total: Floats = (ordered + ordered.swapaxes(0, 1)).reshape(9, 9, 9)
        return total.transpose(2, 0, 1)

    of_lam = terms(lambda e: np.trace(e, axis1=-2, axis2=-1)[..., None, None] * one)
    of_mu = terms(lambda e: e + e.swapaxes(-1, -2))
    return np.multiply.outer(lam, of_lam) + np.multiply.outer(mu, of_mu)


def differenced_curvature(material: Material, lam: Floats, mu: Floats, *extra: Floats) -> Floats:
    """D²P by differences of fourth order of the material's ∂P/∂F along the nine entries of F."""
    d = len(lam)
    steps = _STEP * np.array([1, -1, 2, -2])
    weights = np.array([8, -8, -1, 1]) / (12 * _STEP)
    F = np.eye(3) + np.multiply.outer(steps, np.eye(9).reshape(9, 3, 3)).reshape(36, 3, 3)
    F = np.ascontiguousarray(np.broadcast_to(F, (d, 36, 3, 3)))
    psi, P, A = np.empty((d, 36)), np.empty((d, 36, 3, 3)), np.empty((d, 36, 6, 3, 3))
    constants = np.ascontiguousarray(lam), np.ascontiguousarray(mu)
    material.evaluate(F, *constants, psi, P, A, 2, *extra)
    slopes = np.tensordot(weights, A.reshape(d, 4, 9, 6, 3, 3), (0, 1))
    tensors = np.empty((d, 9, 3, 3, 3, 3))
    for s, (j, l) in enumerate(zip(*np.triu_indices(3), strict=True)):  # as the element kernels say
        tensors[:, :, :, j, :, l] = slopes[:, :, s]
        tensors[:, :, :, l, :, j] = slopes[:, :, s].swapaxes(-1, -2)
    return tensors.reshape(d, 9, 9, 9)


# -- free bodies -----------------------------------------------------------------------------


def _inertial(
    rest: SmallVibrations, modes: Modes, known: Modes, forces: Floats, progress: Progress | None
) -> Floats:
    """Eq. 29: (K − λ_i M) Φ^ij = (M Ψ^i Ψ^iᵀ − I) (H : Ψ^i) Ψ^j for all (i, j), (k², n, 3).

    K − λ_i M is indefinite, and singular along Ψ^i. On the ``known`` modes, a good part more than
    ``modes``, the solution is exact, Σ_l W^l W^lᵀ r / (λ_l − λ_i), without those that share λ_i:
    what the regularisation of App. D sets to zero. On the rest the matrix is positive definite,
    and conjugate gradients, preconditioned by the one factorization of K, need few steps.
    """
    count = len(modes.shapes)
    derivatives = np.empty((count, *forces.shape[1:]))
    W, squares = known.shapes[known.rigid :], known.squares[known.rigid :]
    MW = mass_times(rest.body, W)
    momenta = mass_times(rest.body, modes.shapes)
    for i, (square, own) in enumerate(zip(modes.squares, modes.shapes, strict=True)):
        right = -without(forces[i], momenta[i : i + 1], own[None])
        gaps = squares - square
        apart = np.abs(gaps) > _SAME * square
        along = products(right, W)
        along[:, apart] /= gaps[apart]
        along[:, ~apart] = 0.0
        sizes = np.sqrt(np.einsum("kna,kna->k", right, right))
        right = without(right, rest.rigid_momenta, rest.rigid)
        right = without(right, MW, W)
        beyond = _solve_beyond(rest, square, right, sizes, W, MW)
        found = combined(along, W) + without(beyond, W, MW)
        derivatives[i] = without(found, own[None], momenta[i : i + 1])
        if progress is not None:
            progress(i + 1, count, "derivatives")
    return derivatives.reshape(count * count, *forces.shape[2:])


def _solve_beyond(
    rest: SmallVibrations, square: float, right: Floats, sizes: Floats, W: Floats, MW: Floats
) -> Floats:
    """(K − λ M)⁻¹ of balanced forces (k, n, 3) that leave the modes W alone, all in one system.

    ``sizes`` (k,) are those of the whole forces, of which these are parts: nothing but rounding,
    perhaps. They are what the errors are small against.
    """
    if not sizes.any():
        return np.zeros_like(right)
    scale = np.maximum(sizes, 1e-8 * sizes.max())[:, None, None]

    def operator(product: object) -> LinearOperator:
        return LinearOperator((right.size, right.size), matvec=product, dtype=float)

    def shifted(x: Floats) -> Floats:
        u = x.reshape(right.shape)
        return (rest.times(u) - square * mass_times(rest.body, u)).ravel()

    def inverse(x: Floats) -> Floats:
        return without(rest.solve(x.reshape(right.shape)), W, MW).ravel()

    x, failed = cg(
        operator(shifted),
        (right / scale).ravel(),
        rtol=0.0,
        atol=1e-11 * np.sqrt(len(right)),
        M=operator(inverse),
        maxiter=300,
    )
    if failed:
        raise SuppleError(
            f"no derivative found for the mode of {np.sqrt(square) / (2 * np.pi):.6g} Hz, which is "
            "too close to modes that were not asked for; give a few modes more or fewer"
        )
    return np.asarray(x.reshape(right.shape) * scale)
