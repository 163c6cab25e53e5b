"""A design with a wish that is missed, as text and bytes that tell all of it but its time.

``python -m tests.design.twice SPACE FILE`` prints it, and leaves the damping in a file.
"""

from __future__ import annotations

import sys
import warnings
from hashlib import sha256
from pathlib import Path

import supple as sp
from supple.damping import save_damping


def bar() -> tuple[sp.Body, sp.ReducedModel, sp.ExampleDamping]:
    """A coarse one of 1 m, its reduced model, and damping of its bending by 20 cm."""
    mesh = sp.HexMesh.box((1.0, 0.2, 0.2), (4, 1, 1))
    material = sp.StVK(young=1e6, poisson=0.3, density=1000)
    body = sp.Body(mesh, material, fixed=mesh.where(x=0))
    modes = sp.vibration_modes(body, 3)
    model = sp.reduce(body, sp.modal_derivative_basis(body, modes=modes, size=6), compare=False)
    bend = sp.Example(modes.shapes[0], name="bend").scaled(0.2)
    return body, model, sp.ExampleDamping(sp.Rayleigh(stiffness=2e-3), [bend])


def designed(space: str, file: Path) -> str:
    """What a design came to, in words and in every digit; the damping is left in the file.

    1 → 0.2 and 1.1 → 1 contradict each other, so that all rounds are gone through; in full space,
    where there are no descents and releases take longer, one of them.
    """
    body, model, damping = bar()
    targets = [sp.Unloading("bend", 1.0, 0.2), sp.Unloading("bend", 1.1, 1.0)]
    chosen, rounds = (model, 5) if space == "reduced" else (body, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.DesignWarning)
        fit = sp.design_damping(chosen, damping, targets, dt=1 / 30, rounds=rounds, simulations=2)
    save_damping(fit.damping, file)
    lines = [f"rounds {fit.report.rounds}", *fit.report.notes]
    for result in fit.report.results:
        motion = result.after.excitations.tobytes() + result.after.rates.tobytes()
        figures = result.reached, result.gamma, result.simulations, result.met, result.moments
        lines += [repr(figures), result.reason, sha256(motion).hexdigest()]
    return "\n".join(lines)


if __name__ == "__main__":
    print(designed(sys.argv[1], Path(sys.argv[2])))
