"""What ``supple info`` tells of a reduced model."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from supple import load_model


def model_facts(path: Path) -> dict[str, Any]:
    """What is in the file of a reduced model."""
    model = load_model(path)
    made = {
        "kind": "reduced model",
        "mesh": repr(model.mesh),
        "coordinates": model.size,
        "free": model.floating is not None,
        "frequencies": model.frequencies.tolist(),
        "regions": {
            " and ".join(group.regions) or "the rest": {
                "cells": len(group.cells),
                "young": group.young,
                "poisson": group.poisson,
                "density": group.density,
            }
            for group in model.groups
        },
        "skin vertices": None if model.skin is None else len(model.skin.vertices),
        "bytes": path.stat().st_size,
    }
    if model.cubature is not None:
        made["cubature"] = {
            "cells": model.cubature.size,
            "training error": _known(model.cubature.training_error),
            "test error": _known(model.cubature.test_error),
        }
    return made


def _known(error: float) -> float | None:
    return None if math.isnan(error) else error


def model_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The same as lines to print."""
    hertz = [f"{f:.3g}" for f in found["frequencies"][:6]]
    energy = "exact, a polynomial (StVK)"
    if "cubature" in found:
        cubature = found["cubature"]
        energy = f"cubature with {cubature['cells']:,} cells"
        if cubature["training error"] is not None:
            energy += f", error of the force {100 * cubature['training error']:.2g} % in training"
    rows = [
        ("coordinates", f"{found['coordinates']}"),
        ("supports", "none: the body is free" if found["free"] else "held"),
        ("frequencies", f"{', '.join(hertz)}{' …' if found['coordinates'] > 6 else ''} Hz"),
        ("energy", energy),
    ]
    if found["skin vertices"] is not None:
        rows.append(("skin", f"{found['skin vertices']:,} vertices"))
    units = {"young": "Pa", "poisson": "", "density": "kg/m³"}
    for name, region in found["regions"].items():
        values = [
            f"{key} {'varies' if region[key] is None else f'{region[key]:.4g} {unit}'.strip()}"
            for key, unit in units.items()
        ]
        rows.append((f"region {name}", f"{region['cells']:,} cells; {', '.join(values)}"))
    rows.append(("size", f"{found['bytes'] / 1e6:,.1f} MB"))
    return rows
