"""``supple demo`` from Python: a creature whose belly and ears come to rest as wished."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np

from supple.core.errors import InputError, Parameter
from supple.core.types import Floats, Progress
from supple.damping import Curve, ExampleDamping, save_damping
from supple.workflows.designing import DesignResult, Shown, design, open_design
from supple.workflows.outputs import make_folder

_SCENE = files("supple.workflows").joinpath("demo.toml").read_text(encoding="utf-8")
_LIVELY_WHEN_SMALL = Curve.bezier([(0.0, 0.1), (0.4, 0.3), (1.6, 6.0)])
_BY_HAND = (_LIVELY_WHEN_SMALL, 10.0, _LIVELY_WHEN_SMALL, _LIVELY_WHEN_SMALL)
"""Curves drawn by hand for the four examples, the other way round than the wishes."""
_PULLED = (1.0, 0.5, 1.0, 1.0)
"""Excitations from which the creature is let go, to be looked at."""
_SUMMARY = (
    "The creature is let go three times: with plain damping, with curves drawn by hand (the belly "
    "lively when it moves little, and next to still up and down), and with the curves that the "
    "wishes below led to."
)


def demo(
    output: str | os.PathLike[str] = "demo",
    *,
    progress: Progress | None = None,
    found: Callable[[DesignResult], None] | None = None,
) -> DesignResult:
    """Writes the scene into a folder and designs for it, by hand and by wish.

    ``progress`` and ``found`` are those of ``design``. A scene that was changed stays as it is.
    """
    folder = Path(output)
    make_folder(folder)
    file = folder / "scene.toml"
    if file.exists() and file.read_text(encoding="utf-8") != _SCENE:
        raise InputError(
            f"{file} was changed since; design for it with supple design {file}, or give the "
            "demo another ",
            Parameter("output"),
        )
    file.write_text(_SCENE, encoding="utf-8")
    scene = open_design(file, progress=progress)
    before = scene.damping
    assert isinstance(before, ExampleDamping)
    by_hand = before.with_curves(_BY_HAND)
    save_damping(by_hand, folder / "by_hand.toml")
    start: Floats = np.tensordot(_PULLED, [example.shape for example in before.examples], 1)
    return design(
        scene,
        folder,
        overwrite=True,
        file="designed.toml",
        shown=Shown((("By hand", by_hand),), start, _SUMMARY),
        progress=progress,
        found=found,
    )
