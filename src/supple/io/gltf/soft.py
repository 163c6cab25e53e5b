"""Soft motion in a glTF character: morph targets on its skin, and clips that animate them."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.character.runtime.soft_motion import SoftMotion
from supple.character.skeleton.clip import Channel, Interpolation, Track
from supple.core.errors import InputError
from supple.core.files import replacing
from supple.core.types import Floats, Progress
from supple.io.gltf.character import Part, RiggedFile
from supple.io.gltf.document import GltfDocument
from supple.io.gltf.motion import GltfReport
from supple.io.gltf.soft_shapes import SoftShapes, soft_shapes
from supple.io.gltf.source import GltfSource
from supple.io.shapes import interpolated
from supple.mesh.surface import vertex_normals

_JUMP = 1e-5  # [s]: a jump takes as long; closer keys are one and the same to some programs


def write_soft_gltf(
    rigged: RiggedFile,
    path: str | os.PathLike[str],
    motions: Sequence[SoftMotion],
    *,
    tolerance: float | Sequence[float],
    targets: int | None = None,
    normals: bool = True,
    progress: Progress | None = None,
) -> GltfReport:
    """Writes the file of a character once more, with soft motions in its clips.

    Args:
        rigged: The character, as ``read_rigged`` found it.
        path: The file to write, ``*.glb``.
        motions: One for each clip that becomes soft, of all vertices of the skin. Vertices of
            meshes without a skin stay where they are.
        tolerance: How far a vertex may be off [m], in all motions or in each.
        targets: Most morph targets to use, as many as ``tolerance`` needs unless given.
        normals: Let normals turn along, where the file has them.
        progress: Called as ``progress(done, total, what)``.
    """
    document = GltfDocument(rigged.source)
    shapes = soft_shapes(
        rigged.character, motions, tolerance=tolerance, targets=targets, progress=progress
    )
    if len(shapes.shapes):
        _Writer(document, rigged, shapes, normals).write(motions)
    _drop_wrong_roots(document.json)
    data = document.packed()
    with replacing(path) as temporary:
        temporary.write_bytes(data)
    return GltfReport(
        targets=len(shapes.shapes),
        max_error=max(shapes.max_errors, default=0.0),
        bytes=len(data),
        rms_error=shapes.rms_error,
        tolerance=float(np.max(tolerance, initial=0.0)),
        met=shapes.met,
    )


def soft_target_count(source: GltfSource) -> int:
    """How many morph targets of a file hold soft motion, written as above."""
    return sum(_soft_targets(mesh) for mesh in source.json.get("meshes", ()))


class _Writer:
    def __init__(
        self, document: GltfDocument, rigged: RiggedFile, shapes: SoftShapes, normals: bool
    ) -> None:
        self._document, self._rigged, self._shapes = document, rigged, shapes
        self._json = document.json
        self._turns = self._normal_changes() if normals else None
        self._made: dict[tuple[int, ...], list[dict[str, int]]] = {}

    def write(self, motions: Sequence[SoftMotion]) -> None:
        count = len(self._shapes.shapes)
        nodes = self._soft_nodes()
        had = {node: self._add_targets(node) for node in nodes}
        clips = {self._rigged.animations[motion.clip]: k for k, motion in enumerate(motions)}
        for number, animation in enumerate(self._json.get("animations", ())):
            if number not in clips:
                for node in nodes:
                    self._widen(animation, node, had[node], count)
                continue
            k = clips[number]
            times = motions[k].times.astype(np.float32).astype(float)
            if not (np.diff(times) > 0).all():
                raise InputError("frames are too close for glTF's single precision; lower the rate")
            clock = self._document.add_scalars(times, bounded=True)
            output: int | None = None
            for node in nodes:
                if had[node]:
                    self._join(animation, node, had[node], times, self._shapes.weights[k])
                    continue
                if output is None:
                    output = self._document.add_scalars(self._shapes.weights[k].ravel())
                _set_channel(animation, node, clock, output, Interpolation.LINEAR)

    # -- targets -----------------------------------------------------------------------

    def _soft_nodes(self) -> list[int]:
        """Nodes with a skin that softness moves, each with a mesh of its own."""
        found: list[int] = []
        for part in self._rigged.parts:
            mine = self._shapes.shapes[:, part.first : part.first + part.count]
            if part.skinned and part.node not in found and mine.any():
                found.append(part.node)
        meshes = {
            entry.get("mesh") for k, entry in enumerate(self._json["nodes"]) if k not in found
        }
        for node in found:
            entry = self._json["nodes"][node]
            if entry["mesh"] in meshes:
                self._json["meshes"].append(copy.deepcopy(self._json["meshes"][entry["mesh"]]))
                entry["mesh"] = len(self._json["meshes"]) - 1
            meshes.add(entry["mesh"])
        return found

    def _add_targets(self, node: int) -> int:
        """Adds the shapes to the mesh of a node; how many targets there were before."""
        entry = self._json["nodes"][node]
        mesh = self._json["meshes"][entry["mesh"]]
        primitives = mesh["primitives"]
        before = len(primitives[0].get("targets", ()))
        for part in self._rigged.parts:
            if part.node == node:
                primitive = primitives[part.primitive]
                made = self._targets(primitive, part)
                primitive["targets"] = [*primitive.get("targets", ()), *made]
        count = len(self._shapes.shapes)
        still = (mesh.get("weights") or [])[:before]
        mesh["weights"] = [*still, *[0.0] * (before - len(still) + count)]
        if entry.get("weights"):
            entry["weights"] = [*entry["weights"], *[0.0] * count]
        _name_targets(mesh, before, count)
        return before

    def _targets(self, primitive: dict[str, Any], part: Part) -> list[dict[str, int]]:
        """Targets of a primitive; those of a node with the same vertices are the same."""
        attributes = primitive["attributes"]
        shared = ("POSITION", "NORMAL", "JOINTS_0", "WEIGHTS_0")
        key = (part.node, *(attributes.get(name, -1) for name in shared))
        if key not in self._made:
            mine = slice(part.first, part.first + part.count)
            made = [
                {"POSITION": self._document.add_vectors(shape[mine])}
                for shape in self._shapes.shapes
            ]
            if self._turns is not None and "NORMAL" in attributes:
                for entry, turn in zip(made, self._turns, strict=True):
                    entry["NORMAL"] = self._document.add_vectors(turn[mine])
            self._made[key] = made
        return [dict(entry) for entry in self._made[key]]

    def _normal_changes(self) -> Floats:
        """What each shape does to the normals of vertices, (K, n, 3)."""
        skin = self._rigged.character.skin
        given = np.zeros_like(skin.vertices)
        for part in self._rigged.parts:
            mesh = self._json["meshes"][self._json["nodes"][part.node]["mesh"]]
            accessor = mesh["primitives"][part.primitive]["attributes"].get("NORMAL")
            if accessor is not None:
                given[part.first : part.first + part.count] = self._document.array(accessor)
        # Vertices at one place are one where their normals agree, and an edge where they do not.
        both = np.hstack([skin.vertices, given]) + 0.0
        _, first, same = np.unique(both, axis=0, return_index=True, return_inverse=True)
        same = same.ravel()
        triangles, places = same[skin.triangles], skin.vertices[first]
        still = vertex_normals(places, triangles)
        changes = [
            vertex_normals(places + d[first], triangles) - still for d in self._shapes.shapes
        ]
        return np.stack(changes)[:, same]

    # -- weights -----------------------------------------------------------------------

    def _widen(self, animation: dict[str, Any], node: int, before: int, count: int) -> None:
        """Lets a clip that moves the targets of a node leave the new ones alone."""
        sampler = _sampler(animation, node)
        if sampler is None:
            return
        values = self._document.array(sampler["output"]).reshape(-1, before)
        wide = np.pad(values, ((0, 0), (0, count)))
        output = self._document.add_scalars(wide.ravel())
        between = Interpolation(sampler.get("interpolation", "LINEAR"))
        _set_channel(animation, node, sampler["input"], output, between)

    def _join(
        self, animation: dict[str, Any], node: int, before: int, times: Floats, weights: Floats
    ) -> None:
        """Puts weights (T, K) beside those that the node has, at the keys of both."""
        sampler = _sampler(animation, node)
        entry = self._json["nodes"][node]
        if sampler is None:
            still = entry.get("weights") or self._json["meshes"][entry["mesh"]]["weights"]
            own = Track(0, Channel.WEIGHTS, times[:1], np.array([still[:before]]))
        else:
            between = Interpolation(sampler.get("interpolation", "LINEAR"))
            keys, output = (self._document.array(sampler[name]) for name in ("input", "output"))
            own = _weight_track(between, keys, output, before)
        both = _joined(own, times, weights)
        clock = self._document.add_scalars(both.times, bounded=True)
        values = self._document.add_scalars(both.values.ravel())
        _set_channel(animation, node, clock, values, both.between)


def _target_names(mesh: dict[str, Any]) -> list[Any]:
    """Names of the first morph targets of a mesh; extras may be anything."""
    extras = mesh.get("extras")
    names = extras.get("targetNames") if isinstance(extras, dict) else None
    return names if isinstance(names, list) else []


def _name_targets(mesh: dict[str, Any], before: int, count: int) -> None:
    """Names so many targets for soft motion behind those that were there before."""
    if mesh.get("extras") is None:
        mesh["extras"] = {}
    if isinstance(mesh["extras"], dict):  # other extras have no room for names
        names = _target_names(mesh)[:before]
        names += [f"target {k + 1}" for k in range(len(names), before)]
        mesh["extras"]["targetNames"] = [*names, *_soft_names(count)]


def _soft_names(count: int) -> list[str]:
    return [f"soft {k + 1}" for k in range(count)]


def _soft_targets(mesh: dict[str, Any]) -> int:
    """How many targets of a mesh hold soft motion: the last ones, if named by number from 1 on."""
    names = _target_names(mesh)[: len(mesh["primitives"][0].get("targets", ()))]
    return next((k for k in range(len(names), 0, -1) if names[-k:] == _soft_names(k)), 0)


def _drop_wrong_roots(json: dict[str, Any]) -> None:
    """Leaves out the root that a skin names where joints hang elsewhere: no player needs it."""
    nodes = json.get("nodes", ())
    above = {child: k for k, node in enumerate(nodes) for child in node.get("children", ())}
    for skin in json.get("skins", ()):
        for joint in skin["joints"]:
            while joint is not None and joint != skin.get("skeleton", joint):
                joint = above.get(joint)
            if joint is None:
                del skin["skeleton"]


def _sampler(animation: dict[str, Any], node: int) -> dict[str, Any] | None:
    for channel in animation["channels"]:
        target = channel["target"]
        if target.get("node") == node and target["path"] == "weights":
            found: dict[str, Any] = animation["samplers"][channel["sampler"]]
            return found
    return None


def _set_channel(
    animation: dict[str, Any], node: int, times: int, output: int, between: Interpolation
) -> None:
    """Lets the weights of a node go through an accessor's values, instead of what was there."""
    target = {"node": node, "path": "weights"}
    animation["channels"] = [
        channel
        for channel in animation["channels"]
        if (channel["target"].get("node"), channel["target"]["path"]) != (node, "weights")
    ]
    animation["channels"].append({"sampler": len(animation["samplers"]), "target": target})
    sampler = {"input": times, "output": output, "interpolation": between.value}
    animation["samplers"].append(sampler)


