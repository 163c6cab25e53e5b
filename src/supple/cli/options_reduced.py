"""What can be typed to make and run reduced models."""

from __future__ import annotations

from typing import Any

from supple.cli.values import (
    add_common,
    basis,
    command,
    count,
    names,
    number,
    poisson,
    positive,
    ratio,
)


def add_reduce(commands: Any) -> None:
    reduce = command(
        commands,
        "reduce",
        "make a small, fast model of a big body",
        "Makes a reduced model of a body: few coordinates that move it through large deformations "
        "thousands of times a second. MESH is a mesh, a surface to fill, or a built-in body (beam, "
        "bridge, creature, heart, spoon, tower). What is not said is taken from the file, or "
        "chosen and told.",
        "example:\n"
        "  supple reduce bridge --modes 20 --size 30 -o bridge.supple\n"
        "  supple reduce dragon.veg --fix y=min --regions wings,tail\n"
        "  supple reduce bunny.obj --voxels 40 --young 5e4\n"
        "  supple reduce jelly.msh --free --material StableNeoHookean\n\n"
        "writes the model, *.supple, whole or not at all; supple play runs it.",
    )
    reduce.add_argument("mesh", metavar="MESH", help="a mesh or surface file, or a built-in body")
    reduce.add_argument(
        "--output",
        "-o",
        metavar="FILE",
        help="the model to write, *.supple; by default named like the mesh, in the current folder",
    )
    reduce.add_argument(
        "--modes", type=count, default=20, metavar="K", help="vibration modes to start from (20)"
    )
    reduce.add_argument("--size", type=count, metavar="R", help="coordinates of the model (30)")
    reduce.add_argument(
        "--basis",
        type=basis,
        default="modal-derivatives",
        metavar="WHAT",
        help="modal-derivatives (the default), modes, or a recorded motion, *.motion",
    )
    reduce.add_argument(
        "--fix",
        action="append",
        metavar="WHERE",
        help="hold these vertices: x=min, z=max, x=0.5, x=0:0.5, a place of a built-in body, or a "
        "list of vertices (.bou); may be repeated. By default the first place of a built-in body, "
        "a .bou file beside the mesh, the lowest layer or, of a flat body, both ends",
    )
    reduce.add_argument("--free", action="store_true", help="hold nothing")
    reduce.add_argument(
        "--material",
        default="StVK",
        metavar="MODEL",
        help="StVK (exact, the default), NeoHookean, StableNeoHookean or Corotational (cubature)",
    )
    reduce.add_argument(
        "--young",
        type=positive,
        metavar="PA",
        help="Young's modulus [Pa]; by default that of the file or, where it has none, one that "
        "makes the body swing at 1.5 Hz",
    )
    reduce.add_argument("--poisson", type=poisson, metavar="NU", help="Poisson ratio (0.4)")
    reduce.add_argument("--density", type=positive, metavar="RHO", help="density [kg/m³] (1000)")
    reduce.add_argument(
        "--regions",
        type=names,
        metavar="A,B",
        help="regions whose material can be changed later",
    )
    reduce.add_argument("--skin", metavar="FILE", help="a surface to draw, moved with the body")
    filling = reduce.add_mutually_exclusive_group()
    filling.add_argument(
        "--edge", type=positive, metavar="M", help="fill a surface with tets of this edge [m]"
    )
    filling.add_argument(
        "--voxels", type=count, metavar="N", help="fill a surface with bricks, N along it (40)"
    )
    reduce.add_argument(
        "--resolution", type=count, metavar="N", help="bricks along a built-in body"
    )
    reduce.add_argument(
        "--scale", type=positive, default=1.0, metavar="F", help="multiply lengths by F first"
    )
    reduce.add_argument(
        "--up", choices=("y", "z"), help="axis that points up; y for .veg, .obj and .glb, else z"
    )
    add_common(reduce)


def add_play(commands: Any) -> None:
    play = command(
        commands,
        "play",
        "run a reduced model, and make a page to play with it",
        "Pulls a reduced model and lets it go, tells how fast it runs, and writes one page in "
        "which the model lives: drag it with the mouse, change its stiffness and damping.",
        "example:\n"
        "  supple play bridge.supple\n"
        "  supple play bridge.supple --pull 120 0 0 -40 --seconds 2 --export poke.glb\n\n"
        "writes:\n"
        "  play.html   beside the model, or --output: open it in a browser; needs no network\n"
        "  the motion  if asked by --export: .glb .usd .usda .usdc .pvd",
    )
    play.add_argument("model", metavar="MODEL", help="the reduced model, *.supple")
    play.add_argument(
        "--output", "-o", metavar="FILE", help="the page to write; play.html beside the model"
    )
    play.add_argument("--export", metavar="FILE", help="also write the run for other programs")
    play.add_argument(
        "--size", type=count, metavar="R", help="use the first R coordinates of the model only"
    )
    play.add_argument(
        "--pull",
        nargs=4,
        type=number,
        metavar=("VERTEX", "FX", "FY", "FZ"),
        help="pull this vertex with this force [N], then let go; by default the one that moves "
        "most in the first mode, by about a quarter of the body's size",
    )
    play.add_argument(
        "--seconds",
        type=positive,
        metavar="S",
        help="how long to run it: 4, or four periods of the first mode",
    )
    play.add_argument(
        "--dt",
        type=positive,
        metavar="S",
        help="the step [s]; a millisecond, or less where the first mode needs it",
    )
    play.add_argument(
        "--damping",
        type=ratio,
        default=0.03,
        metavar="ZETA",
        help="damping ratio of the first mode, 0 to 1 (0.03)",
    )
    play.add_argument(
        "--gravity", type=number, default=0.0, metavar="G", help="downwards [m/s²] (0)"
    )
    play.add_argument(
        "--up", choices=("y", "z"), help="axis that points up; by default told from the supports"
    )
    add_common(play)
