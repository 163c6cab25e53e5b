"""Soft bodies whose motion settles the way you want it to."""

from supple.core.lazy import lazy_exports

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "contact.attachments": "Glue Pin Spring",
        "bodies.rigid": "RigidBody",
        "bodies.solid": "Body",
        "character.skeleton.bones": "bones_of",
        "character.training.building": "pose_space_model",
        "character.skeleton.character": "Character Dressing",
        "io.gltf.character": "read_character",
        "character.runtime.simulation": "PoseSimulation",
        "character.runtime.crowd": "PoseCrowd",
        "character.runtime.shape": "Wind",
        "character.tissue.painting": "painted stiffness_by_joint",
        "character.training.pose_choice": "candidates_of choose_poses missing_pose",
        "character.training.midpoint": "BetweenPosesWarning",
        "character.model.file": "load_pose_space_model",
        "character.model.pose_space_model": "PoseSpaceModel",
        "character.tissue.regions": "local_regions regions_from_skeleton",
        "character.rigs": (
            "BendRig BlackBoxRig Blend BlendShapeRig LatticeRig PoseRig PoseSpaceDeformation "
            "SkeletonRig WireRig"
        ),
        "character.tissue.volume": "Volume character_volume",
        "bodies.cloth": (
            "Bending Cloth ClothMaterial HingeBending IsotropicCloth OrthotropicCloth "
            "QuadraticBending StrainLimit"
        ),
        "contact": (
            "AnimatedMesh Box Capsule Cone Cylinder HeightField MeshObstacle Obstacle Plane Rails "
            "SelfContact Sphere Torus"
        ),
        "damping": (
            "Caughey ClothDrag ClothStrainRate Conserving Curve Damping Drag Example "
            "ExampleDamping Joining MatchedStrainRate Measure MomentumConserving PowerLaw "
            "PrincipalStrain Rayleigh SplineDamping SplineOver SpringStrainRate StiffnessAt "
            "StrainRate StrengthWarning Viscous felt_strengths load_damping save_damping"
        ),
        "design": (
            "DampingRatio DesignInterrupted DesignReport EachCycle Envelope Experiment Fit "
            "HalfLife MatchingWarning MaterialFit RecoveryFit RestShape RingDown RingDownFit "
            "RingDownWarning SettlingTime ShareLeft StaticObservation Unknown Unloading "
            "bent_example best_linear_damping compare_ring_downs design_damping fit_damping "
            "fit_material fit_recovery fit_ring_down fit_stiffness redesign rest_shape "
            "shape_between shape_of_frame shape_within wish"
        ),
        "bodies.elastic_body": "ElasticBody",
        "core.errors": "ContactNotKept InputError MeshError MissingExtra StepFailed SuppleError",
        "integrators": (
            "BDF2 BackwardEuler Bathe Integrator Newmark RK4 SymplecticEuler TRBDF2 Trapezoidal"
        ),
        "io": "Scene export_motion load_scene write_damping_page write_surface",
        "workflows.enrich.enrich": "enrich",
        "workflows.enrich.result": "Enriched",
        "io.gltf.rigged_creature": "write_rigged_creature",
        "bodies.mass": "ConsistentMass LumpedMass",
        "materials": (
            "Corotational Material MaterialWarning NeoHookean OrthotropicStVK SplineMaterial StVK "
            "StableNeoHookean"
        ),
        "mesh": (
            "Embedding FloatingMesh HexMesh LatticeFilling Mesh MeshWarning QuadraticTetMesh "
            "ReducedMesh RigidMesh SheetMesh SpringMesh Surface TetMesh VolumeMesh read_mesh "
            "read_sheet read_surface read_vertex_list write_mesh write_sheet"
        ),
        "damping.designed": "DesignWarning",
        "dynamics.motion": "Motion",
        "dynamics.recording": "Recorder read_motion",
        "reduction.basis": (
            "Basis joined_basis mass_pca modal_derivative_basis motion_basis picked_basis"
        ),
        "reduction.body": "ReducedBody",
        "reduction.floating_body": "FloatingBody",
        "reduction.runtime.crowd": "CrowdSimulation",
        "reduction.cubature.cubature": "Cubature CubatureWarning",
        "reduction.cubature.training": "train_cubature",
        "reduction.derivatives": "modal_derivatives",
        "reduction.damping.examples": "ExampleWarning",
        "reduction.errors.frequencies": "ModelWarning",
        "reduction.errors.motion": "MotionError motion_error",
        "reduction.errors.repair": "repaired_basis",
        "reduction.explicit": "ExplicitReducedSimulation",
        "reduction.runtime.floating_simulation": "FloatingSimulation",
        "reduction.model": "ReducedModel",
        "reduction.model_file": "load_model",
        "reduction.modes": "Modes vibration_modes",
        "reduction.runtime.newton": "DenseNewton",
        "reduction.reducing": "reduce",
        "reduction.runtime.simulation": "ReducedSimulation",
        "reduction.sketch": "Sketch sketch_basis",
        "dynamics.simulation": "Simulation",
        "solvers": (
            "ADMM AutomaticSolver Cholesky ConjugateGradients Dissipation LaggedCholesky "
            "Multigrid Newton"
        ),
        "bodies.springs": "SpringNetwork",
        "dynamics.statics": "static_shape",
        "bodies.supports": "Support",
        "core.threads": "set_thread_count thread_count",
    },
    renamed={"KeptCholesky": "LaggedCholesky"},
)
