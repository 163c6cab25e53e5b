"""Soft bodies whose motion settles the way you want it to."""

from .later import names_later

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = names_later(
    __name__,
    {
        "body": "Body",
        "character.bones": "bones_of",
        "character.building": "pose_space_model",
        "character.character": "Character Dressing",
        "character.gltf": "read_character",
        "character.live": "PoseSimulation",
        "character.live_crowd": "PoseCrowd",
        "character.live_forces": "Wind",
        "character.painting": "painted stiffness_by_joint",
        "character.pose_choice": "candidates_of choose_poses missing_pose",
        "character.pose_halfway": "BetweenPosesWarning",
        "character.pose_space_file": "load_pose_space_model",
        "character.pose_space_model": "PoseSpaceModel",
        "character.regions": "local_regions",
        "character.rigs": (
            "BendRig BlackBoxRig Blend BlendShapeRig LatticeRig PoseRig PoseSpaceDeformation "
            "SkeletonRig WireRig"
        ),
        "character.skeleton_regions": "regions_from_skeleton",
        "character.volume": "Volume character_volume",
        "cloth": (
            "Bending Cloth ClothMaterial HingeBending IsotropicCloth OrthotropicCloth "
            "QuadraticBending StrainLimit"
        ),
        "contact": (
            "AnimatedMesh Box Capsule HeightField MeshObstacle Obstacle Plane Rails "
            "SelfContact Sphere"
        ),
        "damping": (
            "Caughey ClothDrag ClothStrainRate Conserving Curve Damping Drag Example "
            "ExampleDamping Joining MatchedStrainRate Measure MomentumConserving PowerLaw "
            "PrincipalStrain Rayleigh SplineDamping SplineOver SpringStrainRate StiffnessAt "
            "StrainRate Viscous load_damping save_damping shape_between shape_of_frame "
            "shape_within"
        ),
        "design": (
            "DampingRatio DesignReport Experiment Fit HalfLife RingDown RingDownFit "
            "RingDownWarning ShareLeft Unloading best_linear_damping compare_ring_downs "
            "design_damping fit_ring_down wish"
        ),
        "elastic_body": "ElasticBody",
        "errors": "ContactNotKept InputError MeshError MissingExtra StepFailed SuppleError",
        "integrators": (
            "BDF2 BackwardEuler Bathe Integrator Newmark RK4 SymplecticEuler TRBDF2 Trapezoidal"
        ),
        "io": "Scene export_motion load_scene write_damping_page write_surface",
        "io.enrich": "Enriched enrich",
        "io.rigged_creature": "write_rigged_creature",
        "mass": "ConsistentMass LumpedMass",
        "materials": "Corotational Material NeoHookean StVK StableNeoHookean",
        "mesh": (
            "Embedding HexMesh Mesh MeshWarning QuadraticTetMesh SheetMesh SpringMesh Surface "
            "TetMesh VolumeMesh read_mesh read_sheet read_surface read_vertex_list write_mesh "
            "write_sheet"
        ),
        "motion": "Motion",
        "recording": "Recorder read_motion",
        "reduction.basis": (
            "Basis joined_basis mass_pca modal_derivative_basis motion_basis picked_basis"
        ),
        "reduction.crowd": "CrowdSimulation",
        "reduction.cubature": "Cubature CubatureWarning",
        "reduction.cubature_training": "train_cubature",
        "reduction.derivatives": "modal_derivatives",
        "reduction.example_damping": "ExampleWarning",
        "reduction.floating_simulation": "FloatingSimulation",
        "reduction.model": "ReducedModel",
        "reduction.model_file": "load_model",
        "reduction.modes": "Modes vibration_modes",
        "reduction.newton": "DenseNewton",
        "reduction.reducing": "reduce",
        "reduction.simulation": "ReducedSimulation",
        "reduction.sketch": "Sketch sketch_basis",
        "simulation": "Simulation",
        "solvers": (
            "ADMM AutomaticSolver Cholesky ConjugateGradients Dissipation KeptCholesky "
            "Multigrid Newton"
        ),
        "springs": "SpringNetwork",
        "statics": "static_shape",
        "supports": "Support",
        "threads": "set_thread_count thread_count",
    },
)
