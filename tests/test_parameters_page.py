"""The page of parameters says what the fields say."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import pytest

from supple.contact import OBSTACLES
from supple.core.parameters import OTHER, describe
from supple.damping import DAMPINGS
from supple.integrators import INTEGRATORS
from supple.materials import MATERIALS
from supple.solvers.linear import LINEAR_SOLVERS

DOCS = Path(__file__).resolve().parents[1] / "docs"
EVERY = [*MATERIALS, *DAMPINGS, *INTEGRATORS, *OBSTACLES, *LINEAR_SOLVERS]


def test_the_page_is_up_to_date():
    written = run_path(str(DOCS / "parameters.py"))["page"]()
    told = (DOCS / "parameters.md").read_text(encoding="utf-8")
    assert written == told, "run: python docs/parameters.py"


@pytest.mark.parametrize("cls", EVERY, ids=lambda cls: cls.__name__)
def test_every_parameter_describes_itself(cls):
    for each in describe(cls):
        assert each.text, f"{each.name} has no text"
        assert each.kind is not OTHER, f"{each.name} has no kind"
        assert len(each.text) <= 120
