"""What the readers and writers of mesh files share."""

from __future__ import annotations

import contextlib
import io
import os
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from supple.core.errors import InputError, MeshError
from supple.core.types import Floats, Ints
from supple.mesh.files.formats import CELL_NAMES

PARSING = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    SystemExit,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
    ElementTree.ParseError,
)
"""What parsers of other packages raise on damaged files."""

VOLUMES = {name: nodes for nodes, name in CELL_NAMES.items()}
"""Number of nodes by meshio's name of a solid cell."""

_SILENCE = threading.RLock()
_SHEETS = {"triangle", "quad", "polygon", "triangle6", "quad8", "quad9"}


@dataclass(frozen=True, eq=False)
class Found:
    """What a file holds before it is checked: cells (m, 4), (m, 8) or (m, 10), zero-based."""

    vertices: Floats
    cells: Ints
    regions: Mapping[str, Ints] = field(default_factory=dict)
    properties: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def existing(path: str | os.PathLike[str]) -> Path:
    """The path of a file that is there and not empty."""
    try:
        file = Path(path)
    except TypeError as error:
        raise InputError(f"a file name is needed, not {type(path).__name__}") from error
    if file.is_dir():
        raise MeshError(f"{file} is a folder; name a file in it")
    if not file.exists():
        raise MeshError(f"there is no file {file}")
    if not file.is_file():
        raise MeshError(f"{file} is not a regular file")
    if not file.stat().st_size:
        raise MeshError(f"{file} is empty")
    return file


def text(file: Path) -> str:
    """The text of a file."""
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise MeshError(f"{file} is not text, as a {file.suffix} file must be") from error
    except OSError as error:
        raise MeshError(f"{file} cannot be read: {error.strerror}") from error


def whole_numbers(file: Path, written: str, what: str = "") -> Ints:
    """Whole numbers with blanks or commas between them."""
    try:
        words = written.replace(",", " ").split()
        return np.array([int(word) for word in words], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise unreadable(file, f"{what}{error}") from error


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Run another package that prints and warns; one thread at a time.

    What it redirects belongs to the whole process, so keep it round the call and nothing else.
    """
    nowhere = io.StringIO()
    with (
        _SILENCE,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def guarded(file: Path, *more: type[Exception]) -> Iterator[None]:
    """Parse a file: damage becomes a MeshError that names it.

    ``more``: exceptions of another package beside the usual ones.
    """
    damage: tuple[type[BaseException], ...] = (*PARSING, *more)
    try:
        with np.errstate(all="ignore"):
            yield
    except MeshError:
        raise
    except MemoryError as error:
        raise MeshError(
            f"{file} does not fit into memory; is it too large, or is a number in it damaged?"
        ) from error
    except damage as error:
        raise unreadable(file, f"{error}" or type(error).__name__) from error


def unreadable(file: Path, why: str) -> MeshError:
    """The error for a file whose content does not parse."""
    reason = " ".join(why.split())[:200]
    return MeshError(f"{file} cannot be read as {file.suffix}: {reason}; is it damaged or cut off?")


def one_kind(file: Path, kinds: set[str]) -> str:
    """The one kind of solid cell among the kinds of cell that a file holds."""
    present = sorted(kinds & set(VOLUMES))
    if not present and kinds & _SHEETS:
        raise MeshError(
            f"{file} holds a surface or a flat mesh, and a solid needs volume cells, e.g. tets; "
            "export it as .obj or .ply for read_surface, or to fill it with TetMesh.from_surface"
        )
    if not present:
        known = ", ".join(sorted(kinds)) or "none"
        raise MeshError(f"{file} holds no solid cells that Supple knows (found: {known})")
    if len(present) > 1:
        raise MeshError(
            f"{file} mixes {' and '.join(present)}; Supple needs one kind of cell: mesh it anew, "
            "or split bricks into tets"
        )
    return present[0]


def labelled(labels: Ints, names: Mapping[int, str] | None = None) -> dict[str, Ints]:
    """Regions from one label a cell; zero means none."""
    known = names or {}
    return {
        known.get(int(label), str(int(label))): np.flatnonzero(labels == label)
        for label in np.unique(labels)
        if label != 0
    }
