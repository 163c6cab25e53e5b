"""Meshes: solids cut into cells, surfaces, reading and writing them, a skin on a solid."""

from supple.mesh.base import Mesh
from supple.mesh.checks import MeshWarning
from supple.mesh.embedding import Embedding
from supple.mesh.files.formats import (
    MESH_FORMATS,
    SURFACE_FORMATS,
    WRITTEN_MESHES,
    WRITTEN_SURFACES,
    MeshFormat,
    SurfaceFormat,
)
from supple.mesh.files.reading import read_mesh
from supple.mesh.files.surfaces import read_sheet, read_surface, read_vertex_list, write_sheet
from supple.mesh.files.writing import write_mesh
from supple.mesh.floating import FloatingMesh
from supple.mesh.group import MeshGroup
from supple.mesh.hex import HexMesh
from supple.mesh.lattice.filling import LatticeFilling
from supple.mesh.reduced import ReducedMesh
from supple.mesh.rigid import RigidMesh
from supple.mesh.sheet import SheetMesh
from supple.mesh.springs import SpringMesh
from supple.mesh.surface import Surface
from supple.mesh.tet import QuadraticTetMesh, TetMesh
from supple.mesh.volume import Quadrature, VolumeMesh
from supple.mesh.woven import WovenMesh
from supple.mesh.yarns import YarnMesh

__all__ = [
    "MESH_FORMATS",
    "SURFACE_FORMATS",
    "WRITTEN_MESHES",
    "WRITTEN_SURFACES",
    "Embedding",
    "FloatingMesh",
    "HexMesh",
    "LatticeFilling",
    "Mesh",
    "MeshFormat",
    "MeshGroup",
    "MeshWarning",
    "QuadraticTetMesh",
    "Quadrature",
    "ReducedMesh",
    "RigidMesh",
    "SheetMesh",
    "SpringMesh",
    "Surface",
    "SurfaceFormat",
    "TetMesh",
    "VolumeMesh",
    "WovenMesh",
    "YarnMesh",
    "read_mesh",
    "read_sheet",
    "read_surface",
    "read_vertex_list",
    "write_mesh",
    "write_sheet",
]
