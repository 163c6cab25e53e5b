"""Modes change with the pose: a beam bent to a U, against modes of the straight beam (Fig. 4).

Modes of the straight beam, turned along with each vertex, span the wrong shapes in the U. Loads
taken back to the straight beam, solved there and turned forth, are worse: the straight beam has
another stiffness, too. Full finite elements with the U as rest shape tell (pose space paper).
"""

import numpy as np
from shared.subspaces import error, static_in

import supple as sp
from supple.character.training.alignment import vertex_rotations
from supple.character.training.basis import pose_basis, posed_body

LENGTH, SIDE = 1.0, 0.08  # [m]
MODES, SIZE = 10, 30  # linear modes, and vectors in each basis

mesh = sp.TetMesh.box(size=(LENGTH, SIDE, SIDE), cells=(24, 2, 2))
straight = sp.Body(
    mesh,
    sp.StVK(young=1e5, poisson=0.4, density=1000.0),
    fixed=mesh.where(x=0),
    mass_model=sp.LumpedMass(),
)


def u_shape(x: np.ndarray) -> np.ndarray:
    """Half a turn in the middle half of the beam, straight before and after it."""
    arc, radius = 0.5 * LENGTH, 0.5 * LENGTH / np.pi
    start = 0.5 * (LENGTH - arc)
    phi = np.clip((x[:, 0] - start) / radius, 0.0, np.pi)
    before, after = np.minimum(x[:, 0], start), np.maximum(x[:, 0] - start - arc, 0.0)
    arm = radius - (x[:, 1] - SIDE / 2)
    return np.stack(
        [before + arm * np.sin(phi) - after, SIDE / 2 + radius - arm * np.cos(phi), x[:, 2]], axis=1
    )


bent = posed_body(straight, u_shape(mesh.vertices))
turns = vertex_rotations(mesh.cells, mesh.vertices, bent.mesh.vertices)
own = pose_basis(bent, modes=MODES, size=SIZE).vectors
others = pose_basis(straight, modes=MODES, size=SIZE).vectors
warped = np.einsum("nij,rnj->rni", turns, others)
end = mesh.where(x=LENGTH)
LOADS = {"opened": (0.0, 0.6, 0.0), "twisted": (0.0, 0.0, 0.5)}  # [N] on the free end


def shapes(load: tuple[float, float, float]) -> dict[str, np.ndarray]:
    """Displacements (n, 3) of the U under a force on its end, by each of the ways."""
    forces = bent.point_force(end, np.array(load) / len(end))
    back = np.einsum("nji,nj->ni", turns, forces)
    return {
        "full": sp.static_shape(bent, forces),
        "modes of the U": static_in(bent, own, forces),
        "modes of the straight beam, turned": static_in(bent, warped, forces),
        "all in the straight beam": np.einsum(
            "nij,nj->ni", turns, static_in(straight, others, back)
        ),
    }


def main() -> None:
    print(f"{'':36}" + "".join(f"{name:>12}" for name in LOADS))
    found = [shapes(load) for load in LOADS.values()]
    print(f"{'the end moves by [m]':36}", end="")
    print("".join(f"{np.abs(case['full'][end]).max():12.3f}" for case in found))
    errors = {
        way: [error(bent, case[way], case["full"]) for case in found] for way in list(found[0])[1:]
    }
    for way, each in errors.items():
        print(f"{way:36}" + "".join(f"{100 * e:10.1f} %" for e in each))
    good, turned, back = errors.values()
    assert max(good) < 0.01
    assert min(turned) > 0.4
    assert min(back) > 1.0


if __name__ == "__main__":
    main()
