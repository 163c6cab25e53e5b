"""The vertices of a reduced model that may touch something, in a tree of balls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple._kernels.reduction.contact.shapes import Balls
from supple.core.errors import InputError
from supple.core.types import Bools, Floats, Ints
from supple.mesh.surface import Surface
from supple.reduction.model import ReducedModel

_LEAF = 8  # vertices
_HELD = 1e-4  # of the most that a vertex of the surface moves: what moves less cannot give way
_ROUNDING = 1e-9  # of sizes, by which balls are larger than they need be


@dataclass(frozen=True, eq=False)
class ContactSurface:
    """The skin of a model, or the boundary of its mesh.

    ``vertices`` (m,) are those that can give way, in the order of ``balls``; ``count`` is how many
    the skin or the mesh has, ``edge`` [m] how long its edges are in the mean.
    """

    vertices: Ints
    count: int
    edge: float
    balls: Balls
    of_what: Any
    """The skin or the basis that it was made of."""

    @classmethod
    def of(cls, model: ReducedModel, known: ContactSurface | None = None) -> ContactSurface:
        """That of a model; ``known`` itself, where it is of the same skin or basis."""
        skin = model.skin
        key = model.vectors if skin is None else skin
        known = known or model.__dict__.get("_contact_surface")
        if known is not None and known.of_what is key:
            model.__dict__["_contact_surface"] = known
            return known
        if skin is None:
            vertices = np.unique(model.mesh.boundary_facets())
            places, vectors = model.mesh.vertices, model.vectors
            edge = float(model.mesh.edge_lengths().mean())
        else:
            vertices = np.unique(skin.triangles)
            places, vectors = skin.vertices, skin.vectors
            edge = _edge_of(Surface(skin.vertices, skin.triangles))
        rows = np.ascontiguousarray(vectors[:, vertices].transpose(1, 2, 0))
        moves = _moving(rows)
        if model.floating is not None:  # as its frame sees it, all of which can give way
            moves[:] = True
            places = places - model.floating.centre
        if not moves.any():
            raise InputError("obstacles cannot touch a model none of whose vertices moves")
        vertices, rows = vertices[moves], rows[moves]
        order, balls = _tree(np.ascontiguousarray(places[vertices]), rows)
        made = cls(vertices[order], len(places), edge, balls, key)
        model.__dict__["_contact_surface"] = made
        return made


def _moving(rows: Floats) -> Bools:
    size = np.linalg.norm(rows, axis=(1, 2))
    return np.asarray(size > _HELD * size.max(initial=0.0))


def _edge_of(surface: Surface) -> float:
    corners = surface.vertices[surface.triangles]
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())


def _tree(places: Floats, rows: Floats) -> tuple[Ints, Balls]:
    """The order in which vertices are kept, and balls around parts of it, depth first.

    Each ball is cut in two halves across the longest side of its box.
    """
    order = np.arange(len(places))
    first: list[int] = []
    last: list[int] = []
    open_balls = [(0, len(places), -1)]
    parents: list[int] = []
    while open_balls:
        a, b, parent = open_balls.pop()
        node = len(first)
        first.append(a)
        last.append(b)
        parents.append(parent)
        if b - a > _LEAF:
            part = places[order[a:b]]
            axis = int(np.argmax(np.ptp(part, axis=0)))
            middle = (b - a) // 2
            sorted_part = np.argsort(part[:, axis], kind="stable")
            order[a:b] = order[a:b][sorted_part]
            open_balls += [(a + middle, b, node), (a, a + middle, node)]
    size = np.ones(len(first), dtype=np.int64)
    for node in range(len(first) - 1, 0, -1):
        size[parents[node]] += size[node]
    after = np.arange(len(first)) + size  # preorder
    places, rows = np.ascontiguousarray(places[order]), np.ascontiguousarray(rows[order])
    r = rows.shape[2]
    centre, radius = np.empty((len(first), 3)), np.empty(len(first))
    mean, spread = np.empty((len(first), 3, r)), np.empty((len(first), r))
    for node, (a, b) in enumerate(zip(first, last, strict=True)):
        part, moved = places[a:b], rows[a:b]
        low, high = part.min(axis=0), part.max(axis=0)
        centre[node] = 0.5 * (low + high)
        mean[node] = 0.5 * (moved.min(axis=0) + moved.max(axis=0))
        away = np.linalg.norm(part - centre[node], axis=1).max()
        radius[node] = away * (1 + _ROUNDING)
        apart = np.sqrt(np.square(moved - mean[node]).sum(axis=1).max(axis=0))
        spread[node] = apart * (1 + _ROUNDING)
    ends = np.array(first), np.array(last)
    is_leaf = ends[1] - ends[0] <= _LEAF
    return order, Balls(places, rows, centre, mean, radius, spread, *ends, after, is_leaf)
