"""What holds bodies to each other: pins, glue and springs between points that they carry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.elastic_body import ElasticBody
from supple.bodies.group import BodyGroup
from supple.contact.obstacles.triangle_tree import TriangleTree
from supple.core.checks import number, vector
from supple.core.errors import InputError
from supple.core.parameters import Kind, described, parameter
from supple.core.types import Floats
from supple.mesh.group import is_solid, own_surface
from supple.mesh.points import CarriedPoint

Where = int | ArrayLike
"""A vertex, of a rigid body one of its skin, or a place at rest (3,) [m]."""
Path = Callable[[float], ArrayLike]

BODY = Kind("a body; in a scene, its name")
WHERE = Kind("a vertex, or three numbers")
PLACE_OR_PATH = Kind("a vertex, three numbers, or a function of time; in a scene, `moves`")
_FIRMNESS = 30.0  # times the stiffness that a body has at the point


@dataclass(frozen=True, eq=False)
class Anchor:
    """A point that a body carries; ``stiffness`` [N/m] is what the body has there."""

    point: CarriedPoint
    stiffness: float

    @property
    def rest(self) -> Floats:
        """Where it is at rest [m], (3,)."""
        return self.point.rest

    @classmethod
    def of(cls, body: ElasticBody, where: Where, name: str) -> Anchor:
        """The vertex or place of a body."""
        if isinstance(where, int | np.integer):
            count = body.points.count
            if not 0 <= where < count:
                raise InputError(
                    f"{name}={where}: there is no such vertex; {body!r} has 0 to {count - 1}"
                )
            point = body.points.one(int(where))
        else:
            point = body.point_at(vector(name, where))
        return cls(point, body.point_stiffness(point))


@dataclass(frozen=True, eq=False)
class Still:
    """The path of a place that stays, (3,) [m]."""

    place: Floats

    def __call__(self, time: float) -> Floats:
        return self.place


@dataclass(frozen=True, eq=False)
class Tie:
    """One spring: ½ k (|x_a − x_b| − L)², x_b a point of a body or one in space."""

    body: ElasticBody
    anchor: Anchor
    other: ElasticBody | None
    target: Anchor | Path
    stiffness: float
    length: float = 0.0


class Attachment(ABC):
    """What holds bodies of a simulation to each other, or to a point in space."""

    @abstractmethod
    def ties(self) -> Sequence[Tie]:
        """The springs that it is made of."""

    def between(self, others: Mapping[ElasticBody, ElasticBody]) -> Attachment:
        """The same attachment, of other bodies in place of those that it holds now."""
        if not is_dataclass(self):
            return self
        held = {each.name: getattr(self, each.name) for each in fields(self)}
        bodies = {k: v for k, v in held.items() if isinstance(v, ElasticBody) and v in others}
        return replace(self, **{name: others[body] for name, body in bodies.items()})

    def _bodies(self, *bodies: object) -> None:
        for body in bodies:
            if not isinstance(body, ElasticBody) or isinstance(body, BodyGroup):
                raise InputError(
                    f"a {type(self).__name__} holds a body, such as a Body or a RigidBody; got a "
                    f"{type(body).__name__}"
                )


@dataclass(frozen=True, eq=False)
class Pin(Attachment):
    """Holds a point of a body to one of another body, or to one in space.

    ``at`` is a vertex or a place at rest (3,) [m]; ``point`` one of the ``other`` body or, without
    one, a place in space (3,) [m] or a function of time [s] that gives it; None is where ``at`` is
    at rest. ``stiffness`` [N/m] is thirty times that of the bodies unless given.
    """

    body: ElasticBody = field(metadata=described("that is held", kind=BODY))
    at: Where = field(metadata=described("where it is held, at rest", kind=WHERE, unit="m"))
    other: ElasticBody | None = parameter(None, "to which it is held; space if none", kind=BODY)
    point: Where | Path | None = parameter(
        None, "of the other or of space; where `at` is if not given", kind=PLACE_OR_PATH, unit="m"
    )
    stiffness: float | None = field(
        default=None,
        kw_only=True,
        metadata=described("thirty times that of the bodies if not given", unit="N/m", above=0),
    )

    def __post_init__(self) -> None:
        self._bodies(self.body, *([] if self.other is None else [self.other]))
        if self.stiffness is not None:
            number("stiffness", self.stiffness, above=0, unit="N/m")
        self.ties()

    def ties(self) -> Sequence[Tie]:
        anchor = Anchor.of(self.body, self.at, "at")
        point, firm = self.point, [anchor.stiffness]
        target: Anchor | Path
        if self.other is not None:
            if callable(point):
                raise InputError("point is a function, but it is that of a body; give a place")
            target = Anchor.of(self.other, anchor.rest if point is None else point, "point")
            firm.append(target.stiffness)
        elif callable(point):
            target = point
        else:
            place = anchor.rest if point is None else vector("point", point)
            target = Still(place)
        k = self.stiffness or _FIRMNESS * min(firm)
        return [Tie(self.body, anchor, self.other, target, k)]


@dataclass(frozen=True, eq=False)
class Spring(Attachment):
    """A spring between points of two bodies, or of one and a place in space, as of ``Pin``.

    It pulls and pushes with ``stiffness`` [N/m] times what it is longer than ``length`` [m], which
    is its length at rest unless given.
    """

    body: ElasticBody = field(metadata=described("that is pulled", kind=BODY))
    at: Where = field(metadata=described("where it is pulled, at rest", kind=WHERE, unit="m"))
    other: ElasticBody | None = parameter(None, "at the other end; space if none", kind=BODY)
    point: Where | None = parameter(None, "of the other or of space", kind=WHERE, unit="m")
    stiffness: float = field(
        kw_only=True, metadata=described("force for each metre", unit="N/m", above=0)
    )
    length: float | None = field(
        default=None,
        kw_only=True,
        metadata=described("when it pulls nobody; as it starts if not given", unit="m", at_least=0),
    )

    def __post_init__(self) -> None:
        number("stiffness", self.stiffness, above=0, unit="N/m")
        if self.length is not None:
            number("length", self.length, at_least=0, unit="m")
        self.ties()

    def ties(self) -> Sequence[Tie]:
        pin = Pin(self.body, self.at, self.other, self.point, stiffness=self.stiffness)
        tie = pin.ties()[0]
        end = tie.target.rest if isinstance(tie.target, Anchor) else vector("point", tie.target(0))
        length = self.length
        if length is None:
            length = float(np.linalg.norm(tie.anchor.rest - end))
        return [Tie(self.body, tie.anchor, self.other, tie.target, self.stiffness, length)]


@dataclass(frozen=True, eq=False)
class Glue(Attachment):
    """Holds the surface of a body to that of another, a solid or a rigid one, as they lie at rest.

    Each vertex of the first that is no farther than ``within`` [m] from the second follows the
    point of it that is there, also across a gap. ``stiffness`` [N/m] is that at each vertex.
    """

    body: ElasticBody = field(metadata=described("whose surface is glued", kind=BODY))
    other: ElasticBody = field(metadata=described("a solid or a rigid one", kind=BODY))
    within: float = field(
        metadata=described("how far vertices that are glued may be from it", unit="m", above=0)
    )
    stiffness: float | None = field(
        default=None,
        kw_only=True,
        metadata=described(
            "at each vertex; thirty times that of the bodies if not given", unit="N/m", above=0
        ),
    )

    def __post_init__(self) -> None:
        self._bodies(self.body, self.other)
        number("within", self.within, above=0, unit="m")
        if self.stiffness is not None:
            number("stiffness", self.stiffness, above=0, unit="N/m")
        if not is_solid(self.other.mesh):
            raise InputError(
                f"glue needs something solid to hold on to, not a {type(self.other).__name__}; "
                "give the solid second, as in Glue(cloth, solid, within=1e-3)"
            )
        self.ties()

    def ties(self) -> Sequence[Tie]:
        surface = own_surface(self.other.mesh)
        assert surface is not None
        chosen = np.unique(self.body.contact_vertices)
        places = self.body.points.rest[chosen]
        apart = np.abs(TriangleTree.of(surface).distances(places, np.inf)[0])
        near = chosen[apart <= self.within]
        if not len(near):
            raise InputError(
                f"within={self.within:g} m: the bodies are {apart.min():.3g} m apart, so that no "
                "vertex is glued; give more, or move them together"
            )
        found = []
        for vertex in near:
            anchor = Anchor.of(self.body, int(vertex), "vertex")
            target = Anchor.of(self.other, anchor.rest, "point")
            k = self.stiffness or _FIRMNESS * min(anchor.stiffness, target.stiffness)
            found.append(Tie(self.body, anchor, self.other, target, k))
        return found
