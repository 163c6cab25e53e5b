"""Reduced models: large deformations in a few coordinates, and what they are built from."""

from .basis import Basis as Basis
from .basis import joined_basis as joined_basis
from .basis import mass_pca as mass_pca
from .basis import modal_derivative_basis as modal_derivative_basis
from .basis import motion_basis as motion_basis
from .basis import picked_basis as picked_basis
from .crowd import CrowdSimulation as CrowdSimulation
from .cubature import Cubature as Cubature
from .cubature import CubatureWarning as CubatureWarning
from .cubature_training import train_cubature as train_cubature
from .derivatives import modal_derivatives as modal_derivatives
from .example_damping import ExampleWarning as ExampleWarning
from .floating_simulation import FloatingSimulation as FloatingSimulation
from .model import ReducedModel as ReducedModel
from .model_file import load_model as load_model
from .modes import Modes as Modes
from .modes import vibration_modes as vibration_modes
from .newton import DenseNewton as DenseNewton
from .reducing import reduce as reduce
from .simulation import ReducedSimulation as ReducedSimulation
from .sketch import Sketch as Sketch
from .sketch import sketch_basis as sketch_basis
