"""Motions and surfaces for other programs."""

from supple.io.export import export_motion
from supple.io.gltf import GltfReport
from supple.io.surfaces import write_surface

__all__ = ["GltfReport", "export_motion", "write_surface"]
