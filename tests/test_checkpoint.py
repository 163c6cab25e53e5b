"""Finished parts of long work: taken from a folder where they were made of the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import pytest

import supple as sp
from supple.checkpoint import Checkpoint, digest
from supple.errors import InputError


class Worker:
    """Makes a part, and counts how often it had to."""

    def __init__(self, folder):
        self.folder, self.made = folder, 0

    def __call__(self, made_of, name="sums"):
        parts = Checkpoint(self.folder)
        found = parts.part(name, made_of, self._make, self._pack, lambda about, x: (about, x["x"]))
        assert parts.seconds[name] >= 0
        return found

    def _make(self):
        self.made += 1
        return {"é": [0.1, None]}, np.arange(3) / 3

    def _pack(self, found):
        return found[0], {"x": found[1]}


def same(one, two):
    assert one[0] == two[0]
    np.testing.assert_array_equal(one[1], two[1])
    assert two[1].flags.writeable


def test_a_part_is_made_once(tmp_path):
    work = Worker(tmp_path / "parts")
    first = work({"a": 1})
    same(first, work({"a": 1}))
    assert work.made == 1
    work({"a": 2})
    work({"a": 2}, "other: part?")
    assert work.made == 3
    work({"a": 1})  # one file for each part: the last counts
    assert work.made == 4


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    work = Worker(None)
    work(1)
    work(1)
    assert work.made == 2
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("how", ["cut", "changed", "emptied"])
def test_a_damaged_part_is_made_again(tmp_path, how):
    work = Worker(tmp_path)
    first = work(1)
    [path] = tmp_path.iterdir()
    data = bytearray(path.read_bytes())
    data[-9] ^= 1
    path.write_bytes({"cut": data[:-8], "changed": data, "emptied": b""}[how])
    same(first, work(1))
    assert work.made == 2
    work(1)
    assert work.made == 2


def test_another_version_makes_its_own(tmp_path, monkeypatch):
    work = Worker(tmp_path)
    work(1)
    monkeypatch.setattr(sp, "__version__", "later")
    work(1)
    assert work.made == 2


def test_what_fails_leaves_no_part(tmp_path):
    parts = Checkpoint(tmp_path / "parts")

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parts.part("sums", 1, stop, lambda _: ({}, {}), lambda about, x: None)
    assert not (tmp_path / "parts").exists()


def test_drop_takes_nothing_else(tmp_path):
    folder = tmp_path / "parts"
    Worker(folder)(1)
    (folder / "mine.txt").write_text("mine")
    Checkpoint(folder).drop()
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    (folder / "mine.txt").unlink()
    Worker(folder)(1)
    Checkpoint(folder).drop()
    assert not folder.exists()
    Checkpoint(folder).drop()
    Checkpoint().drop()


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="it is a file"):
        Checkpoint(tmp_path / "file")
    with pytest.raises(InputError, match="there is no folder"):
        Checkpoint(tmp_path / "no" / "parts")


# -- checksums -----------------------------------------------------------------------------


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


def test_functions_have_none():
    with pytest.raises(TypeError, match="no checksum of a function"):
        digest(lambda: 1)
