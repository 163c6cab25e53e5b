"""Local modes against global ones: a bear of blocks, pulled by a cheek and by an ear (pose space
paper, Fig. 11).

Both bases have the same number of vectors. Global modes are spent on arms and belly, which swing
slowly; a cheek stays where it is in them, and what moves is far away. Local ones follow the pull
and leave the rest alone: at the cheek they are as near as twice as many global ones, which are
nearer at the ear. Full finite elements tell what is right.
"""

import numpy as np
from shared.subspaces import error, static_in

import supple as sp
from supple.character.training.basis import pose_basis

Block = tuple[tuple[int, int, int], tuple[int, int, int]]
EDGE = 0.05  # [m]
BLOCKS = {  # lowest and highest corner [edges], half of the bear
    "belly": ((-4, -4, 0), (4, 4, 10)),
    "head": ((-3, -3, 10), (3, 3, 16)),
    "cheek": ((3, -3, 11), (5, -1, 13)),
    "ear": ((1, -1, 16), (3, 1, 19)),
    "arm": ((5, -2, 2), (7, 0, 10)),
    "shoulder": ((4, -2, 8), (5, 0, 10)),
}
BONES = (((-2, 0, 0), (2, 2, 14)), ((-2, -2, 10), (2, 2, 15)))  # spine and skull
SOFT = ("belly", "head", "cheek", "ear", "arm")  # have regions of their own
RIM = 2  # [edges] over which a region ends
FAR = 4  # [edges] from what is pulled is elsewhere
GLOBAL, LOCAL, SIZE = 20, 5, 40  # linear modes, of all and of each region; vectors in each basis
TWICE = "global, twice as many"
PULLS = {"cheek": (9.0, -6.0, 0.0), "ear": (3.0, 1.5, 0.0)}  # [N] on the left one


def outside(x: np.ndarray, block: Block) -> np.ndarray:
    """How far places (k, 3) [edges] are out of a block [edges], (k,)."""
    low, high = np.array(block)
    return np.linalg.norm(np.maximum(0.0, np.maximum(low - x, x - high)), axis=1)


def mirrored(block: Block) -> Block:
    (a, b, c), (d, e, f) = block
    return (-d, b, c), (-a, e, f)


def bear() -> sp.Body:
    """A metre tall, of soft flesh on spine and skull."""
    box = sp.TetMesh.box((14, 8, 19), (14, 8, 19), (-7, -4, 0))
    sides = [side for block in BLOCKS.values() for side in (block, mirrored(block))]
    kept = np.min([outside(box.centroids, block) for block in sides], axis=0) == 0
    mesh = sp.TetMesh.cleaned(EDGE * box.vertices, box.cells[kept])
    bones = mesh.where(
        inside=lambda x: np.min([outside((x / EDGE).round(), b) for b in BONES], axis=0) == 0
    )
    flesh = sp.StVK(young=1e4, poisson=0.4, density=1000.0)
    return sp.Body(mesh, flesh, fixed=bones, mass_model=sp.LumpedMass())


body = bear()
X = (body.mesh.vertices / EDGE).round()


def regions() -> np.ndarray:
    """1 in a soft part, falling to 0 around it; cheeks, ears and arms left and right, (d, n)."""
    parts = [BLOCKS[name] for name in SOFT]
    parts += [mirrored(BLOCKS[name]) for name in ("cheek", "ear", "arm")]
    away = np.array([outside(X, part) for part in parts])
    return np.clip(1 - away / RIM, 0.0, 1.0) ** 0.5


bases = {
    "global": pose_basis(body, modes=GLOBAL, size=SIZE),
    "local": pose_basis(body, modes=LOCAL, size=SIZE, regions=regions()),
    TWICE: pose_basis(body, modes=GLOBAL + 10, size=2 * SIZE),
}


def pulled(name: str) -> dict[str, np.ndarray]:
    """Displacements (n, 3) [m] by each of the bases where the left cheek or ear is pulled."""
    on = (outside(X, BLOCKS[name]) == 0) & body.free.all(axis=1)
    forces = body.point_force(on, np.array(PULLS[name]) / on.sum())
    found = {"full": sp.static_shape(body, forces)}
    return found | {way: static_in(body, b.vectors, forces) for way, b in bases.items()}


def main() -> None:
    counts = {way: len(basis.vectors) for way, basis in bases.items()}
    found = {}
    for name in PULLS:
        print(f"{name + ' pulled':24}{'vectors':>8}{'error':>9}{'it moves':>11}{'elsewhere':>11}")
        near, far = outside(X, BLOCKS[name]) == 0, outside(X, BLOCKS[name]) > FAR
        cases = pulled(name)
        for way, u in cases.items():
            size = np.linalg.norm(u, axis=1)
            found[name, way] = error(body, u, cases["full"]), size[near].mean(), size[far].max()
            off, here, there = found[name, way]
            print(
                f"  {way:22}{counts.get(way, int(body.free.sum())):8}{100 * off:7.0f} %"
                f"{1e3 * here:8.2f} mm{1e3 * there:8.2f} mm"
            )
    _, here, there = found["cheek", "global"]
    assert there > here  # it rings elsewhere, and the cheek stays
    _, here, there = found["cheek", "local"]
    assert here > 0.8 * found["cheek", "full"][1]
    assert there < 0.05 * here
    assert found["ear", "local"][0] < 0.6 * found["ear", "global"][0]
    assert found["cheek", "local"][0] < 1.1 * found["cheek", TWICE][0]
    assert found["ear", TWICE][0] < 0.5 * found["ear", "local"][0]


if __name__ == "__main__":
    main()
