"""What a scene is about, as names and values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.bodies.solid import Body
from supple.io.scene.scene import Scene, YarnScene
from supple.workflows.words import (
    cloth_text,
    damping_text,
    obstacle_text,
    options_text,
    solver_text,
    spread,
    yarn_text,
)

Facts = list[tuple[str, str]]


def facts(scene: Scene | YarnScene) -> Facts:
    """What a scene is about, as names and values."""
    return _woven(scene) if isinstance(scene, YarnScene) else _of_body(scene)


def _of_body(scene: Scene) -> Facts:
    body, mesh = scene.body, scene.body.mesh
    size = np.ptp(mesh.bounds, axis=0)
    listed = [
        ("Mesh", f"{mesh.n_vertices:,} vertices, {mesh.n_cells:,} {_cells(mesh.cell_nodes)}"),
        ("Size", f"{size[0]:.3g} × {size[1]:.3g} × {size[2]:.3g} m, {body.total_mass:.3g} kg"),
        *(_materials(body) if isinstance(body, Body) else cloth_text(body)),
    ]
    held = int((~body.free.all(axis=1)).sum())
    led = sum(np.size(support.vertices) for support in body.supports)
    moving = f", {'' if led == held else f'{led:,} of them '}led along a path" if led else ""
    listed.append(("Held", f"{held:,} vertices{moving}" if held else "nothing: the body is free"))
    listed += _gravity(scene)
    if scene.loads:
        listed.append(("Loads", f"{len(scene.loads)}"))
    listed += _obstacles(scene)
    if scene.self_contact is not None:
        listed.append(("With itself", options_text(scene.self_contact)))
    listed.append(("Starts", _start(scene)))
    listed.append(("Damping", damping_text(scene.dampings)))
    name = type(scene.integrator).__name__
    listed.append(("Solver", solver_text(scene.solver)))
    listed.append(("Time", f"{scene.duration:g} s in steps of {1e3 * scene.dt:.4g} ms, {name}"))
    return listed


def _materials(body: Body) -> Facts:
    listed = []
    given = body.material
    for name, material in given.items() if isinstance(given, Mapping) else (("", given),):
        label = f"Material, {name}" if name else "Material"
        young = spread(np.asarray(material.young) / 1e3)
        poisson, density = spread(material.poisson), spread(material.density)
        listed.append(
            (
                label,
                f"{type(material).__name__}: Young's modulus {young}\u00a0kPa, "
                f"Poisson ratio {poisson}, density {density}\u00a0kg/m³",
            )
        )
    return listed


def _woven(scene: YarnScene) -> Facts:
    cloth, mesh = scene.cloth, scene.mesh
    warps, wefts = (len(yarns) for yarns in mesh.yarns)
    size = np.ptp(mesh.bounds, axis=0)
    listed = [
        ("Cloth", f"{warps:,} warps, {wefts:,} wefts, {mesh.n_vertices:,} crossings"),
        ("Size", f"{' × '.join(f'{1e3 * s:.3g}' for s in size)} mm, {cloth.total_mass:.3g} kg"),
        ("Warp", yarn_text(cloth.warp)),
        ("Weft", yarn_text(cloth.weft)),
        ("Between yarns", f"shear {cloth.shear:.3g} N m, friction {cloth.friction:.3g}"),
        ("Held", _held_crossings(scene)),
        *_gravity(scene),
        *_obstacles(scene),
        ("Damping", "none but that of the steps"),
        ("Time", f"{scene.duration:g} s in steps of {1e3 * scene.dt:.4g} ms, or shorter"),
    ]
    if scene.damping is not None:
        listed[-2] = ("Damping", options_text(scene.damping))
    return listed


def _held_crossings(scene: YarnScene) -> str:
    led = sum(np.size(support.vertices) for support in scene.supports)
    held = led + int(scene.fixed.any(axis=1).sum())
    moving = f", {'' if led == held else f'{led:,} of them '}led along a path" if led else ""
    return f"{held:,} crossings{moving}" if held else "nothing: it is free"


def _gravity(scene: Scene | YarnScene) -> Facts:
    if not any(scene.gravity):
        return []
    return [("Gravity", f"({', '.join(f'{g:g}' for g in scene.gravity)}) m/s²")]


def _obstacles(scene: Scene | YarnScene) -> Facts:
    alone = len(scene.obstacles) == 1
    return [
        ("Obstacle" if alone else f"Obstacle {i + 1}", obstacle_text(obstacle))
        for i, obstacle in enumerate(scene.obstacles)
    ]


def _start(scene: Scene) -> str:
    given = scene.initial
    parts = ["at rest under its loads"] if given.equilibrium else []
    if given.mode is not None:
        parts.append(f"bent into vibration mode {given.mode} by {given.amplitude:g} m")
    if given.example is not None:
        parts.append(f"bent into {given.excitation:g} times the example {given.example!r}")
    if any(given.velocity):
        parts.append(f"with the velocity ({', '.join(f'{v:g}' for v in given.velocity)}) m/s")
    if any(given.rotation):
        parts.append(f"turning at ({', '.join(f'{w:g}' for w in given.rotation)}) rad/s")
    return ", ".join(parts) or "at rest, undeformed"


def _cells(nodes: int) -> str:
    return {3: "triangles", 4: "tets", 8: "bricks", 10: "quadratic tets"}[nodes]
