"""How well the models of two poses stand for a body half-way between them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from supple.bodies.solid import Body
from supple.character.training.contact import PoseContact, self_contact
from supple.character.training.modes import ConstrainedRest
from supple.character.training.training import PoseTraining
from supple.core.errors import InputError
from supple.core.types import Floats

_MOST, _COLUMNS = 5, 6  # frequencies of a region, and columns of its basis for each of them
_LARGEST_GOOD = 0.2  # of a frequency: what is further off is warned of
_Contact = bool | Sequence[PoseContact | None]


class BetweenPosesWarning(UserWarning):
    """Poses that are so far apart that the model is much too stiff half-way."""


def midpoint_frequency_error(
    training: PoseTraining, regions: Floats | None, contact: _Contact
) -> list[float | None]:
    """By what share the slowest vibrations are too fast, half-way from each pose to its parent.

    The mixed model is compared with the own modes of the body there, region by region (d, n), and
    the largest share counts. None stands where those are not known: where contact was given for a
    pose, or cannot be kept. What cubature adds is measured by itself.
    """
    parents = training.bases.alignment.parents
    found: list[float | None] = []
    for child, parent in enumerate(parents):
        if parent < 0:
            continue
        try:
            found.append(_excess(training, regions, contact, int(parent), child))
        except InputError:
            found.append(None)
        if training.progress is not None:
            training.progress(child, len(parents) - 1, "looking between poses")
    return found


def warn_of(excess: Sequence[float | None], parents: Sequence[int]) -> None:
    """Tells of the worst place, where it is bad, and how to mend it."""
    shares = [share or 0.0 for share in excess]
    worst = max(shares, default=0.0)
    if worst > _LARGEST_GOOD:
        child = shares.index(worst) + 1  # the first pose has no parent
        warnings.warn(
            f"half-way between poses {parents[child]} and {child} the slowest vibrations are "
            f"{100 * worst:.3g} % too fast; give a pose between them (poses=), or a larger size=",
            BetweenPosesWarning,
            stacklevel=3,
        )


def _excess(
    training: PoseTraining, regions: Floats | None, contact: _Contact, parent: int, child: int
) -> float:
    poses, bases = training.poses, training.bases
    pose = training.tet_rig.rig.between(poses[parent], poses[child], 0.5)
    body = _as_heavy(training.body_at(pose), training.body)
    touching = _contact(contact, (parent, child), body, training.body)
    mixed = training.in_the_world(bases.shapes(training.weights(pose)), pose)
    worst = 0.0
    for region in np.unique(bases.regions):
        columns = mixed[bases.regions == region]
        count = max(1, min(_MOST, len(columns) // _COLUMNS))
        rest = ConstrainedRest(body, None if regions is None else regions[region], touching)
        # twice as many: in regions, what is compared is not what these modes are the slowest of
        own = rest.modes(min(2 * count, rest.size))[0].shapes
        slowest = [_squares(training, body, shapes)[:count] for shapes in (columns, own)]
        least = min(map(len, slowest))
        worst = max(worst, float((np.sqrt(slowest[0][:least] / slowest[1][:least]) - 1).max()))
    return worst


def _squares(training: PoseTraining, body: Body, shapes: Floats) -> Floats:
    """ω² [1/s²] of the body in the span of shapes (k, n, 3), ascending, (k,)."""
    from scipy.linalg import eigvalsh  # slow to import

    return np.asarray(eigvalsh(*training.reduced(body, shapes)))


def _as_heavy(body: Body, neutral: Body) -> Body:
    """A body in a pose whose cells have the masses that they have in the neutral one."""
    density = neutral.density * neutral.mesh.volumes / body.mesh.volumes
    return replace(body, material=replace(body.parts[0].material, density=density))


def _contact(
    given: _Contact, pair: tuple[int, int], body: Body, neutral: Body
) -> PoseContact | None:
    """What touches half-way, found as it is in the poses."""
    if isinstance(given, bool):
        return self_contact(body.mesh, neutral.mesh) if given else None
    if any(given[k] is not None for k in pair):
        raise InputError("what touches between poses whose contact was given is not known")
    return None
