"""What ``supple info`` tells of a character, and of a model of its flesh."""

from __future__ import annotations

from typing import Any


def character_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The same as lines to print."""
    clips = ", ".join(f"{name} ({length:.2f} s)" for name, length in found["clips"].items())
    count = found["soft targets"]
    flesh = "none yet; supple enrich gives it some" if clips else "none; it has no clips to follow"
    return [
        ("joints", f"{found['joints']:,}, of {', '.join(found['parts'])}"),
        ("clips", clips or "none"),
        ("flesh", f"{count} morph targets that clips move, by supple enrich" if count else flesh),
    ]


def errors_text(errors: dict[str, dict[str, float]]) -> str:
    """The same in words; a model with one pose has none between poses."""
    where = {"training": "in training", "between": "between poses"}
    told = [
        f"{force} forces off by up to "
        + ", ".join(f"{100 * error:.2g} % {where[place]}" for place, error in places.items())
        for force, places in errors.items()
    ]
    return "; ".join(told) or "errors not measured"


def flesh_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """The same as lines to print."""
    joints = "" if found["joints"] is None else f" of {found['joints']:,} joints"
    return [
        ("character", f"{found['rig']}{joints}, {found['skin vertices']:,} vertices"),
        ("coordinates", f"{found['coordinates']}, in each of {found['poses']} poses"),
        ("cubature", f"{found['cubature cells']:,} cells; {errors_text(found['cubature errors'])}"),
        ("swings", f"{found['swing']:.3g} times a second when it is pushed"),
        ("size", f"{found['bytes'] / 1e6:,.1f} MB"),
        ("use", "supple enrich CHARACTER --model " + found["file"]),
    ]
