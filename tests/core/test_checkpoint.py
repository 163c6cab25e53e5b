"""Finished parts of long work: taken from a folder where they were made of the same."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cli.helpers import interrupt
from tests.refusals import refused

from supple.core.checkpoint import Checkpoint


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


@pytest.mark.parametrize(
    ("what", "now"),
    [("supple.__version__", "later"), ("supple.core.checkpoint.sources_digest", lambda: "edited")],
)
def test_another_version_and_other_sources_make_their_own(tmp_path, monkeypatch, what, now):
    work = Worker(tmp_path)
    work(1)
    monkeypatch.setattr(what, now)
    work(1)
    assert work.made == 2


def test_what_parts_are_made_of_is_asked_only_where_they_are_kept(tmp_path):
    assert Checkpoint().sum_of(lambda: pytest.fail("was asked")) == ""
    kept = Checkpoint(tmp_path)
    assert kept.sum_of(lambda: 1) == kept.sum_of(lambda: 1) != kept.sum_of(lambda: 2)


def test_what_fails_leaves_no_part(tmp_path):
    parts = Checkpoint(tmp_path / "parts")
    with pytest.raises(KeyboardInterrupt):
        parts.part("sums", 1, interrupt, lambda _: ({}, {}), lambda about, x: None)
    assert not (tmp_path / "parts").exists()


def test_drop_takes_nothing_else(tmp_path):
    folder = tmp_path / "parts"
    Worker(folder)(1)
    mine = ["mine.part", "mine.supple-part", "mine.txt"]
    for name in mine:
        (folder / name).write_text("mine")
    Checkpoint(folder).drop()
    assert sorted(path.name for path in folder.iterdir()) == mine
    for name in mine:
        (folder / name).unlink()
    Worker(folder)(1)
    Checkpoint(folder).drop()
    assert not folder.exists()
    Checkpoint(folder).drop()
    Checkpoint().drop()


@pytest.mark.parametrize("how", [lambda path: path.write_text("mine"), lambda path: path.mkdir()])
def test_what_is_in_the_place_of_a_part_stays(tmp_path, how):
    path = tmp_path / "sums.supple-part"
    how(path)
    work = Worker(tmp_path)
    refused("move it away, or give another folder", work, 1)
    assert work.made == 0
    Checkpoint(tmp_path).drop()
    assert path.exists()


def test_a_folder_that_cannot_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    refused("it is a file", Checkpoint, tmp_path / "file")
    refused("there is no folder", Checkpoint, tmp_path / "no" / "parts")