def _weight_track(between: Interpolation, keys: Floats, output: Floats, count: int) -> Track:
    """The track of ``count`` weights that a sampler of a file has."""
    inner = (3,) if between is Interpolation.CUBICSPLINE else ()
    values = np.asarray(output, dtype=float).reshape(len(keys), *inner, count)
    return Track(0, Channel.WEIGHTS, keys, values, between)


def _joined(track: Track, times: Floats, weights: Floats) -> Track:
    """A track of weights with those of soft motion, (T, K) at ``times`` (T,) [s], behind its own.

    Its keys are those of both. Its own weights go as they went: cubics stay cubics, in which soft
    motion goes straight from frame to frame, and a step has a key just before each jump.
    """
    keys = np.union1d(times, track.times)
    if track.between is Interpolation.STEP:
        keys = np.union1d(keys, _just_before(track.times[1:][np.diff(track.values, axis=0).any(1)]))
    soft = interpolated(keys, times, weights)
    values = np.hstack([track.at(keys), soft])
    if track.between is not Interpolation.CUBICSPLINE or len(track.times) == 1:
        return Track(0, Channel.WEIGHTS, keys, values)
    straight = np.diff(soft, axis=0) / np.diff(keys)[:, None]
    begins, ends = (np.hstack([slopes, straight]) for slopes in _slopes(track, keys))
    cubics = np.stack([np.zeros_like(values), values, np.zeros_like(values)], axis=1)
    cubics[:-1, 2], cubics[1:, 0] = begins, ends
    return Track(0, Channel.WEIGHTS, keys, cubics, Interpolation.CUBICSPLINE)


