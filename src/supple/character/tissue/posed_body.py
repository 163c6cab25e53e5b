"""A body with a pose as its rest shape (pose space paper, §4)."""

from __future__ import annotations

from dataclasses import replace

from supple.bodies.solid import Body
from supple.core.errors import InputError
from supple.core.types import Floats
from supple.materials import Material
from supple.mesh import TetMesh


def posed_body(body: Body, vertices: Floats, young: Floats | None = None) -> Body:
    """The body at rest with its vertices at ``vertices`` (n, 3) [m], and as heavy everywhere.

    Each cell keeps its mass (§5.2). ``young`` (cells,) [Pa] is the stiffness in this pose, where it
    is another one.
    """
    turned = TetMesh.inverted(vertices, body.mesh.cells)
    if turned.any():
        raise InputError(
            f"{turned.sum()} cells are inside out in this pose, the first is cell "
            f"{int(turned.argmax())}; fit the mesh to the pose (Eq. 3), or choose a milder pose"
        )
    mesh = replace(body.mesh, vertices=vertices)
    density = body.density * body.mesh.volumes / mesh.volumes

    stiff = {} if young is None else {"young": young}

    def changed(material: Material) -> Material:
        return replace(material, density=density, **stiff)

    if isinstance(body.material, Material):
        return replace(body, mesh=mesh, material=changed(body.material))
    parts = {name: changed(material) for name, material in body.material.items()}
    return replace(body, mesh=mesh, material=parts)
