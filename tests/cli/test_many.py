"""One command for several files: each on its own, and a summary of them all."""

import argparse

import pytest

from supple.cli.failures import DONE, FAILED, INTERRUPTED, MISSED
from supple.cli.many import files_of, for_each
from supple.core.errors import InputError


def given(**more):
    return argparse.Namespace(debug=False, quiet=False, parser=argparse.ArgumentParser(), **more)


def answering(codes):
    def command(given):
        if codes[given.scene] == FAILED:
            raise InputError(f"{given.scene} is bad")
        return codes[given.scene]

    return command


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ({"a": DONE, "b": DONE}, DONE),
        ({"a": DONE, "b": MISSED, "c": DONE}, MISSED),
        ({"a": FAILED, "b": MISSED}, FAILED),
    ],
)
def test_one_bad_file_does_not_stop_the_others(codes, expected, capsys):
    assert for_each(list(codes), "scene", answering(codes), given()) == expected
    shown = capsys.readouterr()
    assert f"{sum(c == DONE for c in codes.values())} of {len(codes)} files done" in shown.out
    for name, code in codes.items():
        assert (f"supple: {name} is bad" in shown.err) == (code == FAILED)


def test_an_interruption_stops_all(capsys):
    codes = {"a": INTERRUPTED, "b": FAILED}
    assert for_each(list(codes), "scene", answering(codes), given()) == INTERRUPTED
    assert "b is bad" not in capsys.readouterr().err


def test_folders_stand_for_the_files_in_them(tmp_path):
    for name in ("b.toml", "a.toml", "c.txt"):
        (tmp_path / name).touch()
    inside = [str(tmp_path / "a.toml"), str(tmp_path / "b.toml")]
    assert files_of(
        [str(tmp_path), "x", inside[0]], lambda path: path.suffix == ".toml", "scene"
    ) == [*inside, "x"]
    with pytest.raises(InputError, match="there is no mesh in the folder"):
        files_of([str(tmp_path)], lambda path: False, "mesh")
