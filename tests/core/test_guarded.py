"""Attributes that nobody reads are refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refused

from supple.core.guarded import Guarded, read_only


class Kettle(Guarded):
    _fixed = {"volume": "buy another"}  # noqa: RUF012

    def __init__(self) -> None:
        self._heat = 0.0

    @property
    def heat(self) -> float:
        """Of the plate."""
        return self._heat

    @heat.setter
    def heat(self, value: float) -> None:
        self._heat = value

    @property
    def volume(self) -> float:
        """In litres."""
        return 1.0

    def boil(self) -> None:
        """Does nothing."""


def test_only_what_is_public_is_offered():
    class Hidden(Kettle):
        @property
        def _valve(self) -> float:
            return 0.0

        @_valve.setter
        def _valve(self, value: float) -> None:
            pass

    refused("what can be set is heat", setattr, Hidden(), "colour", 1)


def test_what_can_be_set_is_set():
    kettle = Kettle()
    kettle.heat = 3.0
    assert kettle.heat == 3.0


def test_what_cannot_says_what_to_do():
    kettle = Kettle()
    refused(
        "volume of a Kettle cannot be set: buy another; what can be set is heat",
        setattr,
        kettle,
        "volume",
        2,
    )
    refused("did you mean heat", setattr, kettle, "haet", 2)
    refused("no lid to set", setattr, kettle, "lid", 2)
    refused("boil of a Kettle cannot be set", setattr, kettle, "boil", print)


def test_a_subclass_may_declare_more():
    class Labelled(Kettle):
        label = ""

    kettle = Labelled()
    kettle.label = "tea"
    assert kettle.label == "tea"
    assert Labelled.label == ""


def test_an_array_that_is_given_out_does_not_change_in_silence():
    given = np.array([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="read-only"):
        read_only(given)[0] = 5.0
    assert given.flags.writeable
