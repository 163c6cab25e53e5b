"""One basis for all poses, or one for each: an X in the air and on the ground (Fig. 14).

The X hangs by its upper ends. In the first pose it is free below; in the second it is longer, and
its lower ends stand on the ground. Each pose has 20 modes of its own, on the ground without any
that go down. Pose-independent modes are the principal components of all of them together: 20 are
too few for the first pose, and 40 let the X into the ground (pose space paper).
"""

import numpy as np
from shared.measuring import quick
from shared.soft_x import whole_model, x_mesh

import supple as sp
from supple.character.rigs import BlackBoxRig
from supple.character.runtime.simulation import PoseSimulation
from supple.character.tissue.full_pose import FullPoseSimulation
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.basis import pose_bases
from supple.character.training.contact import PoseContact

R, DT, FRAMES = 20, 1 / 90, 45
LONGER = 0.3  # how much of its height it grows by in the second pose
ALPHA, BETA = 0.5, 1e-3
DOWN = np.array([0.0, 0.0, -1.0])

mesh = x_mesh(8 if quick() else 14)
skin = mesh.boundary()
top, bottom = skin.vertices[:, 2].max(), skin.vertices[:, 2].min()


def stretched(pose: np.ndarray) -> np.ndarray:
    """Longer by a share, and narrower: the top stays."""
    x = skin.vertices.copy()
    x[:, 2] = top + (1 + pose[0]) * (x[:, 2] - top)
    x[:, 0] *= 1 - 0.5 * pose[0]
    return x


rig = BlackBoxRig(stretched, skin.triangles, np.zeros(1), 0.01)
held = mesh.vertices[:, 2] > top - 0.1
material = sp.StVK(young=2e5, poisson=0.4, density=1000.0)
body = sp.Body(mesh, material, fixed=held, mass_model=sp.LumpedMass())
tet_rig = TetRig.of(rig, mesh)
poses = np.array([[0.0], [LONGER]])
ground = bottom + (1 + LONGER) * (bottom - top) - (bottom - top)
floor = sp.Plane(normal=(0, 0, 1), offset=ground)
standing = sp.TetMesh(tet_rig.vertices(poses[1]), mesh.cells)
contact = PoseContact.with_obstacle(standing, floor, distance=0.01)
bases = pose_bases(body, tet_rig, poses, modes=10, size=R, contact=[None, contact])

n = mesh.n_vertices
heavy = np.repeat(np.sqrt(bases.masses), 3)[:, None]
together = np.concatenate([heavy * U.reshape(3 * n, R) for U in bases.bases], axis=1)
components = np.linalg.svd(together, full_matrices=False)[0]


def independent(count: int) -> np.ndarray:
    """The first principal components, the same in both poses, (2, n, 3, count)."""
    vectors = (components[:, :count] / heavy).reshape(n, 3, count)
    return np.stack([vectors, vectors])


WAYS = {
    f"{R} of each pose": bases.bases,
    f"{R} of all poses": independent(R),
    f"{2 * R} of all poses": independent(2 * R),
}
foot = int(np.argmin(mesh.vertices[:, 2] + 0.01 * mesh.vertices[:, 0]))
LOADS = [(6.0, 0.0, 0.0), (0.0, 3.0, 0.0), (0.0, 0.0, -6.0)]  # [N] at a foot


def pulled(vectors: np.ndarray | None, pose: np.ndarray, load: tuple[float, ...]) -> np.ndarray:
    """Displacements (frames, n, 3) while a force pulls at a foot, and after; in full without."""
    found = []
    full = FullPoseSimulation(body, tet_rig, mass=ALPHA, stiffness=BETA, dt=DT, pose=pose)
    reduced = None
    if vectors is not None:
        model = whole_model(body, tet_rig, poses, bases, vectors)
        damping = sp.Rayleigh(mass=ALPHA, stiffness=BETA)
        reduced = PoseSimulation(model, pose=pose, damping=damping, dt=DT)
    for frame in range(FRAMES):
        strength = np.array(load) * (frame < FRAMES // 2)
        if reduced is None:
            force = np.zeros((n, 3))
            force[foot] = strength
            full.step(pose, force=force)
            found.append(full.displacements)
        else:
            reduced.step(pose, force=reduced.pull(foot, strength, inside=True))
            found.append(reduced.displacements())
    return np.array(found)


exact = [pulled(None, poses[0], load) for load in LOADS]
errors, sunk = {}, {}
print(f"{mesh.n_cells} tets; {len(contact)} vertices on the ground in the second pose")
print(f"{'modes':20} {'in the air: error':>18} {'on the ground: sinks by':>25}")
for name, vectors in WAYS.items():
    moves = [pulled(vectors, poses[0], load) for load in LOADS]
    shares = [np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in zip(moves, exact, strict=True)]
    errors[name] = float(np.sqrt(np.mean(np.square(shares))))
    feet = pulled(vectors, poses[1], LOADS[2])[:, contact.vertices, 2]
    sunk[name] = max(0.0, -float(feet.min()))
    print(f"{name:20} {100 * errors[name]:16.1f} % {1e3 * sunk[name]:22.2f} mm")

ours, few, many = WAYS
assert errors[few] > 1.5 * errors[ours]
assert errors[many] < 1.2 * errors[ours]
assert sunk[ours] < 1e-9
assert min(sunk[few], sunk[many]) > 1e-4
