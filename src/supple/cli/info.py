"""``supple info``: what is in a file."""

from __future__ import annotations

import argparse
import json
from typing import Any

from supple.cli.progress import rows_text, say
from supple.workflows.describing import describe
from supple.workflows.enrich.result import errors_text


def command(given: argparse.Namespace) -> int:
    found = describe(given.file)
    if given.json:
        say(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    kind = "character" if "character" in found else found["kind"]
    rows_of, head = _KINDS.get(kind, (_mesh_rows, "a solid of {kind}"))
    notes = found.get("notes", ())
    if kind == "scene" and notes:
        head = "a scene that reads well; see the notes below"
    say(f"{found['file']}: {head.format_map(found)}")
    say(rows_text([*rows_of(found), *(("note", note) for note in notes)]))
    return 0


def _scene_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    ahead = found["forecast"]
    rows = [("title", found["title"]), *found["facts"].items()]
    rows.append(("Steps", f"{ahead['steps']:,}, and {ahead['frames']:,} frames"))
    if ahead["modes"]:
        hertz = ", ".join(f"{1 / mode['period']:.3g}" for mode in ahead["modes"])
        first = ahead["modes"][0]
        slowest = f"the slowest takes {first['period']:.3g} s, {first['steps']:.3g} steps"
        rows.append(("Natural frequencies", f"{hertz} Hz, …; {slowest}"))
    for swing in ahead["examples"]:
        about = f"swings in about {swing['period']:.3g} s, {swing['steps']:.3g} steps"
        rows.append((f"Example {swing['name']}", about))
    for each in ahead["reach"]:
        about = f"about {each['least']:.3g} to {each['most']:.3g} can be left"
        rows.append(("Target", f"{each['target']}: {each['wanted']:.3g} wanted; {about}"))
    if ahead["design"] is not None:
        rows.append(("Design", _design_text(ahead["design"])))
    return rows


def _design_text(ahead: dict[str, Any]) -> str:
    text = f"about {ahead['releases']} releases, {ahead['find']:,} steps in {ahead['space']} space"
    if ahead["check"]:
        text += f"; then {ahead['check']:,} in full space to check it"
    if ahead["report"]:
        text += f", and {ahead['report']:,} for the report"
    return text


def _mesh_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    skin = found["boundary"]
    rows = [
        ("vertices", f"{found['vertices']:,}"),
        ("cells", f"{found['cells']:,}"),
        ("volume", f"{found['volume']:.6g} m³"),
        *_place_rows(found),
        ("quality", f"worst {found['quality']['worst']:.3f}, mean {found['quality']['mean']:.3f} "
                    "(1 is best)"),
        ("boundary", f"{skin['triangles']:,} triangles, {skin['area']:.6g} m², "
                     f"{'closed' if skin['closed'] else 'not closed'}"),
        ("memory", f"about {found['memory'] / 1e6:,.0f} MB to simulate"),
    ]  # fmt: skip
    for name, region in found["regions"].items():
        text = f"{region['cells']:,} cells, {region['volume']:.6g} m³"
        if "young" in region:
            text += (
                f"; Young's modulus {region['young']:.4g} Pa, Poisson ratio "
                f"{region.get('poisson', float('nan')):.4g}, density "
                f"{region.get('density', float('nan')):.4g} kg/m³"
            )
        rows.append((f"region {name}", text))
    return rows


def _surface_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    inside = f", {found['volume']:.6g} m³ inside" if "volume" in found else ""
    return [
        ("vertices", f"{found['vertices']:,}"),
        ("triangles", f"{found['triangles']:,}"),
        ("area", f"{found['area']:.6g} m²"),
        *_place_rows(found),
        ("closed", f"{'yes' if found['closed'] else 'no'}{inside}"),
    ]


def _place_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    low, high = found["bounds"]
    spans = ", ".join(f"{a} {x:.4g} to {y:.4g}" for a, x, y in zip("xyz", low, high, strict=True))
    shortest, longest = found["edges"]
    return [("bounds", f"{spans} m"), ("edges", f"{shortest:.4g} to {longest:.4g} m")]


def _motion_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    rate = found["frame rate"]
    rows = [
        ("frames", f"{found['frames']:,}" + (f", {rate:.4g} a second" if rate else "")),
        ("time", f"{found['start']:.6g} to {found['start'] + found['duration']:.6g} s"),
        ("moves", f"up to {found['largest displacement']:.4g} m from its first frame"),
    ]
    for name, body in found["bodies"].items():
        about = f"{body['mesh']}, up to {body['largest displacement']:.4g} m from its first frame"
        rows.append((name, about))
    for name, energy in found["energies"].items():
        first, most, last = energy["first"], energy["largest"], energy["last"]
        rows.append((name, f"{first:.4g} J at first, at most {most:.4g} J, {last:.4g} J at last"))
    rows.append(("size", f"{found['bytes'] / 1e6:,.1f} MB"))
    rows += [(f"text {name}", f"{count} characters") for name, count in found["texts"].items()]
    return rows


def _model_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    hertz = [f"{f:.3g}" for f in found["frequencies"][:6]]
    energy = "exact, a polynomial (StVK)"
    if "cubature" in found:
        cubature = found["cubature"]
        energy = f"cubature with {cubature['cells']:,} {cubature['of']}"
        if cubature["training error"] is not None:
            energy += f", error of the force {100 * cubature['training error']:.2g} % in training"
        if cubature["test error"] is not None:
            energy += f", {100 * cubature['test error']:.2g} % in test poses"
    rows = [
        ("coordinates", f"{found['coordinates']}"),
        ("supports", "none: the body is free" if found["free"] else "held"),
        ("frequencies", f"{', '.join(hertz)}{' …' if found['coordinates'] > 6 else ''} Hz"),
        ("energy", energy),
    ]
    rows[3:3] = [(name.lower(), text) for name, text in found["against the body"].items()]
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


def _damping_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [("base", found["base"])]
    for example in found["examples"]:
        measure = "" if example["measure"] == "excitation" else f" of the {example['measure']}"
        text = f"{example['in words']}{measure}; up to {example['amplitude']:.4g} m at 1"
        rows.append((example["name"], text))
    if found.get("overall"):
        rows.append(("all motion", found["overall"]))
    if found["examples"]:
        rows.append(("counted from", found["about"]))
        rows.append(("for", f"a mesh of {found['examples'][0]['vertices']:,} vertices"))
    return rows


def _character_rows(skin: dict[str, Any]) -> list[tuple[str, str]]:
    found = skin["character"]
    clips = ", ".join(f"{name} ({length:.2f} s)" for name, length in found["clips"].items())
    count = found["soft targets"]
    flesh = "none yet; supple enrich gives it some" if clips else "none; it has no clips to follow"
    return [
        ("joints", f"{found['joints']:,}, of {', '.join(found['parts'])}"),
        ("clips", clips or "none"),
        ("flesh", f"{count} morph targets that clips move, by supple enrich" if count else flesh),
        *_surface_rows(skin),
    ]


def _flesh_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    joints = "" if found["joints"] is None else f" of {found['joints']:,} joints"
    return [
        ("character", f"{found['rig']}{joints}, {found['skin vertices']:,} vertices"),
        ("coordinates", f"{found['coordinates']}, in each of {found['poses']} poses"),
        ("cubature", f"{found['cubature cells']:,} cells; {errors_text(found['cubature errors'])}"),
        ("frequency", f"{found['frequency']:.3g} Hz when it is pushed"),
        ("size", f"{found['bytes'] / 1e6:,.1f} MB"),
        ("use", "supple enrich CHARACTER --model " + found["file"]),
    ]


_KINDS = {
    "scene": (_scene_rows, "a scene, and nothing wrong with it"),
    "motion": (_motion_rows, "a motion of {mesh}"),
    "reduced model": (_model_rows, "a reduced model of {mesh}"),
    "pose-space model": (_flesh_rows, "a model of flesh, {mesh}"),
    "damping": (_damping_rows, "a damping"),
    "character": (_character_rows, "a character and its skin"),
    "surface": (_surface_rows, "a surface"),
}
"""How each kind is told in rows, and the line above them; all others are meshes."""
