"""Contact of a body with itself, as an option."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from supple.core.checks import number

if TYPE_CHECKING:
    from supple.bodies.elastic_body import ElasticBody
    from supple.contact.self_contact_forces import SelfContactForces


@dataclass(frozen=True, kw_only=True)
class SelfContact:
    """Keeps the surface of a body from passing through itself; the layers of cloth, above all.

    Layers push each other away from ``distance`` [m] on, the harder the nearer they come, and never
    touch. None makes that a fifth of the mean edge, or half of the least distance in the mesh where
    that is less. ``friction`` is Coulomb's μ between layers; those that slip slower than
    ``sticking_speed`` [m/s] count as sticking, and creep. ``stiffness`` [Pa] is the pressure that
    the push is measured in; None takes it from the stiffness of the body. It decides how close
    layers come under load, and not whether they pass.
    """

    distance: float | None = None
    friction: float = 0.0
    stiffness: float | None = None
    sticking_speed: float = 1e-3

    def __post_init__(self) -> None:
        for name, unit in (("distance", "m"), ("stiffness", "Pa")):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, number(name, given, above=0, unit=unit))
        object.__setattr__(self, "friction", number("friction", self.friction, at_least=0))
        speed = number("sticking_speed", self.sticking_speed, above=0, unit="m/s")
        object.__setattr__(self, "sticking_speed", speed)

    def bind(self, body: ElasticBody) -> SelfContactForces:
        """Self-contact at work on one body."""
        from supple.contact.self_contact_forces import SelfContactForces

        return SelfContactForces(body, self)
