"""What is left of large swings under an example that is straight, and under one that bends.

The cantilever of 1 m, released from the shape of least energy with its tip at so many centimetres,
with γ = 5 and γ = 0.2 over bases of ζ = 0.02; in full space and reduced.
"""

from __future__ import annotations

import numpy as np

import supple as sp
from benchmarks.timing import table
from supple.core.types import Floats
from supple.design.testbed import Watch
from supple.design.testbeds import make_testbed

CENTIMETRES = (2, 10, 20, 40, 80)
RATIO = 0.02
STRENGTHS = (0.2, 5.0)


def main() -> None:
    mesh = sp.HexMesh.box(size=(1.0, 0.2, 0.2), cells=(10, 2, 2))
    material = sp.StVK(young=1e6, poisson=0.4, density=1000)
    body = sp.Body(mesh, material, fixed=mesh.where(x=0))
    modes = sp.vibration_modes(body, 2)
    basis = sp.joined_basis(
        body,
        sp.picked_basis(body, modes.shapes),
        sp.modal_derivative_basis(body, modes=8, size=20),
    )
    model = sp.reduce(body, basis)
    straight = sp.Example(modes.shapes[0], name="bend").scaled(0.1)
    bent = sp.bent_example(body, straight, reach=8.0)
    omega = 2 * np.pi * float(modes.frequencies[0])
    stiffness = 2 * RATIO / omega
    bases = {
        "mass": sp.Rayleigh(mass=2 * RATIO * omega),
        "stiffness at rest": sp.Rayleigh(stiffness=stiffness, at=sp.StiffnessAt.REST),
        "current stiffness": sp.Rayleigh(stiffness=stiffness),
        "strain rate": sp.StrainRate(
            shear=stiffness * 1e6 / 2.8, bulk=stiffness * 0.4e6 / (1.4 * 0.2)
        ),
    }
    rows = []
    for name, base in bases.items():
        for gamma in STRENGTHS:
            zeta = gamma * RATIO
            wanted = np.exp(-2 * np.pi * zeta / np.sqrt(1 - zeta**2))
            for where, space in (("full", body), ("reduced", model)):
                for kind, example in (("straight", straight), ("bent", bent)):
                    damping = sp.ExampleDamping(base, [example.with_curve(gamma)])
                    left = _left(space, damping, bent)
                    shown = [f"{100 * share:.1f}" for share in left]
                    rows.append([name, gamma, where, kind, f"{100 * wanted:.1f}", *shown])
                    print("  ".join(map(str, rows[-1])), flush=True)
    head = ["base", "γ", "space", "example", "linear [%]", *(f"{cm} cm" for cm in CENTIMETRES)]
    print()
    print(table(head, rows))


def _left(
    space: sp.Body | sp.ReducedModel, damping: sp.ExampleDamping, path: sp.Example
) -> list[float]:
    """The share of each start that is left after one cycle; NaN where it creeps back, or fails."""
    bed = make_testbed(space, damping, dt=1 / 240)
    found = []
    for cm in CENTIMETRES:
        chi = cm / 10

        def start(example: int, _: float, chi: float = chi) -> Floats:
            u = path.at(chi)
            return space.coordinates(u) if isinstance(space, sp.ReducedModel) else u

        bed.start_shape = start  # type: ignore[method-assign]  # the same for both examples
        test = bed.try_unloading(damping, 0, chi, Watch(cycles=1))
        found.append(float(test.turns[0, 1] / chi) if len(test.turns) else float("nan"))
    return found


if __name__ == "__main__":
    main()
