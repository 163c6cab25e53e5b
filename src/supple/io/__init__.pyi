"""Motions and surfaces for other programs."""

from supple.io.export import export_motion as export_motion
from supple.io.gltf.motion import GltfReport as GltfReport
from supple.io.report.design_report import write_damping_page as write_damping_page
from supple.io.report.run_report import Run as Run
from supple.io.report.run_report import write_report as write_report
from supple.io.scene.scene import Scene as Scene
from supple.io.scene.scene import load_scene as load_scene
from supple.io.surfaces import write_surface as write_surface