def _just_before(times: Floats) -> Floats:
    """Earlier times [s], as glTF has them: in single precision."""
    single = times.astype(np.float32)
    earlier = np.minimum(single - np.float32(_JUMP), np.nextafter(single, np.float32(-np.inf)))
    return np.asarray(earlier, dtype=float)


def _slopes(track: Track, keys: Floats) -> tuple[Floats, Floats]:
    """Slopes [1/s] of cubics, (T − 1, d), at both ends of each stretch between ``keys`` (T,) [s].

    The derivative of glTF 2.0, appendix C.5; before and after the track there is none.
    """
    t, values = track.times, track.values
    start, end = keys[:-1], keys[1:]
    k = np.clip(np.searchsorted(t, start, side="right") - 1, 0, len(t) - 2)
    span = (t[k + 1] - t[k])[:, None]
    v0, b0 = values[k, 1], values[k, 2]
    a1, v1 = values[k + 1, 0], values[k + 1, 1]
    within = ((start >= t[0]) & (end <= t[-1]))[:, None]

    def at(times: Floats) -> Floats:
        s = (times - t[k])[:, None] / span
        slopes = 6 * (s**2 - s) * (v0 - v1) / span
        slopes += (3 * s**2 - 4 * s + 1) * b0 + (3 * s**2 - 2 * s) * a1
        return np.where(within, slopes, 0.0)

    return at(start), at(end)
