"""Designs met anew for a body that has changed."""

from __future__ import annotations

from typing import Any

from supple.bodies.solid import Body
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.core.checks import instance
from supple.damping import ExampleDamping
from supple.design.inverse import design_damping
from supple.design.kept_wishes import wishes_of
from supple.design.report import Fit
from supple.reduction import ReducedModel


def redesign(
    designed: Fit | ExampleDamping,
    body: Body | ReducedModel | PoseSpaceModel,
    **options: Any,
) -> Fit:
    """Meet the wishes of a designed damping anew, with a body or a model that has changed.

    ``designed`` is what ``design_damping`` found, or the damping itself, out of a file too. The
    ``options`` are those of ``design_damping``; what is not given is as it was.
    """
    instance("designed", designed, (Fit, ExampleDamping), "design_damping(...)")
    damping = designed.damping if isinstance(designed, Fit) else designed
    targets, kept = wishes_of(damping)
    return design_damping(body, damping, targets, **(kept | options))
