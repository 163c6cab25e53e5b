"""What a scene says of materials with fibres, and of those whose stress is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple.core.errors import InputError
from supple.core.types import Floats
from supple.io.scene.schema import VECTOR, Either, File, Kind, Made, Problems, Row


@dataclass(frozen=True)
class Axes(Kind):
    """Material axes: a direction, two or three of them, or a file with those of every cell."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, str):
            return Made(File(), axes_of_file).read(value, path, problems)
        words = "a direction [x, y, z], two or three, or the name of a file with those of each cell"
        return Either((VECTOR, Row(VECTOR, least=2)), words).read(value, path, problems)


def axes_of_file(file: Path) -> Floats:
    """Axes of every cell, (cells, 1, 2 or 3, 3), from a .npy file or from lines of text.

    A line has 3, 6 or 9 numbers with blanks or commas between them: fibres, then one axis or two
    across. Raises InputError for a file that is something else.
    """
    wanted = "a line for each cell, with 3, 6 or 9 numbers, or a .npy file (cells, 3)"
    try:
        if file.suffix.lower() == ".npy":
            found = np.asarray(np.load(file, allow_pickle=False), dtype=float)
        else:
            text = file.read_text(encoding="utf-8").replace(",", " ")
            found = np.loadtxt(text.splitlines(), ndmin=2)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{file} cannot be read as axes ({error}); it needs {wanted}") from error
    count = found.size // max(len(found), 1) if found.ndim > 1 else 0
    if count not in (3, 6, 9):
        raise InputError(f"{file} has numbers of shape {found.shape}; it needs {wanted}")
    return found.reshape(len(found), -1, 3)
