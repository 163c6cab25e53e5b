"""Soft bodies whose motion settles the way you want it to."""

from typing import TYPE_CHECKING, Any

from .body import Body
from .damping import Damping, Rayleigh, StiffnessAt
from .errors import InputError, MeshError, MissingExtra, StepFailed, SuppleError
from .integrators import (
    BDF2,
    RK4,
    TRBDF2,
    BackwardEuler,
    Bathe,
    Integrator,
    Newmark,
    SymplecticEuler,
    Trapezoidal,
)
from .mass import ConsistentMass, LumpedMass
from .materials import Corotational, Material, NeoHookean, StableNeoHookean, StVK
from .mesh import (
    Embedding,
    HexMesh,
    MeshWarning,
    QuadraticTetMesh,
    Surface,
    TetMesh,
    VolumeMesh,
    read_mesh,
    read_surface,
    read_vertex_list,
    write_mesh,
)
from .motion import Motion
from .recording import Recorder, read_motion
from .reduction import Modes, vibration_modes
from .simulation import Simulation
from .solvers import AutomaticSolver, Cholesky, ConjugateGradients, KeptCholesky, Newton
from .statics import static_shape
from .supports import Support
from .threads import set_thread_count, thread_count

if TYPE_CHECKING:
    from .io import Scene, export_motion, load_scene, write_surface

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Scenes and exports come with heavy packages: load them when first used."""
    if name in ("Scene", "export_motion", "load_scene", "write_surface"):
        from . import io

        return getattr(io, name)
    raise AttributeError(f"module 'supple' has no attribute {name!r}")


__all__ = [
    "BDF2",
    "RK4",
    "TRBDF2",
    "AutomaticSolver",
    "BackwardEuler",
    "Bathe",
    "Body",
    "Cholesky",
    "ConjugateGradients",
    "ConsistentMass",
    "Corotational",
    "Damping",
    "Embedding",
    "HexMesh",
    "InputError",
    "Integrator",
    "KeptCholesky",
    "LumpedMass",
    "Material",
    "MeshError",
    "MeshWarning",
    "MissingExtra",
    "Modes",
    "Motion",
    "NeoHookean",
    "Newmark",
    "Newton",
    "QuadraticTetMesh",
    "Rayleigh",
    "Recorder",
    "Scene",
    "Simulation",
    "StVK",
    "StableNeoHookean",
    "StepFailed",
    "StiffnessAt",
    "SuppleError",
    "Support",
    "Surface",
    "SymplecticEuler",
    "TetMesh",
    "Trapezoidal",
    "VolumeMesh",
    "export_motion",
    "load_scene",
    "read_mesh",
    "read_motion",
    "read_surface",
    "read_vertex_list",
    "set_thread_count",
    "static_shape",
    "thread_count",
    "vibration_modes",
    "write_mesh",
    "write_surface",
]
