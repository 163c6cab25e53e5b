"""What a scene is about, as names and values in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from supple.bodies.cloth import Cloth
from supple.bodies.elastic_body import ElasticBody
from supple.bodies.rigid import RigidBody
from supple.bodies.solid import Body
from supple.bodies.springs import SpringNetwork
from supple.contact import Box, Capsule, Cone, Cylinder, HeightField, Obstacle, Plane, Sphere, Torus
from supple.contact.attachments import Attachment
from supple.core.parameters import describe
from supple.damping import (
    Caughey,
    Damping,
    ExampleDamping,
    Measure,
    MomentumConserving,
    Rayleigh,
)
from supple.io.scene.base import AnyScene
from supple.io.scene.design import Initial
from supple.io.scene.scene import Scene, WorldScene, YarnScene
from supple.yarns import WovenBody, Yarn

Facts = list[tuple[str, str]]
CELLS = {3: "triangles", 4: "tets", 8: "bricks", 10: "quadratic tets"}
"""Cells by how many vertices each has."""


def facts(scene: AnyScene) -> Facts:
    """What a scene is about, as names and values."""
    if isinstance(scene, YarnScene):
        return _woven(scene)
    if isinstance(scene, WorldScene):
        return _world(scene)
    assert isinstance(scene, Scene)
    return _of_body(scene)


def _of_body(scene: Scene) -> Facts:
    body, mesh = scene.body, scene.body.mesh
    size = np.ptp(mesh.bounds, axis=0)
    listed = [
        ("Mesh", f"{mesh.n_vertices:,} vertices, {mesh.n_cells:,} {CELLS[mesh.cell_nodes]}"),
        ("Size", f"{size[0]:.3g} × {size[1]:.3g} × {size[2]:.3g} m, {body.total_mass:.3g} kg"),
        *(_materials(body) if isinstance(body, Body) else _sheet(body)),
    ]
    held = int((~body.free.all(axis=1)).sum())
    led = sum(np.size(support.vertices) for support in body.supports)
    listed.append(("Held", _held(held, led, "vertices") or "nothing: the body is free"))
    listed += _gravity(scene)
    if scene.loads:
        listed.append(("Loads", f"{len(scene.loads)}"))
    listed += _obstacles(scene)
    if scene.self_contact is not None:
        listed.append(("With itself", options_text(scene.self_contact)))
    listed.append(("Starts", _start(scene.initial)))
    listed.append(("Damping", damping_text(scene.dampings)))
    return [*listed, *_stepping(scene)]


def _stepping(scene: Scene | WorldScene) -> Facts:
    name = type(scene.integrator).__name__
    return [
        ("Solver", options_text(scene.solver)),
        ("Time", f"{scene.duration:g} s in steps of {1e3 * scene.dt:.4g} ms, {name}"),
    ]


def _world(scene: WorldScene) -> Facts:
    group = scene.group
    listed = [("Bodies", f"{len(scene.bodies)}, {group.total_mass:.3g} kg")]
    for name, body in scene.bodies.items():
        damping = scene.dampings[name]
        own = damping if isinstance(damping, tuple) else () if damping is None else (damping,)
        parts = [f"{_kind(body)}, {body.total_mass:.3g} kg"]
        if isinstance(body, Body) and not isinstance(body, RigidBody):
            parts += [text for _, text in _materials(body)]
        elif isinstance(body, Cloth):
            parts += [text for _, text in _sheet(body)]
        elif isinstance(body, WovenBody):
            threads = {"warp": body.cloth.warp, "weft": body.cloth.weft}
            parts += [f"{family}: {_yarn(yarn)}" for family, yarn in threads.items()]
        vertices = "vertices"
        free = body.free
        if isinstance(body, WovenBody):
            vertices, free = "crossings", free[: body.mesh.crossings]
        held = int((~free.all(axis=1)).sum())
        led = sum(np.size(support.vertices) for support in body.supports)
        if isinstance(body, RigidBody):
            parts += ["led along a path"] if led else ["held"] if held else []
        elif held:
            parts.append(f"held: {_held(held, led, vertices)}")
        if scene.loads[name]:
            parts.append(f"loads: {len(scene.loads[name])}")
        if any((*scene.initial[name].velocity, *scene.initial[name].rotation)):
            parts.append(f"starts {_start(scene.initial[name])}")
        parts.append(f"damping: {damping_text(own)}")
        listed.append((name, "; ".join(parts)))
    listed += [("Attached", _attachment(each, scene)) for each in scene.attachments]
    contact = "go through each other"
    if scene.self_contact:
        contact = options_text(scene.self_contact)
    return [
        *listed,
        ("With each other", contact),
        *_gravity(scene),
        *_obstacles(scene),
        *_stepping(scene),
    ]


def _kind(body: ElasticBody) -> str:
    mesh = body.mesh
    if isinstance(body, RigidBody):
        return f"rigid, {body.mesh.skin.n_triangles:,} triangles"
    if isinstance(body, SpringNetwork):
        return f"{mesh.n_cells:,} springs between {mesh.n_vertices:,} vertices"
    if isinstance(body, WovenBody):
        return f"{body.mesh.crossings:,} crossings of {body.mesh.yarns.n_yarns:,} yarns"
    return f"{mesh.n_vertices:,} vertices, {mesh.n_cells:,} {CELLS[mesh.cell_nodes]}"


def _attachment(given: Attachment, scene: WorldScene) -> str:
    names = {id(body): name for name, body in scene.bodies.items()}
    body, other = getattr(given, "body", None), getattr(given, "other", None)
    ends = f"{names[id(body)]} to {'a place' if other is None else names[id(other)]}"
    count = len(given.ties())
    return f"{type(given).__name__.lower()}, {ends}" + (f", {count} vertices" if count > 1 else "")


def _materials(body: Body) -> Facts:
    return [
        (
            f"Material, {name}" if name else "Material",
            f"{type(material).__name__}: Young's modulus "
            f"{spread(np.asarray(material.young) / 1e3)}\u00a0kPa, Poisson ratio "
            f"{spread(material.poisson)}, density {spread(material.density)}\u00a0kg/m³",
        )
        for name, material in _by_region(body.material)
    ]


def _woven(scene: YarnScene) -> Facts:
    cloth, mesh = scene.cloth, scene.mesh
    warps, wefts = (len(yarns) for yarns in mesh.yarns)
    size = np.ptp(mesh.bounds, axis=0)
    led = sum(np.size(support.vertices) for support in scene.supports)
    still = int(scene.fixed.any(axis=1).sum())
    damping = "none but that of the steps"
    if scene.damping is not None:
        damping = options_text(scene.damping)
    return [
        ("Cloth", f"{warps:,} warps, {wefts:,} wefts, {mesh.n_vertices:,} crossings"),
        ("Size", f"{' × '.join(f'{1e3 * s:.3g}' for s in size)} mm, {cloth.total_mass:.3g} kg"),
        ("Warp", _yarn(cloth.warp)),
        ("Weft", _yarn(cloth.weft)),
        ("Between yarns", f"shear {cloth.shear:.3g} N m, friction {cloth.friction:.3g}"),
        ("Held", _held(led + still, led, "crossings") or "nothing: it is free"),
        *_gravity(scene),
        *_obstacles(scene),
        ("Damping", damping),
        ("Time", f"{scene.duration:g} s in steps of {1e3 * scene.dt:.4g} ms, or shorter"),
    ]


def _held(held: int, led: int, what: str) -> str:
    moving = f", {'' if led == held else f'{led:,} of them '}led along a path" if led else ""
    return f"{held:,} {what}{moving}" if held else ""


def _gravity(scene: AnyScene) -> Facts:
    if not any(scene.gravity):
        return []
    return [("Gravity", _value(scene.gravity, "m/s²"))]


def _obstacles(scene: AnyScene) -> Facts:
    alone = len(scene.obstacles) == 1
    return [
        ("Obstacle" if alone else f"Obstacle {i + 1}", _obstacle(obstacle))
        for i, obstacle in enumerate(scene.obstacles)
    ]


def _start(given: Initial) -> str:
    parts = ["at rest under its loads"] if given.equilibrium else []
    if given.mode is not None:
        parts.append(f"bent into vibration mode {given.mode} by {given.amplitude:g} m")
    if given.example is not None:
        parts.append(f"bent into {given.excitation:g} times the example {given.example!r}")
    if any(given.velocity):
        parts.append(f"with the velocity {_value(given.velocity, 'm/s')}")
    if any(given.rotation):
        parts.append(f"turning at {_value(given.rotation, 'rad/s')}")
    return ", ".join(parts) or "at rest, undeformed"


def _by_region(given: Any) -> Iterable[tuple[str, Any]]:
    """Materials by the names of their regions, none for one that is everywhere."""
    return given.items() if isinstance(given, Mapping) else (("", given),)


def damping_text(dampings: Sequence[Damping]) -> str:
    """The damping of a scene in words: any number that add up."""
    return "; ".join(map(_with_examples, dampings)) or "none but the integrator's own"


def _with_examples(given: Damping) -> str:
    if not isinstance(given, ExampleDamping):
        return base_text(given)
    parts = ["; ".join(map(base_text, given.bases))]
    for i, example in enumerate(given.examples):
        rate = " by rate" if example.measure is Measure.RATE else ""
        parts.append(f"{example.name or f'example {i + 1}'}: {example.curve}{rate}")
    if given.overall is not None:
        parts.append(f"all of it by the displacement [m]: {given.overall}")
    if given.about is not None:
        parts.append("about the equilibrium")
    return "; ".join(parts)


def base_text(given: Damping) -> str:
    """A damping without examples in words."""
    if isinstance(given, Rayleigh):
        return (
            f"Rayleigh: mass {_one(given.mass, '1/s')}, stiffness {_one(given.stiffness, 's')}, "
            f"{given.at.name.lower()} stiffness"
        )
    if isinstance(given, Caughey):
        return f"Caughey: {', '.join(f'{alpha:.3g}' for alpha in given.coefficients)}"
    if isinstance(given, MomentumConserving):
        inner = "; ".join(map(base_text, given.models))
        return f"{inner}, conserving momentum by {_plain(given.by.name)}"
    return options_text(given)


def options_text(given: Any) -> str:
    """The name of a thing, and those of its options that are not as by default."""
    kind: type = type(given)
    units = {each.name: each.unit for each in describe(kind)}
    parts = [
        f"{_plain(f.name)} {_value(getattr(given, f.name), units.get(f.name, ''))}"
        for f in dataclasses.fields(given)
        if not _is_default(f, getattr(given, f.name))
    ]
    return f"{type(given).__name__}: {', '.join(parts)}" if parts else type(given).__name__


def _obstacle(given: Obstacle) -> str:
    words = {"MeshObstacle": "mesh", "HeightField": "height field", "AnimatedMesh": "animated mesh"}
    name = type(given).__name__
    parts = [words.get(name, name.lower()), _place(given), f"friction {given.friction:.4g}"]
    if given.vertex_restitution is not None:
        parts.append(f"restitution of vertices {given.vertex_restitution:.4g}")
    if given.motion is not None:
        parts.append("moving")
    return ", ".join(part for part in parts if part)


def _place(given: Obstacle) -> str:
    if isinstance(given, Plane):
        return f"normal {_value(given.normal, '')}, offset {given.offset:.4g} m"
    if isinstance(given, Sphere):
        kind = "bodies inside, " if given.hollow else ""
        return f"{kind}radius {given.radius:.4g} m around {_value(given.centre, 'm')}"
    if isinstance(given, Box):
        return f"{_value(given.size, 'm')} around {_value(given.centre, 'm')}"
    if isinstance(given, Capsule):
        ends = f"{_value(given.start, 'm')} to {_value(given.end, 'm')}"
        return f"radius {given.radius:.4g} m from {ends}"
    if isinstance(given, Cylinder | Cone | Torus):
        return ("bodies inside, " if given.hollow else "") + _round(given)
    if isinstance(given, HeightField):
        return " × ".join(map(str, np.shape(given.heights))) + " heights"
    return f"{given.surface().n_triangles:,} triangles"


def _round(given: Cylinder | Cone | Torus) -> str:
    if isinstance(given, Torus):
        ring = f"radius {given.radius:.4g} m around {_value(given.centre, 'm')}"
        return f"{ring}, tube {given.tube:.4g} m"
    if isinstance(given, Cone):
        foot, tip = _value(given.base, "m"), _value(given.apex, "m")
        return f"radius {given.radius:.4g} m around {foot}, up to {tip}"
    ends = f"{_value(given.start, 'm')} to {_value(given.end, 'm')}"
    return f"radius {given.radius:.4g} m from {ends}"


def _sheet(cloth: Cloth) -> Facts:
    listed = [
        (f"Material, {name}" if name else "Material", options_text(material))
        for name, material in _by_region(cloth.material)
    ]
    if cloth.bending is not None:
        listed.append(("Bending", options_text(cloth.bending)))
    if cloth.strain_limit is not None:
        listed.append(("Strain limit", options_text(cloth.strain_limit)))
    return listed


def _yarn(yarn: Yarn) -> str:
    return (
        f"radius {1e3 * yarn.radius:.3g} mm, {1e6 * yarn.linear_density:.3g} mg/m, "
        f"stretch {yarn.stretch:.3g} N, bending {yarn.bending:.3g} N m²"
    )


def spread(value: object) -> str:
    """A number, or the range of several."""
    array = np.asarray(value, dtype=float)
    low, high = float(array.min()), float(array.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _value(value: Any, unit: str) -> str:
    if isinstance(value, Damping):
        return f"({base_text(value)})"
    if isinstance(value, Mapping) or (np.ndim(value) == 0 and isinstance(value, int | float)):
        return _one(value, unit).strip()
    if hasattr(value, "name"):  # of an enum
        return _plain(value.name)
    if isinstance(value, tuple | list | np.ndarray) and np.shape(value) == (3,):
        return f"({', '.join(f'{x:g}' for x in np.asarray(value))}) {unit}".strip()
    return str(value)


def _one(value: Any, unit: str) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{v:.3g} {unit}".strip() + f" in {k}" for k, v in value.items())
    return f"{spread(value)} {unit}"


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    if not field.init or value is None:
        return True
    default: Any = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    return bool(np.array_equal(value, default)) if np.ndim(value) else bool(value == default)


def _plain(name: str) -> str:
    return name.lower().replace("_", " ")
