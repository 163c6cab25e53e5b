"""Scenes of woven cloth, yarn by yarn."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from supple.bodies.cloth import front_and_back
from supple.bodies.supports import Support
from supple.core.errors import InputError
from supple.core.types import Bools, Progress
from supple.io.scene.base import AnyScene, common_fields
from supple.io.scene.build import Fields, Sheet, build_supports, placed, sheet_of
from supple.io.scene.design import Initial
from supple.io.scene.schema import Problems
from supple.mesh import YarnMesh
from supple.solvers import LinearSolver
from supple.yarns import Weave, WovenCloth, Yarn, YarnDamping, YarnNet, YarnRayleigh, YarnSimulation

_WEAVES = {
    "plain": ((), Weave.plain),
    "twill": (("over", "under"), Weave.twill),
    "satin": (("period", "shift"), Weave.satin),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class YarnScene(AnyScene):
    """A scene of woven cloth. ``fixed`` (n, 3) are the components that are held still.

    ``tolerance``, ``max_iterations`` and ``linear`` are options of ``YarnSimulation``.
    """

    cloth: WovenCloth
    fixed: Bools
    supports: tuple[Support, ...] = ()
    damping: YarnDamping | YarnRayleigh | None = None
    initial: Initial = field(default_factory=Initial)
    tolerance: float = 1e-6
    max_iterations: int = 50
    linear: LinearSolver | None = None

    @property
    def mesh(self) -> YarnMesh:
        return self.cloth.mesh

    @property
    def is_free(self) -> bool:
        return not (self.fixed.any() or self.supports)

    @property
    def floor(self) -> float | None:
        return None

    def simulation(
        self, *, at_start: bool = True, progress: Progress | None = None
    ) -> YarnSimulation:
        made = YarnSimulation(
            self.cloth,
            damping=self.damping,
            gravity=self.gravity,
            fixed=self.fixed,
            supports=self.supports,
            obstacles=self.obstacles,
            dt=self.dt,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            linear=self.linear,
        )
        start = self.initial
        if at_start and any((*start.velocity, *start.rotation)):
            x = self.mesh.vertices
            v = np.zeros((len(x), 5))
            v[:, :3] = np.array(start.velocity) + np.cross(start.rotation, x - x.mean(axis=0))
            made.set_state(v=v)
        return made


def build_yarn_scene(file: Path, text: str, plan: Fields, problems: Problems) -> YarnScene:
    """The scene of checked tables, unless something is wrong."""
    cloth, fixed, supports = woven_and_held(plan, problems)
    obstacles = tuple(plan.get("obstacles", ()))
    for i, obstacle in enumerate(obstacles):
        if obstacle.vertex_restitution:
            where = f"obstacles[{i}].vertex_restitution"
            problems.add(where, "cloth does not bounce; leave it out")
    problems.stop()
    assert fixed is not None
    return YarnScene(
        **common_fields(file, text, plan),
        cloth=cloth,
        fixed=fixed,
        supports=supports,
        obstacles=obstacles,
        damping=plan.get("damping"),
        initial=Initial(**plan.get("initial", {})),
        **plan.get("solver", {}),
    )


def woven_and_held(
    plan: Fields, problems: Problems
) -> tuple[WovenCloth, Bools | None, tuple[Support, ...]]:
    """The cloth of checked tables, what of its crossings is held, and what leads others."""
    cloth = _cloth(plan["woven"], problems)
    return cloth, *build_supports(plan, Sheet(cloth.mesh), problems)


def _cloth(given: Fields, problems: Problems) -> WovenCloth:
    with problems.noting("woven"):
        weave = _weave(given)
    yarns: dict[str, Any] = {}
    for name in ("warp", "weft"):
        with problems.noting(f"woven.{name}"):
            if name in given:
                yarns[name] = _yarn(given[name])
    problems.stop()
    names = ("shear", "friction", "slip_speed", "contact_stiffness")
    options: dict[str, Any] = {name: given[name] for name in names if name in given}
    with problems.noting("woven"):
        net = _net(given, weave)
        net = dataclasses.replace(net, positions=placed(net.positions, given))
        cloth = WovenCloth(net, **yarns, **options)
    problems.stop()
    return cloth


def _net(given: Fields, weave: Weave) -> YarnNet:
    spacing = given["spacing"]
    if "warps" in given:
        return YarnNet.patch(given["warps"], given["wefts"], spacing=spacing, weave=weave)
    cut = given.get("pattern", "uv") == "uv"
    mesh = sheet_of(given["garment"], given, cut=cut)
    return YarnNet.from_garment(
        mesh if cut else front_and_back(mesh),
        spacing=spacing,
        weave=weave,
        seam_tolerance=given.get("seam_tolerance"),
    )


def _weave(given: Fields) -> Weave:
    if "table" in given and "weave" in given:
        raise InputError("give one of weave, table; got both")
    if "table" in given:
        rows = given["table"]
        if len({len(row) for row in rows}) > 1 or {v for row in rows for v in row} - {0, 1}:
            raise InputError(
                "table: give rows of equal length, 1 where the warp is on top and 0 where the weft"
            )
        return Weave(np.array(rows, dtype=bool))
    name = given.get("weave", "plain")
    options, make = _WEAVES[name]
    for other, (strays, _) in _WEAVES.items():
        for stray in strays:
            if stray in given and stray not in options:
                raise InputError(f'{stray} goes with weave = "{other}", and this is "{name}"')
    return make(**{option: given[option] for option in options if option in given})


def _yarn(given: Fields) -> Yarn:
    if "young" in given:
        return Yarn.of_moduli(**given)
    return Yarn(**{"bending": 0.0, **given})
