"""Filling any triangle soup with tets, by fTetWild."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from supple.core.errors import InputError, MeshError, MissingExtra
from supple.core.types import Floats, Ints
from supple.mesh.files.surfaces import read_surface
from supple.mesh.surface import Surface


def as_surface(surface: Surface | str | os.PathLike[str]) -> Surface:
    """A surface as it is, or read from the file named."""
    return surface if isinstance(surface, Surface) else read_surface(surface)


def fill_with_tets(
    surface: Surface, edge: float | None, epsilon: float | None
) -> tuple[Floats, Ints]:
    """Vertices [m] and tets, in either orientation, inside a surface."""
    low, high = surface.bounds
    diagonal = float(np.linalg.norm(high - low))
    if epsilon is None:  # a coarse mesh cannot follow every detail: it would turn fine there
        epsilon = max(diagonal / 1000.0, 0.0 if edge is None else edge / 10.0)
    edge = diagonal / 20.0 if edge is None else edge
    for name, length in (("edge", edge), ("epsilon", epsilon)):
        if not 1e-6 * diagonal <= length <= diagonal:
            raise InputError(
                f"{name}={length!r} must be a length between a millionth of the surface's size "
                f"and all of it [m], e.g. {diagonal / (20 if name == 'edge' else 1000):.3g}"
            )
    if surface.area <= 0:
        raise MeshError("the surface has no area, so there is nothing to fill")
    if importlib.util.find_spec("pytetwild") is None:
        raise MissingExtra("TetMesh.from_surface", "meshing")
    with tempfile.TemporaryDirectory(prefix="supple-") as folder:
        # Solving in a unit box keeps fTetWild's own tolerances meaningful at any scale.
        np.savez(
            Path(folder) / "in.npz",
            vertices=(surface.vertices - low) / diagonal,
            triangles=surface.triangles,
            edge=edge / diagonal,
            epsilon=epsilon / diagonal,
        )
        found = _run(Path(folder))
    if found is None or not len(found[1]):
        raise MeshError(
            "the surface encloses no volume that fTetWild could fill; is it open or flat?"
        )
    return found[0] * diagonal + low, found[1]


def _run(folder: Path) -> tuple[Floats, Ints] | None:
    """Run fTetWild in its own process; None when it came to nothing."""
    paths = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("tetwild.py").resolve()), str(folder)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode > 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no reason given"]
        raise MeshError(f"fTetWild could not fill the surface: {last[0][:200]}")
    if not (folder / "out.npz").is_file():
        return None
    with np.load(folder / "out.npz") as out:
        return out["vertices"].astype(np.float64), out["tets"].astype(np.int64)
