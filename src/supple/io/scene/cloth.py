"""From the checked fields of a scene file to a sheet of cloth."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from supple.bodies.cloth import Bending, Cloth, HingeBending, QuadraticBending, StrainLimit
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.io.scene.build import Fields, Sheet, build_supports, mass_model, materials_of, noting
from supple.io.scene.schema import Problems
from supple.mesh import SheetMesh, read_sheet


def placed(points: Floats, given: Fields) -> Floats:
    """Points (n, 3) [m], turned about the origin and shifted as a table says."""
    from scipy.spatial.transform import Rotation  # slow to import

    if "rotation" in given:
        points = points @ Rotation.from_rotvec(given["rotation"]).as_matrix().T
    return points + np.array(given["position"]) if "position" in given else points


def build_sheet(given: Fields, problems: Problems) -> Sheet:
    """The sheet with its pattern and its regions. Raises InputError."""
    scale = float(given.get("scale", 1.0))
    if "grid" in given:
        grid = given["grid"]
        mesh = SheetMesh.grid(tuple(grid["size"]), tuple(grid["cells"]))
    else:
        mesh = read_sheet(given["sheet"], pattern=given.get("pattern") == "uv")
        if mesh.pattern is not None:
            flat = given.get("uv_scale", 1.0) * mesh.pattern
            mesh = dataclasses.replace(mesh, pattern=flat)
    mesh = mesh.scaled(scale)
    mesh = dataclasses.replace(mesh, vertices=placed(mesh.vertices, given))
    for name, box in given.get("regions", {}).items():
        with noting(problems, f"mesh.regions.{name}"):
            mesh = mesh.with_region(name, mesh.cells_where(**box))
    return Sheet(mesh)


def build_cloth(plan: Fields, sheet: Sheet, problems: Problems) -> Cloth | None:
    """The cloth with its materials and supports; None after noting what is wrong."""
    before = len(problems.found)
    fixed, moving = build_supports(plan, sheet, problems)
    options: dict[str, Any] = {}
    given = plan.get("cloth", {})
    if "strain_limit" in given:
        options["strain_limit"] = StrainLimit(**given["strain_limit"])
    with noting(problems, "cloth.rest_angles"):
        options["bending"] = _bending(given)
    cloth = None
    with noting(problems, "materials" if "materials" in plan else "material"):
        mesh, material = materials_of(plan, sheet.mesh)
        assert isinstance(mesh, SheetMesh)
        cloth = Cloth(
            mesh, material, fixed=fixed, supports=moving, mass_model=mass_model(plan), **options
        )
    return cloth if len(problems.found) == before else None


def _bending(given: Fields) -> Bending | None:
    if "bending" not in given:
        return None
    if given["bending"] == "hinges":
        return HingeBending(rest_angles=given.get("rest_angles"))
    if "rest_angles" in given:
        raise InputError('quadratic bending is for flat sheets; give bending = "hinges"')
    return QuadraticBending()
