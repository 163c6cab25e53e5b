"""``supple enrich``: flesh for an animated character."""

from __future__ import annotations

import argparse
import fnmatch
import re
import sys
import warnings
from pathlib import Path

import supple as sp
from supple.character.model.pose_space_model import PoseSpaceModel
from supple.character.training.midpoint import BetweenPosesWarning
from supple.cli.enrich_list import tell_names
from supple.cli.info_character import errors_text
from supple.cli.progress import Reporter, say
from supple.core.errors import InputError
from supple.io.gltf.character import read_character
from supple.reduction.cubature.cubature import CubatureWarning
from supple.workflows.describing_character import cubature_errors
from supple.workflows.enrich.enrich import Enriched, enrich
from supple.workflows.enrich.files import ENRICHED
from supple.workflows.enrich.page import length, write_enrich_report
from supple.workflows.enrich.soft_character import flesh_frequency

_MANY = 8  # morph targets: more than these are too many for some engines


def command(given: argparse.Namespace) -> int:
    if given.list:
        tell_names(given.source)
        return 0
    if given.threads is not None:
        sp.set_thread_count(given.threads)
    target = Path(given.output or f"{Path(given.source).stem}_soft.glb")
    _check(target, given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            made = _enriched(target, given)
        except KeyboardInterrupt:
            kept = _checkpoint(target)
            if kept.exists():
                print(
                    f"What is done is in {kept}; the same command goes on from it", file=sys.stderr
                )
            raise
        except InputError as error:
            error.args = (_in_options(str(error)),)
            raise
    for note in [*made.notes, *map(_warned, caught)]:
        print(f"note: {_in_options(note)}", file=sys.stderr)
    rows = facts(made, given.source)
    if given.report is not None:
        title = f"{Path(given.source).stem}, with flesh"
        write_enrich_report(given.report, made, title=title, facts=rows)
    for file in made.files:
        say(f"{file}: {file.stat().st_size / 1e6:,.2f} MB", quiet=given.quiet)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        say(f"  {name:<{width}}  {value}", quiet=given.quiet)
    if given.report is not None:
        say(f"Look: {given.report}", quiet=given.quiet)
    return 0


def _warned(caught: warnings.WarningMessage) -> str:
    """What a warning says; how to choose cells or poses is nothing that the command asks for."""
    text = str(caught.message)
    short = isinstance(caught.message, CubatureWarning | BetweenPosesWarning)
    return text.split(";")[0] if short else text


def _in_options(text: str) -> str:
    """Words of the library in those of the command: length= is --length, skull= --no-skull."""
    text = re.sub(r"\b(skull|contact)=", r"no-\1=", text)
    names = "no-skull|no-contact|clips|length|model|quality|rate|regions|seed|settle|soft|swing"
    return re.sub(rf"\b({names}|targets)=(?=(\S?))", _option, text)


def _option(found: re.Match[str]) -> str:
    """``swing=`` as ``--swing``, and ``swing=4`` as ``--swing 4``."""
    name, after = found.groups()
    return f"--{name} " if after and after not in ",;.:)" else f"--{name}"


def _check(target: Path, given: argparse.Namespace) -> None:
    """Stops before the work where its result could not be written."""
    if target.suffix.lower() not in ENRICHED:
        raise InputError(f"--output {target}: the name must end in {', '.join(ENRICHED)}")
    wanted = [(target, "--output"), (given.report, "--report"), (given.model, "--model")]
    for name, option in wanted:
        if name is None:
            continue
        path = Path(name)
        if not path.parent.is_dir():
            raise InputError(f"{option} {path}: there is no folder {path.parent}")
        if path.is_dir():
            raise InputError(f"{option} {path}: it is a folder; give a file name")
        if path.exists() and Path(given.source).exists() and path.samefile(given.source):
            raise InputError(f"{option} {path} would replace the character; give another name")
    if given.report is not None and Path(given.report).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--report {given.report}: the name of a page ends in .html")
    if given.model is not None and Path(given.model).suffix.lower() != ".supple":
        raise InputError(f"--model {given.model}: the name of a model ends in .supple")


def _enriched(target: Path, given: argparse.Namespace) -> Enriched:
    with Reporter("enriching", quiet=given.quiet) as reporter:
        return enrich(
            given.source,
            target,
            clips=_matching(given.source, given.clips),
            soft=_in_order(given.soft) or None,
            swing=given.swing,
            settle=given.settle,
            quality=given.quality,
            targets=given.targets,
            rate=given.rate,
            length=given.length,
            sag=given.sag,
            skull=False if given.no_skull else None,
            contact=False if given.no_contact else None,
            regions=given.regions,
            once=_matching(given.source, given.once) or (),
            seed=given.seed,
            model=given.model,
            checkpoint=_checkpoint(target),
            progress=reporter,
        )


def _checkpoint(target: Path) -> Path:
    """The folder of what is finished, while the work goes on."""
    return target.with_name(target.name + ".checkpoint")


def _in_order(softness_factors: list[tuple[str, float]]) -> dict[str, float]:
    """Wishes by name, of which one that is repeated counts where it comes last."""
    found: dict[str, float] = {}
    for name, value in softness_factors:
        found.pop(name, None)
        found[name] = value
    return found


def _matching(source: str, text: str | None) -> list[str] | None:
    """The clips that names and patterns in a list stand for."""
    if text is None:
        return None
    clips = list(read_character(source).clips)
    found: list[str] = []
    for pattern in (part.strip() for part in text.split(",")):
        fits = [name for name in clips if fnmatch.fnmatchcase(name, pattern)]
        fits = fits or [name for name in clips if pattern.lower() in name.lower()]
        if pattern and not fits:
            there = ", ".join(clips) or "none"
            raise InputError(f"there is no clip {pattern!r}; there is {there}")
        found += [name for name in fits if pattern and name not in found]
    if not found:
        raise InputError(f"a list of clips is empty; there is {', '.join(clips) or 'none'}")
    return found


def _apart(model: PoseSpaceModel) -> str:
    """How different flesh is from pose to pose."""
    angles = model.measured.get("angles", [])[1:]
    return f" up to {max(angles):.0f}° apart" if angles else ""


def _until(made: Enriched) -> str:
    lost = [motion.clip for motion in made.motions if not motion.agrees]
    return f", in which {', '.join(lost)} did not" if lost else " until they did"


def facts(made: Enriched, source: str) -> list[tuple[str, str]]:
    """What to tell of the result."""
    character, model = made.rigged.character, made.model
    loops = sum(motion.loops for motion in made.motions)
    rounds = max(motion.rounds for motion in made.motions)
    rows = [
        (
            "character",
            f"{source}: {character.rig.n_joints - 1} joints, "
            f"{len(character.skin.vertices):,} vertices, {made.size:.3g} m from corner to corner",
        ),
        (
            "clips",
            f"{len(made.motions)}, of which {loops} loop"
            + (f"; repeated for up to {rounds} rounds{_until(made)}" if loops else ""),
        ),
    ]
    if model is not None:
        mesh = model.tet_rig.mesh
        rows += [
            (
                "flesh",
                f"{mesh.n_cells:,} tets, {model.n_coordinates} coordinates, {model.n_poses} "
                f"poses{_apart(model)}, {len(model.cells)} cubature cells",
            ),
            ("cubature", errors_text(cubature_errors(model))),
            ("swings", f"{flesh_frequency(model):.3g} times a second when it is pushed"),
            ("settles", f"to a twentieth within {made.settle:.2g} s"),
        ]
    far = max(made.motions, key=lambda motion: motion.largest)
    rows.append(
        (
            "moves",
            f"by {length(far.largest)} at most, {100 * far.largest / made.size:.2g} % of the "
            f"body, in {far.clip}",
        )
    )
    if made.targets:
        many = "; some engines take no more than 8: --targets 8" if made.targets > _MANY else ""
        noun = "morph target" if made.targets == 1 else "morph targets"
        rows.append(("targets", f"{made.targets} {noun}{many}"))
        share = 100 * made.max_error / made.size
        rows.append(("error", f"{length(made.max_error)} at most, {share:.2g} % of the body"))
    parts = ", ".join(f"{name} {taken:.1f} s" for name, taken in made.seconds.items())
    rows.append(("time", f"{sum(made.seconds.values()):.1f} s: {parts}"))
    return rows
