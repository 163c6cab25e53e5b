"""The program that runs fTetWild: ``tetwild.py folder``.

fTetWild writes a file into the folder it runs in, prints, and may stop the process on input it
cannot take, so it runs in a process and a folder of its own. The folder holds ``in.npz`` with
``vertices``, ``triangles``, ``edge`` and ``epsilon``; ``out.npz`` with ``vertices`` and ``tets``
is written beside it.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np


def main(folder: Path) -> None:
    """Fill the surface in ``in.npz``; lengths are parts of the bounding box's diagonal."""
    try:
        wild: Any = importlib.import_module("pytetwild")
    except ModuleNotFoundError as error:
        if error.name != "pyvista":
            raise
        # Some versions import PyVista only to add a method to its classes; that is left out.
        sys.modules["pytetwild._accessor"] = ModuleType("pytetwild._accessor")
        wild = importlib.import_module("pytetwild")
    given = np.load(folder / "in.npz")
    vertices, tets = wild.tetrahedralize(
        given["vertices"],
        given["triangles"].astype(np.int32),
        edge_length_fac=float(given["edge"]),
        epsilon=float(given["epsilon"]),
        quiet=True,
    )
    np.savez(folder / "out.npz", vertices=vertices, tets=tets)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
