"""Reduced models: large deformations in a few coordinates, and what they are built from."""

from supple.core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "basis": "Basis joined_basis mass_pca modal_derivative_basis motion_basis picked_basis",
        "runtime.crowd": "CrowdSimulation",
        "cubature.cubature": "Cubature CubatureWarning",
        "cubature.training": "train_cubature",
        "derivatives": "modal_derivatives",
        "errors.frequencies": "ModelWarning",
        "errors.motion": "MotionError motion_error",
        "errors.repair": "repaired_basis",
        "damping.examples": "ExampleWarning",
        "explicit": "ExplicitReducedSimulation",
        "runtime.floating_simulation": "FloatingSimulation",
        "model": "ReducedModel",
        "model_file": "load_model",
        "modes": "Modes vibration_modes",
        "runtime.newton": "DenseNewton",
        "reducing": "reduce",
        "runtime.simulation": "ReducedSimulation",
        "sketch": "Sketch sketch_basis",
    },
)
