"""What is measured half-way between poses, and warned of."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest
from tests.character.guide_beam import ENDS, MESH, RIGHT, too_fast, training

from supple.character.training.compliance_alignment import compliance_aligned
from supple.character.training.contact import PoseContact
from supple.character.training.midpoint import (
    BetweenPosesWarning,
    midpoint_frequency_error,
    warn_of,
)
from supple.character.training.training import PoseTraining
from supple.contact import Plane


def excess(of: PoseTraining) -> list[float | None]:
    return midpoint_frequency_error(of, None, False)


def test_excess_is_that_of_the_slowest_frequencies() -> None:
    """12 columns stand for two frequencies."""
    of = training(RIGHT)
    assert excess(of) == pytest.approx([too_fast(of, of.bases, RIGHT / 2, 2)], rel=1e-6)
    assert excess(of)[0] > 0.2
    better = replace(of, bases=compliance_aligned(of))
    assert excess(better) == pytest.approx([too_fast(better, better.bases, RIGHT / 2, 2)], rel=1e-6)
    assert excess(better)[0] < 0.06


def test_excess_falls_with_a_pose_between() -> None:
    far = [3.0]
    one, two = (
        replace(of, bases=compliance_aligned(of)) for of in (training(*far), training(1.5, *far))
    )
    assert excess(one)[0] > 0.5
    assert len(excess(two)) == 2
    assert max(excess(two)) < 0.2


def test_excess_vanishes_where_poses_hardly_differ() -> None:
    """Regions are compared with modes of their own, not with those of the whole body."""
    for regions in (None, ENDS):
        of = training(0.02, local=regions is not None)
        assert abs(midpoint_frequency_error(of, regions, False)[0]) < 0.01


def test_excess_is_not_told_where_contact_was_given() -> None:
    touching = PoseContact.with_obstacle(MESH, Plane(normal=(0, 0, 1), offset=-0.08))
    assert midpoint_frequency_error(training(RIGHT), None, [None, touching]) == [None]
    assert midpoint_frequency_error(training(RIGHT), None, [None, None]) == excess(training(RIGHT))


def test_warning_names_the_worst_pair_of_poses() -> None:
    text = r"between poses 2 and 3 .* 31 % too fast; give a pose between"
    with pytest.warns(BetweenPosesWarning, match=text):
        warn_of([0.25, None, 0.31], [-1, 0, 0, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of([0.19, None], [-1, 0, 0])
        warn_of([], [-1])
