"""Modes that know of contact do not deepen it: a folded arm, its halves pressed on each other
(pose space paper, Fig. 5).

The arm closes and stops; one half, held at the elbow only, goes on, inwards and aside. Modes
without contact let it into the other half. As many modes with contact keep it out: it slides.
"""

import numpy as np

import supple as sp
from supple.character.training.basis import pose_basis, posed_body
from supple.character.training.contact import self_contact

SIDE = 0.16  # [m]
RADIUS, TURN, BACK, PRESSED = 0.2, 0.6, 0.48, 0.3  # of the elbow [m], [rad], [m], [m]
ELBOW, BEND = RADIUS * (np.pi + 2 * TURN), BACK * TURN  # lengths along the arm [m]
LENGTH = ELBOW + 2 * BEND + 2 * PRESSED
MODES, SIZE = 20, 20
SPEED, DURATION, DT = 0.25, 0.4, 1e-3  # of the tip when the arm stops [m/s], [s], [s]

mesh = sp.TetMesh.box((LENGTH, SIDE, SIDE), (40, 4, 4), (-LENGTH / 2, -SIDE / 2, -SIDE / 2))
bone = mesh.where(x=(None, 0.0), y=0)  # of one half; the other hangs on the elbow
arm = sp.Body(
    mesh,
    sp.StVK(young=3e4, poisson=0.4, density=1000.0),
    fixed=bone,
    mass_model=sp.LumpedMass(),
)


def folded(x: np.ndarray) -> np.ndarray:
    """More than half a turn at the elbow, back a little, then the halves are parallel."""
    s = np.linspace(0.0, LENGTH / 2, 4001)
    angle = np.minimum(s, ELBOW / 2) / RADIUS - np.clip(s - ELBOW / 2, 0.0, BEND) / BACK
    step = 0.5 * np.diff(s)[:, None] * (_along(angle)[1:] + _along(angle)[:-1])
    axis = np.concatenate([np.zeros((1, 2)), np.cumsum(step, axis=0)])
    # The elbow points to −x; the halves are brought to the wanted distance.
    far = np.abs(x[:, 0])
    at = np.stack([np.interp(far, s, axis[:, k]) for k in range(2)], axis=1)
    turn = np.interp(far, s, angle)
    side = np.sign(x[:, 0])
    out = -x[:, 1]
    y = at[:, 0] - out * np.sin(turn)
    return np.stack([at[:, 1] + out * np.cos(turn), side * y, x[:, 2]], axis=1)


def _along(angle: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


body = posed_body(arm, folded(mesh.vertices))
contact = self_contact(body.mesh, mesh)
bases = {
    "without contact": pose_basis(body, modes=MODES, size=SIZE),
    "with contact": pose_basis(body, modes=MODES, size=SIZE, contact=contact),
}


def depth(u: np.ndarray) -> float:
    """How deep the halves, displaced by u (n, 3) [m], are in each other, looked for anew [m]."""
    gaps = self_contact(sp.TetMesh(body.mesh.vertices + u, mesh.cells), mesh).gaps
    return max(0.0, -float(gaps.min(initial=0.0)))


def swing(vectors: np.ndarray) -> np.ndarray:
    """One half goes on as the arm stops closing: displacements at some frames, (T, n, 3) [m]."""
    model = sp.reduce(body, sp.Basis(vectors, np.ones(len(vectors))))
    slow = 2 * np.pi * model.frequencies[0]
    live = model.simulation(
        damping=sp.Rayleigh(stiffness=0.2 / slow), integrator=sp.TRBDF2(), dt=DT
    )
    closing = np.clip(mesh.vertices[:, :1] / (LENGTH / 2), 0.0, 1.0)
    inward = SPEED * closing * np.array([0.0, -1.0, 0.5])  # and aside
    live.v = np.tensordot(vectors, body.mass_times(inward), 2)
    frames = []
    for _ in range(round(DURATION / DT / 20)):
        live.run_steps(20)
        frames.append(live.displacements())
    return np.array(frames)


def main() -> None:
    print(f"{len(contact)} vertices in contact, {SIZE} vectors in each basis")
    print(f"{'':18}{'first [Hz]':>12}{'mode nears by':>15}{'moves [mm]':>12}{'enters [mm]':>13}")
    found = {}
    for name, basis in bases.items():
        frames = swing(basis.vectors)
        # Of a unit of motion, how much of it closes the gap, in the worst vector.
        nears = max(np.abs(contact.opening(u)).max() / np.abs(u).max() for u in basis.vectors)
        moved, entered = np.abs(frames).max(), max(depth(u) for u in frames)
        slowest = np.sqrt(basis.squares[0]) / (2 * np.pi)
        found[name] = moved, entered, nears
        print(f"{name:18}{slowest:12.2f}{nears:15.1e}{1e3 * moved:12.2f}{1e3 * entered:13.3f}")
    free, kept = found["without contact"], found["with contact"]
    assert free[2] > 0.5
    assert kept[2] < 1e-9
    assert free[1] > 0.2 * free[0]
    assert kept[1] < 0.02 * kept[0]


if __name__ == "__main__":
    main()
