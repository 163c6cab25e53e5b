"""Files of reduced models: all that is needed to run one, and nothing that is executed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.core import files
from supple.core.checks import number
from supple.core.errors import InputError
from supple.core.types import Floats, Ints
from supple.mesh import VolumeMesh
from supple.mesh.packing import describe_mesh, mesh_of
from supple.reduction.coordinates import is_definite
from supple.reduction.cubature.cubature import Cubature
from supple.reduction.damping.strain_rate import StrainGrams
from supple.reduction.errors.swings import SwingEnergies
from supple.reduction.groups import PARAMETERS, Contribution, Group
from supple.reduction.model import ReducedModel, Skin
from supple.reduction.polynomial import coefficient_count, pair_count
from supple.reduction.runtime.floating import FloatingInertia

_MODEL = files.Kind(b"\x89SUPRED\n", "reduced model", 1)
_SHARES = {
    **dict.fromkeys(("mass", "weight", "place", "turning"), ("density",)),
    "energy": ("young", "poisson"),
}
"""What groups keep their shares of, and the parameters that these belong to."""


def save_model(model: ReducedModel, path: str | os.PathLike[str]) -> None:
    """Writes ``model`` to ``path``; what stands there stays until the new file is whole."""
    header, arrays = describe_mesh(model.mesh)
    header["groups"] = [
        {
            "regions": list(g.regions),
            **{name: getattr(g, name) for name in PARAMETERS},
            "built_mass": g.built_mass,
            "scaled_only": g.scaled_only,
        }
        for g in model.groups
    ]
    header["up"] = model.up
    arrays["vectors"] = model.vectors
    if model.body_frequencies is not None:
        arrays["body frequencies"] = model.body_frequencies
    if model.swings is not None:
        arrays |= {f"swing {k}": array for k, array in model.swings.arrays().items()}
    for k, group in enumerate(model.groups):
        arrays[f"group {k} cells"] = group.cells
        for name in _SHARES:
            share: Contribution | None = getattr(group, name)
            if share is not None:
                arrays[f"group {k} {name}"] = share.units
                if share.built is not None:
                    arrays[f"group {k} {name} built"] = share.built
        for name in ("built", "kept"):
            gram = getattr(group.grams, name, None)
            if gram is not None:
                arrays[f"group {k} gram {name}"] = gram
    if model.cubature is not None:
        header["cubature"] = model.cubature.header()
        arrays |= {f"cubature {k}": array for k, array in model.cubature.arrays().items()}
    if model.floating is not None:
        arrays |= {f"floating {k}": array for k, array in model.floating.arrays().items()}
    if model.skin is not None:
        arrays["skin vertices"] = model.skin.vertices
        arrays["skin triangles"] = model.skin.triangles
        arrays["skin vectors"] = model.skin.vectors
    with files.replacing(path) as temporary:
        temporary.write_bytes(files.pack(_MODEL, header, arrays))


def load_model(path: str | os.PathLike[str], *, size: int | None = None) -> ReducedModel:
    """The model in a file, with its first ``size`` basis vectors if a size is given.

    Raises InputError for a file that is damaged or is something else.
    """
    model = files.load(path, _MODEL, lambda block: _model_of(block.header, block.arrays))
    return model if size is None else model.truncated(size)


def is_model_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a reduced model does."""
    return files.begins_as(path, _MODEL)


