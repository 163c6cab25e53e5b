"""Between two poses, basis and cubature are interpolated (pose space paper, Fig. 10).

An arm is straight in one pose and bent by 90° in the other. Half-way, the interpolated basis is
compared with the one that the half-bent arm has by itself, and with that of the straight arm
carried along. Then the reduced elastic force: how far the few cells of the cubature miss it in both
poses, and half-way with interpolated weights, where the paper has 1.1, 1.9 and 1.5 %. Between the
poses columns of the basis turn into others, which weights fitted at both ends alone do not know; so
the training also looks at places on the way, though not half-way.
"""

import numpy as np

import supple as sp
from supple.character.rigs import BendRig
from supple.character.tissue.tet_rig import TetRig
from supple.character.training.basis import pose_bases
from supple.character.training.cubature import PoseCubature, relative_error, train_pose_cubature
from supple.character.training.training import PoseTraining

BENT = np.pi / 2
SIZE, CELLS, SAMPLES = 20, 120, 120
AMPLITUDE = 0.5  # largest displacement gradient
WAY = (0.5, 0.0, 1.0, 0.1, 0.2, 0.35, 0.65, 0.8, 0.9)  # how far bent: half-way, both ends, others

mesh = sp.TetMesh.box((1.0, 0.16, 0.16), (24, 4, 4), (0.0, -0.08, -0.08))
rig = BendRig(mesh.boundary(), origin=(0.0, 0.0, 0.0), bounds=(0.35, 0.65))
tet_rig = TetRig.of(rig, mesh)
arm = sp.Body(
    mesh,
    sp.StVK(young=1e5, poisson=0.4, density=1000.0),
    fixed=mesh.where(x=0),
    mass_model=sp.LumpedMass(),
)


def trained(poses: np.ndarray) -> PoseTraining:
    """Aligned bases of some poses (m, 1), ready for the training of a cubature."""
    bases = pose_bases(arm, tet_rig, poses, modes=10, size=SIZE)
    young = np.full((len(poses), mesh.n_cells), 1e5)
    return PoseTraining(arm, tet_rig, poses, bases, young, SAMPLES, seed=0)


def cubature(training: PoseTraining, *, between: bool = True) -> PoseCubature:
    ends = list(map(training.interpolated, training.poses, training.at_poses))
    on_the_way = [training.interpolated(pose, rest) for pose, rest in training.at_between]
    return train_pose_cubature(ends, on_the_way if between else [], size=CELLS, samples=SAMPLES)


def error(training: PoseTraining, found: PoseCubature, angle: float) -> float:
    """RMS over new samples of ‖f̃ by cubature − f̃‖ / ‖f̃‖, in mass-orthonormal coordinates."""
    at = training.interpolated(np.array([angle]))
    q = at.rest.draw(SAMPLES, np.random.default_rng(7), AMPLITUDE)
    return relative_error(found.forces(at, q), at.rest.forces(q))


def agreement(found: np.ndarray, wanted: np.ndarray, masses: np.ndarray) -> float:
    """Mean cos² of the angles between two subspaces (n, 3, r): 1 where they are the same."""
    roots = np.sqrt(masses)[:, None, None]
    one, two = (np.linalg.qr((roots * U).reshape(-1, SIZE))[0] for U in (found, wanted))
    return float((np.linalg.svd(one.T @ two, compute_uv=False) ** 2).mean())


def half_way(training: PoseTraining) -> tuple[float, float]:
    """How well the interpolated basis, and that of the straight arm, agree with the own one."""
    bases = training.bases
    own = trained(np.array([[0.0], [BENT / 2]])).bases.bases[1]
    mixed = bases.shapes(training.weights(np.array([BENT / 2])))
    return agreement(mixed, own, bases.masses), agreement(bases.bases[0], own, bases.masses)


def main() -> None:
    both = trained(np.array([[0.0], [BENT]]))
    mixed, carried = half_way(both)
    print(f"half-bent arm, {SIZE} columns: agreement with its own basis")
    print(f"{'  interpolated':34}{mixed:8.4f}\n{'  of the straight arm':34}{carried:8.4f}")
    own = trained(np.array([[0.0], [BENT / 2]]))
    rows = {
        "  trained at both ends": (cubature(both, between=False), both, WAY),
        "  trained on the way, too": (cubature(both), both, WAY),
        "  of the half-bent arm itself": (cubature(own), own, WAY[:1]),
    }
    print(
        f"\n{'cubature, error of the force':34}{'cells':>8}{'half-way':>10}{'ends':>8}{'most':>8}"
    )
    errors = {}
    for name, (found, training, way) in rows.items():
        errors[name] = [error(training, found, share * BENT) for share in way]
        shown = [errors[name][0], max(errors[name][1:3]), max(errors[name])] if way is WAY else []
        texts = [f"{100 * each:.2f} %" for each in shown or errors[name]]
        print(
            f"{name:34}{len(found.cells):8d}{texts[0]:>10}" + "".join(f"{t:>8}" for t in texts[1:])
        )
    at_ends, everywhere = errors["  trained at both ends"], errors["  trained on the way, too"]
    assert mixed > 0.9
    assert mixed > carried
    assert max(everywhere) < 0.015
    assert max(everywhere) < 0.5 * max(at_ends)


if __name__ == "__main__":
    main()
