"""What ``supple info`` tells of a damping file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from supple import Damping, ExampleDamping, load_damping
from supple.cli.words import base_text


def damping_facts(path: Path) -> dict[str, Any]:
    """What is in a damping file."""
    damping = load_damping(path)
    made: dict[str, Any] = {"kind": "damping", "examples": []}
    if not isinstance(damping, Damping):
        return {**made, "base": "; ".join(map(base_text, damping)) or "none"}
    if not isinstance(damping, ExampleDamping):
        return {**made, "base": base_text(damping)}
    for i, example in enumerate(damping.examples):
        made["examples"].append(
            {
                "name": example.name or f"example {i + 1}",
                "vertices": len(example.shape),
                "amplitude": example.amplitude,
                "measure": example.measure.value,
                "curve": example.curve.table(),
                "in words": str(example.curve),
            }
        )
    made |= {"base": base_text(damping.base), "symmetric": damping.symmetric}
    made["overall"] = None if damping.overall is None else str(damping.overall)
    made["about"] = "the rest shape" if damping.about is None else "a shape of its own"
    return made


def damping_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The same as lines to print."""
    rows = [("base", found["base"])]
    for example in found["examples"]:
        measure = "" if example["measure"] == "excitation" else f" of the {example['measure']}"
        rows.append(
            (
                example["name"],
                f"{example['in words']}{measure}; up to {example['amplitude']:.4g} m at 1",
            )
        )
    if found.get("overall"):
        rows.append(("all motion", found["overall"]))
    if found["examples"]:
        rows.append(("counted from", found["about"]))
        rows.append(("for", f"a mesh of {found['examples'][0]['vertices']:,} vertices"))
    return rows
