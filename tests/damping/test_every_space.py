"""Every damping in every space, alone and in a list: it runs and dissipates, or says what to use.

The table of docs/guides/choosing-damping.md is what is found here.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.character.pose_models import bend_rig, model_of, poses_at
from tests.reduction.conftest import complete_basis, every_cell

import supple as sp
from supple.bodies.shape import Shape
from supple.character.runtime.damping import PoseDamping
from supple.character.runtime.simulation import PoseSimulation
from supple.character.tissue.full_pose import FullPoseSimulation
from supple.core.errors import InputError
from supple.damping import DAMPINGS, Damping
from supple.damping.examples.frames import rigid_fields
from supple.damping.sums import bound_sum
from supple.reduction.damping.points import ProjectedDamping
from supple.reduction.damping.rules import reduced_damping
from supple.reduction.runtime.floating_parts import free_damping

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "choosing-damping.md"
SOFT = sp.StVK(young=2e4, poisson=0.35, density=1000.0)
CURVE = sp.Curve.bezier([(0.5, 0.3), (1.0, 1.0), (1.6, 4.0)])
TIGHT = sp.DenseNewton(tolerance=1e-10, max_iterations=100)
EXACT, CUBATURE, WHOLE, REFUSED = "exact", "cubature", "whole body", "–"
STEPS, DT = 4, 1 / 120


@cache
def mesh() -> sp.TetMesh:
    return sp.HexMesh.box(size=(0.4, 0.2, 0.2), cells=(2, 1, 1)).tetrahedra()


@cache
def solid(*, held: bool = True) -> sp.Body:
    fixed = mesh().where(x=0) if held else None
    return sp.Body(mesh(), SOFT, fixed=fixed, mass_model=sp.LumpedMass())


@cache
def sheet() -> sp.Cloth:
    cloth = sp.SheetMesh.grid(size=(0.2, 0.2), cells=(2, 2))
    material = sp.IsotropicCloth(young=2e4, poisson=0.3, thickness=1e-3, areal_density=0.3)
    return sp.Cloth(cloth, material, fixed=[0, 1, 2])


@cache
def net() -> sp.SpringNetwork:
    chain = sp.SpringMesh.chain((0, 0, 0), (1, 0, 0), 4)
    return sp.SpringNetwork(chain, stiffness=50.0, mass=0.05, fixed=[0])


def state(body: sp.ElasticBody, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """A shape and a velocity of what is free to move."""
    rng = np.random.default_rng(seed)
    size = 0.05 * np.ptp(body.mesh.vertices, axis=0).max()
    if isinstance(body, sp.Cloth):
        size *= 0.2  # or Newton's method has crumpled triangles to sort out
    u, v = (np.where(body.free, x, 0.0) for x in rng.normal(size=(2, body.n_vertices, 3)))
    return size * u, 4 * size * v


def instance(kind: type[Damping], body: sp.ElasticBody) -> Damping:
    """A damping of each kind, as it suits the body."""
    n = 3 * body.n_vertices
    thin = sp.ClothStrainRate(shear=0.5) if isinstance(body, sp.Cloth) else None
    if isinstance(body, sp.SpringNetwork):
        thin = sp.SpringStrainRate(viscosity=0.2)
    base: Damping = sp.StrainRate(shear=20.0) if thin is None else thin
    shapes = [0.05 * state(body, seed)[0] / np.abs(state(body, seed)[0]).max() for seed in (5, 6)]
    if body.free.all():  # a free body has no coordinates for what of them is rigid
        of = model(cubature=False, held=False)
        shapes = [of.displacements(of.coordinates(x)) for x in shapes]
    chain = np.eye(n) - np.eye(n, k=1)
    made: dict[type[Damping], Callable[[], Damping]] = {
        sp.Viscous: lambda: sp.Viscous(0.02 * chain.T @ chain),
        sp.Caughey: lambda: sp.Caughey((0.4, 1e-3, 1e-9) if thin is None else (0.4, 1e-3)),
        sp.ClothStrainRate: lambda: sp.ClothStrainRate(shear=0.5, bending=1e-3),
        sp.MomentumConserving: lambda: (
            sp.MomentumConserving([base, sp.MatchedStrainRate(stiffness=1e-3)])
            if thin is None
            else sp.MomentumConserving(base, sp.Conserving.BODY)
        ),
        sp.Drag: lambda: sp.Drag(strength=5.0),
        sp.ClothDrag: lambda: sp.ClothDrag(air_density=20.0),
        sp.ExampleDamping: lambda: sp.ExampleDamping(
            [base, sp.Rayleigh(mass=0.3)],
            [
                sp.Example(shapes[0], sp.Curve.bezier([(0, 1.0), (1, 1.5)])),
                sp.Example(shapes[1], 2),
            ],
        ),
        sp.StrainRate: lambda: sp.StrainRate(
            shear=20.0, bulk=10.0, fibre=15.0, direction=(1, 2, 0)
        ),
        sp.SpringStrainRate: lambda: sp.SpringStrainRate(viscosity=0.2),
        sp.MatchedStrainRate: lambda: sp.MatchedStrainRate(stiffness=2e-3),
        sp.PowerLaw: lambda: sp.PowerLaw(exponent=0.5, strength=10.0 if thin is None else 0.05),
        sp.PrincipalStrain: lambda: sp.PrincipalStrain(stiffness=2e-3),
        sp.Rayleigh: lambda: sp.Rayleigh(mass=0.5, stiffness=2e-3),
        sp.SplineDamping: lambda: sp.SplineDamping(base, CURVE),
    }
    return made[kind]()


class Space:
    """Where dampings are at work; each says how, what they take, and takes steps."""

    name: str

    def body(self) -> sp.ElasticBody:
        return solid()

    def start(self, damping: Any) -> None:
        """At work, in the state of ``state``."""
        raise NotImplementedError

    def how(self, damping: Any) -> str:
        return EXACT

    def step(self) -> None:
        self.live.step()

    def power(self) -> float:
        return float(self.live.damping_power)

    def energy(self) -> float:
        return float(self.live.kinetic + self.live.elastic)

    def check(self, damping: Any) -> None:
        """That the full body feels the same."""

    live: Any


class Full(Space):
    def __init__(self, name: str, body: Callable[[], sp.ElasticBody]) -> None:
        self.name, self._body = name, body

    def body(self) -> sp.ElasticBody:
        return self._body()

    def start(self, damping: Any) -> None:
        self.live = sp.Simulation(
            self.body(), damping=damping, dt=DT, integrator=sp.BackwardEuler()
        )
        self.live.state.u, self.live.state.v = state(self.body())

    def power(self) -> float:
        now = self.live.state
        return float(np.vdot(now.v, full_force(self.live.damping, self.body(), now.u, now.v)))

    def energy(self) -> float:
        frame = self.live.frame()
        return float(frame.kinetic + frame.elastic)


def full_force(damping: Any, body: sp.ElasticBody, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    listed = damping if isinstance(damping, list | tuple) else [damping]
    bound = bound_sum(body, [each.bind(body) for each in listed])
    assert bound is not None
    return bound.evaluate(Shape(body, u, order=2), v)[1]


@cache
def model(*, cubature: bool, held: bool = True) -> sp.ReducedModel:
    body = solid(held=held)
    if held:
        basis = complete_basis(body)
    else:  # every displacement but the rigid ones
        roots = np.sqrt(body.mass.diagonal())
        rigid = rigid_fields(body, np.ones(body.n_vertices, dtype=bool)).reshape(6, -1)
        Q = np.linalg.qr((roots * rigid).T, mode="complete")[0]
        basis = sp.picked_basis(body, (Q[:, 6:].T / roots).reshape(-1, body.n_vertices, 3))
    if not cubature:
        return sp.reduce(body, basis)
    return sp.reduce(body, basis, cubature=every_cell(body, basis.vectors))


class Reduced(Space):
    def __init__(self, name: str, *, cubature: bool = False, crowd: bool = False) -> None:
        self.name, self._cubature, self._crowd = name, cubature, crowd

    @property
    def model(self) -> sp.ReducedModel:
        return model(cubature=self._cubature)

    def start(self, damping: Any) -> None:
        options = {"damping": damping, "dt": DT, "integrator": sp.BackwardEuler(), "solver": TIGHT}
        q, v = (self.model.coordinates(x) for x in state(self.body()))
        if self._crowd:
            self.live = sp.CrowdSimulation(self.model, copies=2, **options)
            self.live.q, self.live.v = np.stack([q, 0.5 * q]), np.stack([v, v])
        else:
            self.live = self.model.simulation(**options)
            self.live.q, self.live.v = q, v

    def power(self) -> float:
        if not self._crowd:
            return super().power()
        found = reduced_damping(self.live.damping, self.model)
        both = zip(self.live.q, self.live.v, strict=True)
        return min(float(v @ (found.force(q, v) - found.push())) for q, v in both)

    def energy(self) -> float:
        if not self._crowd:
            return super().energy()
        both = zip(self.live.q, self.live.v, strict=True)
        of = self.model
        return sum(float(0.5 * v @ of.mass @ v) + of.evaluate(np.array(q))[0] for q, v in both)

    def how(self, damping: Any) -> str:
        return kind_of(reduced_damping(damping, self.model))

    def check(self, damping: Any) -> None:
        found, of, body = reduced_damping(damping, self.model), self.model, self.body()
        u, v = state(body)
        wanted = of.vectors.reshape(of.size, -1) @ full_force(damping, body, u, v).ravel()
        given = found.force(of.coordinates(u), of.coordinates(v)) - found.push()
        np.testing.assert_allclose(given, wanted, atol=1e-9 * np.abs(wanted).max())


def kind_of(found: Any) -> str:
    points = (*found.points, *found.beside)
    if any(isinstance(each, ProjectedDamping) for each in points):
        return WHOLE
    return CUBATURE if points else EXACT


class Flying(Space):
    name = "free-flying"

    def body(self) -> sp.ElasticBody:
        return solid(held=False)

    def start(self, damping: Any) -> None:
        of = model(cubature=False, held=False)
        options = {"damping": damping, "dt": DT, "integrator": sp.BackwardEuler(), "solver": TIGHT}
        self.live = sp.FloatingSimulation(of, **options)
        self.live.q, self.live.v = (of.coordinates(x) for x in state(self.body()))

    def how(self, damping: Any) -> str:
        parts = free_damping(damping)
        return kind_of(reduced_damping(parts.inner, model(cubature=False, held=False)))

    def check(self, damping: Any) -> None:
        of, body = model(cubature=False, held=False), self.body()
        parts = free_damping(damping)
        q, v = (of.coordinates(x) for x in state(body))
        if parts.counted:
            q *= 1e-5  # what a turn adds to motion along an example goes with the square
        u, velocity = of.displacements(q), of.displacements(v)
        wanted = of.vectors.reshape(of.size, -1) @ full_force(damping, body, u, velocity).ravel()
        given = parts.drag * of.mass @ v + parts.reduced(of).force(q, v)
        np.testing.assert_allclose(given, wanted, atol=1e-8 * np.abs(wanted).max())


@cache
def character() -> Any:
    return model_of(
        bend_rig(mesh().boundary()), mesh(), poses_at([0.0], 4), None, material=SOFT
    )  # fmt: skip


class Posed(Space):
    name = "character"

    def start(self, damping: Any) -> None:
        self.live = PoseSimulation(character(), damping=damping, dt=DT, solver=TIGHT)
        self.live.q, self.live.v = self._coordinates()

    def _coordinates(self) -> list[np.ndarray]:
        free = np.repeat(~character().fixed, 3)
        roots = np.sqrt(np.repeat(character().masses, 3)[free])
        return [x.ravel()[free] * roots for x in state(self.body())]

    def step(self) -> None:
        self.live.step(self.live.pose)

    def how(self, damping: Any) -> str:
        found = PoseDamping.of(damping, character(), character().cells)
        return CUBATURE if found.beta or len(found.laws.addresses) else EXACT

    def check(self, damping: Any) -> None:
        self.start(damping)
        free = np.repeat(~character().fixed, 3)
        roots = np.sqrt(np.repeat(character().masses, 3)[free])
        wanted = full_force(damping, self.body(), *state(self.body())).ravel()[free] / roots
        given = self.live.damping_force
        np.testing.assert_allclose(given, wanted, atol=1e-9 * np.abs(wanted).max())


class FullPosed(Space):
    """Its state cannot be set: it is pushed, and compared with the body after every step."""

    name = "character in full"

    def start(self, damping: Any) -> None:
        newton = sp.Newton(tolerance=1e-9, max_iterations=60)
        self.live = FullPoseSimulation(
            solid(), character().tet_rig, damping=damping, dt=DT, solver=newton
        )
        self.plain = sp.Simulation(
            solid(), damping=damping, dt=DT, integrator=sp.BackwardEuler(),
            solver=sp.Newton(tolerance=1e-10),
        )  # fmt: skip
        self.force = 20.0 * state(solid())[0]
        for _ in range(3):
            self.live.step(self.live.pose, force=self.force)
            self.plain.step(force=self.force)

    def step(self) -> None:
        self.live.step(self.live.pose)
        self.plain.step()
        size = np.abs(self.plain.state.u).max()
        np.testing.assert_allclose(self.live.displacements, self.plain.state.u, atol=1e-5 * size)

    def power(self) -> float:
        now = self.plain.state
        return float(np.vdot(now.v, full_force(self.plain.damping, solid(), now.u, now.v)))

    def energy(self) -> float:
        frame = self.plain.frame()
        return float(frame.kinetic + frame.elastic)


SPACES: list[Space] = [
    Full("solid", solid),
    Full("cloth", sheet),
    Full("springs", net),
    Reduced("reduced"),
    Reduced("reduced, cubature", cubature=True),
    Reduced("crowd", crowd=True),
    Flying(),
    Posed(),
    FullPosed(),
]
KINDS = sorted(DAMPINGS, key=lambda kind: kind.__name__)


def documented() -> dict[tuple[str, str], str]:
    """What the guide says of each damping in each space."""
    text = GUIDE.read_text(encoding="utf-8").split("## In which space", 1)[1]
    rows = [line.strip("| \n").split("|") for line in text.splitlines() if line.startswith("|")]
    head, _, *body = [[cell.strip() for cell in row] for row in rows]
    found = {}
    for name, *cells in body:
        for space, cell in zip(head[1:], cells, strict=True):
            found[re.sub("`", "", name), space] = cell
    return found


@pytest.mark.parametrize("listed", [False, True], ids=["alone", "in a list"])
@pytest.mark.parametrize("space", SPACES, ids=lambda each: each.name)
@pytest.mark.parametrize("kind", KINDS, ids=lambda each: each.__name__)
def test_it_dissipates_or_says_what_to_use(kind: type[Damping], space: Space, listed: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", sp.StrengthWarning)
        damping: Any = instance(kind, space.body())
        damping = [damping, sp.Rayleigh(mass=0.1)] if listed else damping
        how = REFUSED
        if documented()[kind.__name__, space.name] == REFUSED:
            with pytest.raises(InputError, match=r"; .*(give|takes|use)"):
                space.start(damping)
        else:
            space.start(damping)
            how = space.how(damping)
            space.check(damping)
            before = space.energy()
            for _ in range(STEPS):
                assert space.power() >= -1e-12
                space.step()
                after = space.energy()
                assert after <= before * (1 + 1e-9)
                before = after
            assert space.power() > 0
    if not listed:
        assert documented()[kind.__name__, space.name] == how


def test_the_guide_tells_of_every_damping_in_every_space() -> None:
    assert {name for name, _ in documented()} == {kind.__name__ for kind in KINDS}
    assert {space for _, space in documented()} == {space.name for space in SPACES}
