"""Reduced models: large deformations in a few coordinates, and what they are built from."""

from supple.reduction.basis import Basis as Basis
from supple.reduction.basis import joined_basis as joined_basis
from supple.reduction.basis import mass_pca as mass_pca
from supple.reduction.basis import modal_derivative_basis as modal_derivative_basis
from supple.reduction.basis import motion_basis as motion_basis
from supple.reduction.basis import picked_basis as picked_basis
from supple.reduction.cubature.cubature import Cubature as Cubature
from supple.reduction.cubature.cubature import CubatureWarning as CubatureWarning
from supple.reduction.cubature.training import train_cubature as train_cubature
from supple.reduction.damping.examples import ExampleWarning as ExampleWarning
from supple.reduction.derivatives import modal_derivatives as modal_derivatives
from supple.reduction.errors.frequencies import ModelWarning as ModelWarning
from supple.reduction.errors.motion import MotionError as MotionError
from supple.reduction.errors.motion import motion_error as motion_error
from supple.reduction.errors.repair import repaired_basis as repaired_basis
from supple.reduction.model import ReducedModel as ReducedModel
from supple.reduction.model_file import load_model as load_model
from supple.reduction.modes import Modes as Modes
from supple.reduction.modes import vibration_modes as vibration_modes
from supple.reduction.reducing import reduce as reduce
from supple.reduction.runtime.crowd import CrowdSimulation as CrowdSimulation
from supple.reduction.runtime.floating_simulation import FloatingSimulation as FloatingSimulation
from supple.reduction.runtime.newton import DenseNewton as DenseNewton
from supple.reduction.runtime.simulation import ReducedSimulation as ReducedSimulation
from supple.reduction.sketch import Sketch as Sketch
from supple.reduction.sketch import sketch_basis as sketch_basis
