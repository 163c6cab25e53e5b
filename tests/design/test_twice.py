"""The same design made twice gives the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.design.twice import designed

pytestmark = pytest.mark.verify

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", params=["reduced", "full"])
def once(request, tmp_path_factory) -> tuple[str, str, bytes]:
    """The space, what is told of a design there, and its file."""
    file = tmp_path_factory.mktemp(request.param) / "designed.toml"
    return request.param, designed(request.param, file), file.read_bytes()


def test_the_design_goes_the_long_way(once):
    """Else the tests below would not be worth much."""
    space, told, _ = once
    assert f"rounds {5 if space == 'reduced' else 1}\n" in told
    assert "False" in told  # a wish is missed


def test_designs_are_the_same_in_one_process(once, tmp_path):
    space, told, data = once
    file = tmp_path / "designed.toml"
    assert designed(space, file) == told
    assert file.read_bytes() == data


def test_designs_are_the_same_in_another_process(once, tmp_path):
    """Which has other addresses, and another seed for the hashes that order sets."""
    space, told, data = once
    file = tmp_path / "designed.toml"
    done = subprocess.run(
        [sys.executable, "-m", "tests.design.twice", space, str(file)],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip("\n") == told.rstrip("\n")
    assert file.read_bytes() == data
