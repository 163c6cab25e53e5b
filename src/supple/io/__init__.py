"""Motions and surfaces for other programs."""

from supple.core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "export": "export_motion",
        "gltf.motion": "GltfReport",
        "report.design_report": "write_damping_page",
        "report.run_report": "Run write_report",
        "scene.scene": "Scene load_scene",
        "surfaces": "write_surface",
    },
)
