"""Checksums: the same for what is the same, others for what is not, code included."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numba import njit

import supple as sp
from supple.core.checksums import digest
from supple.core.errors import InputError


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Pair:
    one: object
    two: object


DIFFERENT = [
    None, True, 1, 1.0, "1", b"1", "", [], [1], [[1]], [1, 1], {"a": 1}, {"b": 1}, ["12"],
    ["1", "2"],
    np.nextafter(1, 2), np.zeros(2), np.zeros((2, 1)), np.zeros(2, int), np.zeros(2, np.float32),
    np.array([0.0, -0.0]), Colour.RED, Colour.BLUE, Pair(1, 2), Pair(2, 1), Pair(None, [1, 2]),
    Pair, Colour, sp.StVK(young=1, poisson=0.3), sp.NeoHookean(young=1, poisson=0.3),
]  # fmt: skip


def test_things_that_differ_have_other_checksums():
    assert len({digest(thing) for thing in DIFFERENT}) == len(DIFFERENT)
    assert digest(1, 2) != digest([1, 2])


def test_equal_things_have_one():
    for thing in DIFFERENT:
        assert digest(thing) == digest(thing)
    x = np.arange(6.0).reshape(2, 3)
    assert digest(x.T) == digest(np.ascontiguousarray(x.T))
    assert digest((1, 2.5)) == digest([np.int64(1), np.float64(2.5)])
    assert digest(sp.StVK(young=1, poisson=0.3)) == digest(sp.StVK(young=1.0, poisson=0.3))


def test_odd_things_have_none():
    for odd in (lambda: 1, {"a": [{1, 2}]}, np.array([None])):
        with pytest.raises(InputError, match="there is no checksum; leave checkpoint out"):
            digest(odd)


# -- classes -------------------------------------------------------------------------------


def material(formula, slope=1.0):
    """Classes of one name."""

    class Mine(sp.StVK):
        evaluate = staticmethod(formula)
        steep = slope

    return Mine


def scaled(factor):
    return lambda x: factor * x


def calling(other):
    def formula(x):
        def within(y):
            return other(y) + helper(y)

        return within(x)

    return formula


def helper(x):
    return x + 1 if x in {"a", "b", "c"} else x


def itself(n):
    return itself(n - 1) if n else 0


FORMULAS = [
    lambda x: 2 * x, lambda x: 3 * x, lambda x: x + 2, lambda x: np.sin(x), lambda x: np.cos(x),
    njit(lambda x: 4 * x), scaled(5), scaled(6), partial(scaled, 7), calling(scaled(1)),
    calling(scaled(2)), calling(njit(scaled(3))), itself, lambda x, y=1: x + y,
    lambda x, y=2: x + y,
]  # fmt: skip


def test_a_class_counts_by_what_its_functions_do():
    kinds = [material(formula) for formula in FORMULAS]
    assert len({(kind.__module__, kind.__qualname__) for kind in kinds}) == 1
    assert len({digest(kind) for kind in kinds}) == len(FORMULAS)
    assert [digest(kind) for kind in kinds] == [digest(material(each)) for each in FORMULAS]
    made = [kind(young=1, poisson=0.3) for kind in kinds]
    assert len({digest(each) for each in made}) == len(FORMULAS)


def test_a_class_counts_by_its_numbers_and_its_bases():
    assert digest(material(helper)) != digest(material(helper, slope=2.0))

    def child(base):
        class Child(base):
            pass

        return Child

    assert digest(child(material(scaled(1)))) != digest(child(material(scaled(2))))


def test_a_function_that_another_calls_counts(monkeypatch):
    before = digest(material(calling(abs)))
    monkeypatch.setitem(globals(), "helper", itself)
    assert digest(material(calling(abs))) != before


def test_other_processes_find_the_same(tmp_path):
    """Text is hashed otherwise in each of them."""
    script = "import test_checksums as t; print([t.digest(t.material(f)) for f in t.FORMULAS])"
    found = [
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=Path(__file__).parent,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "12"
    ]
    assert found[0] == found[1]
