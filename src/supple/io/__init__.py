"""Motions and surfaces for other programs."""

from supple.io.export import export_motion
from supple.io.gltf.motion import GltfReport
from supple.io.report.design_report import write_damping_page
from supple.io.report.run_report import Run, write_report
from supple.io.scene.scene import Scene, load_scene
from supple.io.surfaces import write_surface

__all__ = [
    "GltfReport",
    "Run",
    "Scene",
    "export_motion",
    "load_scene",
    "write_damping_page",
    "write_report",
    "write_surface",
]
