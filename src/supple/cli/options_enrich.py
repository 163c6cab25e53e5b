"""What can be typed to give a character flesh."""

from __future__ import annotations

import argparse
from typing import Any

from supple.character.tissue.flesh import FREQUENCY, SETTLE
from supple.cli.values import add_common, command, count, number, positive, whole


def add_enrich(commands: Any) -> None:
    enrich = command(
        commands,
        "enrich",
        "give an animated character flesh that moves",
        "Reads a rigged, animated character (.glb, .gltf) and writes it again with flesh that "
        "follows its motion, swings and settles. Skeleton, skin, materials, textures and other "
        "clips stay as they are; the flesh is a few morph targets that the clips move, and plays "
        "in any viewer or engine. Loops still loop. Stop it with Ctrl-C: the same command goes on "
        "with what was done.",
        "example:\n"
        "  supple enrich cow.glb -o cow_soft.glb\n"
        "  supple enrich cow.glb --list\n"
        "  supple enrich cow.glb --clips Walk,Gallop --settle 0.4s --soft tail=2 --soft head=0\n"
        "  supple enrich cow.glb --quality draft --targets 8 --report cow.html\n"
        "  supple enrich cow.glb -o cow.usdc --clips Walk\n"
        "  supple enrich herd/*.glb -o soft/\n\n"
        "writes, whole or not at all, by the ending of the output's name:\n"
        "  .glb                the same character, soft\n"
        "  .usd .usda .usdc    points of every frame, a file for each clip\n"
        "  .npz .pc2 .mdd      vertex caches, a file for each clip",
    )
    enrich.add_argument(
        "sources",
        nargs="+",
        metavar="CHARACTER",
        help="the file to read, .glb or .gltf; several, or a folder of them, are enriched one "
        "after the other, and --output, --report and --model are folders then",
    )
    enrich.add_argument(
        "--output",
        "-o",
        metavar="FILE",
        help="what to write; by default named like the character with _soft.glb, in the current "
        "folder",
    )
    enrich.add_argument(
        "--clips",
        metavar="A,B",
        help="clips to enrich, by name or pattern such as '*Walk*'; all by default",
    )
    enrich.add_argument(
        "--soft",
        action="append",
        type=softness,
        default=[],
        metavar="[NAME=]S",
        help="how soft: 1 as by default, 2 twice as soft, 0 rigid; for a part of the body such as "
        "'left arm=2', for joints by name or pattern such as 'Tail*=2', or without a name for all; "
        "may be repeated, and the last that fits counts",
    )
    enrich.add_argument(
        "--list", action="store_true", help="only tell which clips, parts and joints can be named"
    )
    enrich.add_argument(
        "--frequency",
        type=positive,
        metavar="HZ",
        help=f"natural frequency of flesh that is pushed ({FREQUENCY:g})",
    )
    enrich.add_argument("--swing", type=positive, help=argparse.SUPPRESS)
    enrich.add_argument(
        "--settle",
        type=seconds,
        default=SETTLE,
        metavar="TIME",
        help=f"time in which a push dies down to a twentieth, e.g. 0.4s or 300ms ({SETTLE:g}s)",
    )
    enrich.add_argument(
        "--quality",
        choices=("draft", "good", "best"),
        help="finer flesh against time and size of the file (good)",
    )
    enrich.add_argument(
        "--tolerance",
        type=positive,
        metavar="SHARE",
        help="how far vertices of a .glb file may be off, of the body's size, e.g. 1e-3; by "
        "default 10, 4 or 1 %% by quality of the way that flesh moves",
    )
    enrich.add_argument(
        "--targets",
        type=count,
        metavar="K",
        help="most morph targets to use, as many as the tolerance needs by default; many game "
        "engines take 8 well",
    )
    enrich.add_argument(
        "--rate",
        type=positive,
        metavar="FPS",
        help="frames a second of the flesh; by default those of the clips' own keys",
    )
    enrich.add_argument(
        "--once",
        metavar="A,B",
        help="clips that start from rest and do not loop; by default told from their ends",
    )
    enrich.add_argument(
        "--length",
        type=positive,
        metavar="M",
        help="longest side of the skin [m], for gravity; by default that of the file, but over "
        "30 m are taken for centimetres, and less than 5 cm for another unit",
    )
    enrich.add_argument(
        "--sag",
        action="store_true",
        help="let flesh hang down from where it was modelled; by default it hangs there already",
    )
    enrich.add_argument(
        "--no-skull",
        action="store_true",
        help="hold flesh by the bones that joints tell of and by nothing else; heads wobble",
    )
    enrich.add_argument(
        "--no-contact",
        action="store_true",
        help="let parts that touch go into each other",
    )
    enrich.add_argument(
        "--regions",
        type=count,
        metavar="N",
        help="shapes of their own for N limbs, for small motions beside large ones; wants "
        "--quality best",
    )
    enrich.add_argument("--seed", type=whole, metavar="N", help="of random choices (0)")
    enrich.add_argument(
        "--model",
        metavar="FILE",
        help="keep the model of the flesh in this file, *.supple, and take it from there where it "
        "exists: other clips, times to settle and outputs then take seconds. What of the flesh is "
        "not said is then as in the file, and what is said must be",
    )
    enrich.add_argument("--report", metavar="FILE", help="also write a page with pictures, *.html")
    add_common(enrich)


def softness(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        found = number(value)
    except argparse.ArgumentTypeError as error:
        part = name or value or "tail"
        raise argparse.ArgumentTypeError(
            f"{text!r} has no number in it; {part}=2 is twice as soft, {part}=0 rigid"
        ) from error
    if found < 0:
        raise argparse.ArgumentTypeError(f"{text!r}: softness is 0 or more")
    return name.strip() or "*", found


def seconds(text: str) -> float:
    units = {"ms": 1e-3, "s": 1.0}
    unit = next((each for each in units if text.endswith(each)), "")
    try:
        return positive(text.removesuffix(unit).strip()) * units.get(unit, 1.0)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time above 0; write 0.4s or 400ms"
        ) from error
