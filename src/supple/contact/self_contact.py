"""Contact of a body with itself, as an option."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from supple.core.parameters import checked, parameter

if TYPE_CHECKING:
    from supple.bodies.elastic_body import ElasticBody
    from supple.contact.self_contact_forces import SelfContactForces


@dataclass(frozen=True, kw_only=True)
class SelfContact:
    """Keeps the surface of a body from passing through itself; the layers of cloth, above all.

    Layers push each other away from ``distance`` on, the harder the nearer they come, and never
    touch. ``stiffness`` decides how close they come under load, and not whether they pass.
    """

    distance: float | None = parameter(
        None,
        "from which layers push each other away; a fifth of the mean edge, or half of what lies "
        "between two pieces as they start where that is less",
        unit="m",
        above=0,
    )
    friction: float = parameter(0.0, "Coulomb's μ between layers", at_least=0)
    stiffness: float | None = parameter(
        None, "pressure that the push is measured in; as stiff as the body", unit="Pa", above=0
    )
    sticking_speed: float = parameter(
        1e-3, "layers that slip slower count as sticking, and creep", unit="m/s", above=0
    )

    def __post_init__(self) -> None:
        checked(self)

    def bind(self, body: ElasticBody) -> SelfContactForces:
        """Self-contact at work on one body."""
        from supple.contact.self_contact_forces import SelfContactForces

        return SelfContactForces(body, self)
