"""Soft bodies whose motion settles the way you want it to."""

from typing import TYPE_CHECKING, Any

from .body import Body
from .damping import (
    Caughey,
    Curve,
    Damping,
    Example,
    ExampleDamping,
    Joining,
    MatchedStrainRate,
    Measure,
    PrincipalStrain,
    Rayleigh,
    SplineDamping,
    SplineOver,
    StiffnessAt,
    StrainRate,
    Viscous,
    load_damping,
    save_damping,
    shape_between,
    shape_of_frame,
    shape_within,
)
from .design import (
    DampingRatio,
    DesignReport,
    Experiment,
    Fit,
    HalfLife,
    RingDown,
    RingDownFit,
    RingDownWarning,
    ShareLeft,
    Unloading,
    best_linear_damping,
    compare_ring_downs,
    design_damping,
    fit_ring_down,
    wish,
)
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
from .reduction import (
    Basis,
    CrowdSimulation,
    Cubature,
    CubatureWarning,
    DenseNewton,
    ExampleWarning,
    FloatingSimulation,
    Modes,
    ReducedModel,
    ReducedSimulation,
    Sketch,
    joined_basis,
    load_model,
    mass_pca,
    modal_derivative_basis,
    modal_derivatives,
    motion_basis,
    picked_basis,
    reduce,
    sketch_basis,
    train_cubature,
    vibration_modes,
)
from .simulation import Simulation
from .solvers import AutomaticSolver, Cholesky, ConjugateGradients, KeptCholesky, Newton
from .statics import static_shape
from .supports import Support
from .threads import set_thread_count, thread_count

if TYPE_CHECKING:
    from .io import Scene, export_motion, load_scene, write_damping_page, write_surface

__version__ = "0.1.0"


_OF_IO = ("Scene", "export_motion", "load_scene", "write_damping_page", "write_surface")


def __getattr__(name: str) -> Any:
    """Scenes and exports come with heavy packages: load them when first used."""
    if name in _OF_IO:
        from . import io

        return getattr(io, name)
    raise AttributeError(f"module 'supple' has no attribute {name!r}")


__all__ = [
    "BDF2",
    "RK4",
    "TRBDF2",
    "AutomaticSolver",
    "BackwardEuler",
    "Basis",
    "Bathe",
    "Body",
    "Caughey",
    "Cholesky",
    "ConjugateGradients",
    "ConsistentMass",
    "Corotational",
    "CrowdSimulation",
    "Cubature",
    "CubatureWarning",
    "Curve",
    "Damping",
    "DampingRatio",
    "DenseNewton",
    "DesignReport",
    "Embedding",
    "Example",
    "ExampleDamping",
    "ExampleWarning",
    "Experiment",
    "Fit",
    "FloatingSimulation",
    "HalfLife",
    "HexMesh",
    "InputError",
    "Integrator",
    "Joining",
    "KeptCholesky",
    "LumpedMass",
    "MatchedStrainRate",
    "Material",
    "Measure",
    "MeshError",
    "MeshWarning",
    "MissingExtra",
    "Modes",
    "Motion",
    "NeoHookean",
    "Newmark",
    "Newton",
    "PrincipalStrain",
    "QuadraticTetMesh",
    "Rayleigh",
    "Recorder",
    "ReducedModel",
    "ReducedSimulation",
    "RingDown",
    "RingDownFit",
    "RingDownWarning",
    "Scene",
    "ShareLeft",
    "Simulation",
    "Sketch",
    "SplineDamping",
    "SplineOver",
    "StVK",
    "StableNeoHookean",
    "StepFailed",
    "StiffnessAt",
    "StrainRate",
    "SuppleError",
    "Support",
    "Surface",
    "SymplecticEuler",
    "TetMesh",
    "Trapezoidal",
    "Unloading",
    "Viscous",
    "VolumeMesh",
    "best_linear_damping",
    "compare_ring_downs",
    "design_damping",
    "export_motion",
    "fit_ring_down",
    "joined_basis",
    "load_damping",
    "load_model",
    "load_scene",
    "mass_pca",
    "modal_derivative_basis",
    "modal_derivatives",
    "motion_basis",
    "picked_basis",
    "read_mesh",
    "read_motion",
    "read_surface",
    "read_vertex_list",
    "reduce",
    "save_damping",
    "set_thread_count",
    "shape_between",
    "shape_of_frame",
    "shape_within",
    "sketch_basis",
    "static_shape",
    "thread_count",
    "train_cubature",
    "vibration_modes",
    "wish",
    "write_damping_page",
    "write_mesh",
    "write_surface",
]
