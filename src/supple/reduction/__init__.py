"""Reduced models: large deformations in a few coordinates, and what they are built from."""

from .basis import (
    Basis,
    joined_basis,
    mass_pca,
    modal_derivative_basis,
    motion_basis,
    picked_basis,
)
from .crowd import CrowdSimulation
from .cubature import Cubature, CubatureWarning
from .cubature_training import train_cubature
from .derivatives import modal_derivatives
from .example_damping import ExampleWarning
from .floating_simulation import FloatingSimulation
from .model import ReducedModel
from .model_file import load_model
from .modes import Modes, vibration_modes
from .newton import DenseNewton
from .reducing import reduce
from .simulation import ReducedSimulation
from .sketch import Sketch, sketch_basis

__all__ = [
    "Basis",
    "CrowdSimulation",
    "Cubature",
    "CubatureWarning",
    "DenseNewton",
    "ExampleWarning",
    "FloatingSimulation",
    "Modes",
    "ReducedModel",
    "ReducedSimulation",
    "Sketch",
    "joined_basis",
    "load_model",
    "mass_pca",
    "modal_derivative_basis",
    "modal_derivatives",
    "motion_basis",
    "picked_basis",
    "reduce",
    "sketch_basis",
    "train_cubature",
    "vibration_modes",
]
