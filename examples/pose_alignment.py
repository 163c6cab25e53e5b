"""Bases must be aligned before they are interpolated (pose space paper, Figs. 6 and 7).

Two beams differ by a hair, one a little wider, one a little higher: their first two modes change
places. Half of each column and half of the other, and two columns are the same; turned onto each
other by Procrustes, they span the right shapes. Then a body turned by 90°: its modes are the same,
turned. Procrustes alone matches the wrong ones; with the turn of each vertex taken off first, it
finds them all.
"""

import numpy as np
from scipy.spatial.transform import Rotation

import supple as sp
from supple.character.training.alignment import aligned, procrustes
from supple.character.training.basis import posed_body
from supple.character.training.modes import pose_modes

SIDE, HAIR = 0.1, 1e-3  # [m], and by what share the beams differ
COUNT = 6

mesh = sp.TetMesh.box((1.0, SIDE, SIDE), (12, 2, 2), (0.0, -SIDE / 2, -SIDE / 2))
X = mesh.vertices
beam = sp.Body(
    mesh,
    sp.StVK(young=1e5, poisson=0.4, density=1000.0),
    fixed=mesh.where(x=0),
    mass_model=sp.LumpedMass(),
)
masses = np.asarray(beam.mass.diagonal())[::3]
TWO = np.array([[0.0], [1.0]])  # two poses, one apart


def modes(vertices: np.ndarray, count: int = COUNT) -> np.ndarray:
    """Linear modes of the beam at rest with its vertices there, (n, 3, count)."""
    return pose_modes(posed_body(beam, vertices), count).shapes.transpose(1, 2, 0)


def half_way(bases: np.ndarray) -> np.ndarray:
    """The mean of two bases, each column of mass norm 1, (n, 3, r)."""
    mean = bases.mean(axis=0)
    return mean / np.sqrt(np.einsum("nar,n,nar->r", mean, masses, mean))


def independence(basis: np.ndarray) -> float:
    """The smallest singular value of the columns in the mass norm: 0 where they are dependent."""
    gram = np.einsum("nak,n,nal->kl", basis, masses, basis)
    return float(np.sqrt(max(0.0, np.linalg.eigvalsh(gram)[0])))


def agreement(found: np.ndarray, wanted: np.ndarray) -> float:
    """Mean cos² of the angles between two subspaces: 1 where they are the same."""
    roots = np.sqrt(masses)[:, None, None]
    one, two = (np.linalg.qr((roots * U).reshape(len(X) * 3, -1))[0] for U in (found, wanted))
    return float((np.linalg.svd(one.T @ two, compute_uv=False) ** 2).mean())


def in_turn(poses: np.ndarray, bases: np.ndarray) -> np.ndarray:
    one_region = np.zeros(bases.shape[-1], dtype=np.int64)
    return aligned(bases, poses, mesh.cells, masses, TWO, one_region).bases


def permuted() -> dict[str, tuple[float, float]]:
    """Fig. 6: independence of the columns half-way, and agreement with the beam between."""
    wide, high = (X * np.array([1.0, 1 + s * HAIR, 1 - s * HAIR]) for s in (1, -1))
    bases = np.stack([modes(wide), modes(high)])
    between = modes(X)
    straight, turned = half_way(bases), half_way(in_turn(np.stack([wide, high]), bases))
    return {
        name: (independence(basis), agreement(basis, between))
        for name, basis in (("column by column", straight), ("aligned", turned))
    }


def rotated() -> dict[str, tuple[float, float]]:
    """Fig. 7: how far matched columns, of norm 1, are apart but for the turn: mean and largest."""
    turn = Rotation.from_rotvec([0.0, 0.0, np.pi / 2]).as_matrix()
    poses = np.stack([X, X @ turn.T])
    bases = np.stack([modes(x) for x in poses])
    found = {}
    for name, child in (
        ("Procrustes alone", bases[1] @ procrustes(bases[1], bases[0], masses)[0]),
        ("turned back first", in_turn(poses, bases)[1]),
    ):
        apart = np.einsum("ji,njr->nir", turn, child) - bases[0]
        errors = np.sqrt(np.einsum("nar,n,nar->r", apart, masses, apart))
        found[name] = float(errors.mean()), float(errors.max())
    return found


def main() -> None:
    print(f"half-way between two beams, {COUNT} modes{'independence':>22}{'agreement':>12}")
    swapped = permuted()
    for name, (least, share) in swapped.items():
        print(f"{name:38}{least:22.4f}{share:12.4f}")
    print(f"\n{'turned by 90°: columns are off by':38}{'mean':>22}{'at most':>12}")
    turned = rotated()
    for name, (mean, most) in turned.items():
        print(f"{name:38}{mean:22.4f}{most:12.4f}")
    assert swapped["column by column"][0] < 1e-2
    assert swapped["column by column"][1] < 0.9
    assert swapped["aligned"][0] > 0.999
    assert swapped["aligned"][1] > 0.999
    assert turned["Procrustes alone"][0] > 0.5
    assert turned["turned back first"][1] < 1e-6


if __name__ == "__main__":
    main()
