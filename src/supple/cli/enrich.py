"""``supple enrich``: flesh for animated characters."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import supple as sp
from supple.character.skeleton.body_parts import body_parts
from supple.cli.failures import DONE, MISSED, in_options
from supple.cli.many import files_of, for_each
from supple.cli.progress import Reporter, rows_text, say
from supple.cli.values import asked
from supple.core.errors import InputError, spelled
from supple.io.gltf.character import read_rigged
from supple.mesh.files.formats import GLTF
from supple.workflows.enrich.files import ENRICHED
from supple.workflows.enrich.result import Enriched, enriched_facts
from supple.workflows.enrich.softness import hard_names, skin_by_name

_SOFT = "_soft"
_OPTIONS = (
    "clips frequency settle quality tolerance targets rate length sag regions seed model report"
)
_ENDINGS = (*ENRICHED, ".html", ".htm", ".supple")


def command(given: argparse.Namespace) -> int:
    if given.swing is not None:
        print("note: --swing is called --frequency now", file=sys.stderr)
        given.frequency = given.swing if given.frequency is None else given.frequency
    sources = files_of(given.sources, _is_character, "character (.glb, .gltf)")
    if len(sources) > 1 and not given.list:
        _check_folders(sources, given)
    return for_each(sources, "source", _one, given)


def _is_character(path: Path) -> bool:
    """Whether a file in a folder is to be enriched: no result that lies beside what it is of."""
    if path.suffix.lower() not in GLTF or not path.is_file():
        return False
    before = path.stem.removesuffix(_SOFT)
    return before == path.stem or not any(path.with_name(before + end).exists() for end in GLTF)


def _check_folders(sources: list[str], given: argparse.Namespace) -> None:
    """Several characters are written into folders, each under a name of its own."""
    for option in ("output", "report", "model"):
        name = getattr(given, option)
        if name is not None and (Path(name).suffix in _ENDINGS or Path(name).is_file()):
            raise InputError(
                f"--{option} {name}: {len(sources)} characters need a folder; give its name"
            )
    stem, count = Counter(Path(source).stem for source in sources).most_common(1)[0]
    if count > 1:
        alike = ", ".join(source for source in sources if Path(source).stem == stem)
        raise InputError(f"{alike} would be written under one name; enrich them one by one")


def _place(given: argparse.Namespace, option: str, file: str) -> str | None:
    """The file that an option names: itself, or one in the folder that it names."""
    name: str | None = getattr(given, option)
    several = len(given.sources) > 1 or Path(given.sources[0]).is_dir()
    if name is None or not (several or name.endswith("/") or Path(name).is_dir()):
        return name
    Path(name).mkdir(parents=True, exist_ok=True)
    return str(Path(name) / file)


def _one(given: argparse.Namespace) -> int:
    if given.list:
        _tell_names(given.source)
        return DONE
    stem = Path(given.source).stem
    given.output = _place(given, "output", f"{stem}{_SOFT}.glb") or f"{stem}{_SOFT}.glb"
    given.report = _place(given, "report", f"{stem}.html")
    given.model = _place(given, "model", f"{stem}.supple")
    made = _enriched(given)
    spelling = in_options(given)
    for note in made.notes:
        print(f"note: {spelled(note, spelling)}", file=sys.stderr)
    for file in made.files:
        say(f"{file}: {file.stat().st_size / 1e6:,.2f} MB", quiet=given.quiet)
    say(rows_text(enriched_facts(made)), quiet=given.quiet)
    if made.report is not None:
        say(f"Look: {made.report}", quiet=given.quiet)
    for concern in made.concerns:
        print(f"look at it: {spelled(concern, spelling)}", file=sys.stderr)
    return MISSED if made.concerns else DONE


def _enriched(given: argparse.Namespace) -> Enriched:
    checkpoint = Path(given.output + ".checkpoint")
    try:
        with Reporter("enriching", quiet=given.quiet) as reporter:
            return sp.enrich(
                given.source,
                given.output,
                **asked(given, _OPTIONS),
                soft=_in_order(given.soft) or None,
                skull=False if given.no_skull else None,
                contact=False if given.no_contact else None,
                once=given.once or (),
                checkpoint=checkpoint,
                progress=reporter,
            )
    except KeyboardInterrupt:
        if checkpoint.exists():
            done = f"What is done is in {checkpoint}; the same command goes on from it"
            print(done, file=sys.stderr)
        raise


def _in_order(softness_factors: list[tuple[str, float]]) -> dict[str, float]:
    """Wishes by name, of which one that is repeated counts where it comes last."""
    found: dict[str, float] = {}
    for name, value in softness_factors:
        found.pop(name, None)
        found[name] = value
    return found


def _tell_names(source: str) -> None:
    """Prints the clips of a character, and the parts and joints that can be soft."""
    rigged = read_rigged(source)
    character = rigged.character
    say(f"{source}: names for --clips and --once")
    for clip in character.clips.values():
        say(f"  {clip.name}  ({clip.duration:.2f} s)")
    if not character.clips:
        say("  none: it has no clips")
    say("names for --soft, parts of the body and the joints in them")
    parts = body_parts(character)
    width = max((len(name) for name in parts), default=0)
    for name, joints in parts.items():
        say(f"  {name:<{width}}  {', '.join(character.rig.names[joint] for joint in joints)}")
    things, hard = skin_by_name(rigged), hard_names(rigged)
    if things:
        say("names for --soft, materials and the like")
    width = max((len(name) for name in things), default=0)
    for name, mine in things.items():
        rigid = "  (hard unless named)" if name in hard else ""
        say(f"  {name:<{width}}  {mine.sum():,} vertices{rigid}")