def _model_of(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> ReducedModel:
    mesh = mesh_of(header, arrays)
    if not isinstance(mesh, VolumeMesh):
        raise InputError(f"it holds a {type(mesh).__name__}; reduced models are of solids")
    r = len(arrays["vectors"])
    vectors = _shaped(arrays, "vectors", (r, *mesh.vertices.shape))
    listed = enumerate(header["groups"])
    groups = tuple(
        _with_grams(_group_of(fields, arrays, f"group {k}", r), mesh, vectors, arrays, f"group {k}")
        for k, fields in listed
    )
    every = np.concatenate([group.cells for group in groups]) if groups else np.empty(0)
    if not np.array_equal(np.sort(every), np.arange(mesh.n_cells)):
        raise InputError("its groups do not hold every cell of the mesh once")
    cubature = floating = skin = None
    if "cubature" in header:
        cubature = Cubature.from_arrays(header["cubature"], _within(arrays, "cubature "))
        if cubature.n_coordinates != r:
            raise InputError(f"its cubature has {cubature.n_coordinates} coordinates, not {r}")
    if (cubature is None) != all(group.energy is not None for group in groups) or not groups:
        raise InputError("it has neither a whole energy polynomial nor a cubature")
    if parts := _within(arrays, "floating "):
        floating = FloatingInertia.from_arrays(parts)
        if floating.size != r or floating.arms.shape != mesh.vertices.shape:
            raise InputError("its inertia is of another model")
    if "skin vectors" in arrays:
        count = len(arrays["skin vertices"])
        triangles = np.array(arrays["skin triangles"], dtype=np.int64)
        if triangles.ndim != 2 or (
            triangles.size and not 0 <= triangles.min() <= triangles.max() < count
        ):
            raise InputError("the triangles of its skin name vertices that are not there")
        skin = Skin(
            _shaped(arrays, "skin vertices", (count, 3)),
            triangles,
            _shaped(arrays, "skin vectors", (r, count, 3)),
        )
    up = header["up"]
    if up not in ("y", "z", None):
        raise InputError(f"{up!r} does not point up; y and z do")
    known = None  # nor do files of earlier versions tell
    if "body frequencies" in arrays:
        known = _shaped(arrays, "body frequencies", (len(arrays["body frequencies"]),))
    swings = None
    if parts := _within(arrays, "swing "):
        swings = SwingEnergies.from_arrays(parts, r)
    model = ReducedModel(
        mesh, vectors, groups, cubature, floating, skin, up, body_frequencies=known, swings=swings
    )
    if not is_definite(model.mass):
        raise InputError("its mass is not positive")
    return model


def _group_of(
    fields: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], key: str, r: int
) -> Group:
    cells: Ints = np.array(arrays[f"{key} cells"])
    if cells.dtype.kind not in "iu":
        raise InputError(f"{key} has cells that are not whole numbers")
    shapes = {
        "mass": (1, r, r),
        "weight": (1, r, 3),
        "place": (1, 3),
        "turning": (1, r + 1, r, 3),
        "energy": (2, coefficient_count(r)),
    }
    numbers = {
        name: None if fields[name] is None else number(f"its {name}", fields[name], **bounds)
        for name, bounds in PARAMETERS.items()
    }
    shares: dict[str, Contribution | None] = {"energy": None}
    for name, parameters in _SHARES.items():
        units, built = f"{key} {name}", f"{key} {name} built"
        if units in arrays:
            whole = _shaped(arrays, built, shapes[name][1:]) if built in arrays else None
            if whole is None and None in map(numbers.get, parameters):
                raise InputError(f"{key} has no {parameters[0]}")
            shares[name] = Contribution(_shaped(arrays, units, shapes[name]), whole)
        elif name not in shares:
            raise InputError(f"{key} has no {name}")
    regions = tuple(str(name) for name in fields["regions"])
    built_mass = fields.get("built_mass")  # files of earlier versions do not tell
    if built_mass is not None:
        built_mass = number("its built_mass", built_mass, above=0.0)
    scaled_only = str(fields.get("scaled_only", ""))
    known = {"built_mass": built_mass, "scaled_only": scaled_only}
    return Group(regions, cells, **numbers, **shares, **known)  # type: ignore[arg-type]


def _with_grams(
    group: Group,
    mesh: VolumeMesh,
    vectors: Floats,
    arrays: Mapping[str, NDArray[Any]],
    key: str,
) -> Group:
    """The group with the Gram matrices of its strains, where its energy is a polynomial."""
    if group.energy is None:
        return group
    n = len(vectors) + pair_count(len(vectors))
    shapes = {"built": (n, n), "kept": (2, n, n)}
    kept = {  # files of earlier versions have none
        name: _shaped(arrays, f"{key} gram {name}", shape)
        for name, shape in shapes.items()
        if f"{key} gram {name}" in arrays
    }
    return replace(group, grams=StrainGrams(mesh, vectors, group.cells, **kept))


def _within(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {k.removeprefix(prefix): array for k, array in arrays.items() if k.startswith(prefix)}


def _shaped(arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> Floats:
    array = np.array(arrays[name], dtype=float)
    if array.shape != shape or not np.isfinite(array).all():
        raise InputError(f"its {name} has shape {array.shape} or is not finite; it needs {shape}")
    return array
