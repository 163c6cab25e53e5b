"""What can be typed. Nothing heavy is imported here, so that help comes at once."""

from __future__ import annotations

import argparse
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from supple.mesh.formats import WRITTEN_MESHES, WRITTEN_SURFACES

_EXIT_CODES = (
    "Exit codes: 0 all went well, 1 it could not be done and the message says why, 2 wrong usage, "
    "130 interrupted."
)


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    whole = argparse.ArgumentParser(
        prog="supple",
        description="Soft bodies whose motion settles the way you want it to.",
        epilog=f"Start with: supple demo. Each command has its own --help. {_EXIT_CODES}",
    )
    whole.add_argument("--version", action="version", version=f"supple {_version()}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_run(commands)
    _add_demo(commands)
    _add_reduce(commands)
    _add_play(commands)
    _add_info(commands)
    _add_convert(commands)
    return whole


def _add_run(commands: Any) -> None:
    run = _command(
        commands,
        "run",
        "simulate a scene file",
        "Simulates a scene file and keeps the motion as it goes: whatever stops the run, all but "
        "the frame at hand is safe, and --resume goes on from there.",
        "example:\n"
        "  supple run cantilever.toml\n"
        "  supple run cantilever.toml --output out --resume\n\n"
        "writes, into the output folder:\n"
        "  motion.motion   every frame, exactly; supple info and supple convert read it\n"
        "  motion.glb      the motion for viewers; also .usd and .pvd, by [output] formats\n"
        "  report.html     pictures, plots and a player in one page",
    )
    run.add_argument("scene", metavar="SCENE", help="the scene file, *.toml")
    run.add_argument(
        "--output",
        "-o",
        metavar="DIR",
        help="folder to write to; by default the scene's name, in the current folder",
    )
    run.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    run.add_argument("--overwrite", action="store_true", help="replace an earlier run")
    run.add_argument(
        "--duration", type=_positive, metavar="S", help="simulate for S seconds instead"
    )
    _add_common(run)


def _add_demo(commands: Any) -> None:
    demo = _command(
        commands,
        "demo",
        "see it work: a soft creature is shaken and settles",
        "Shakes a soft creature by its feet and lets it settle, twice: with light and with strong "
        "damping. Takes a minute or so the first time.",
        "example:\n"
        "  supple demo\n"
        "  supple demo --output creature\n\n"
        "writes, into the output folder:\n"
        "  scene.toml               the scene, to change and run again with supple run\n"
        "  light.motion, .glb       the lightly damped motion\n"
        "  strong.motion, .glb      the strongly damped one\n"
        "  report.html              both, side by side: open it in a browser",
    )
    demo.add_argument(
        "--output", "-o", metavar="DIR", default="demo", help="folder to write to (demo)"
    )
    _add_common(demo)


def _add_reduce(commands: Any) -> None:
    reduce = _command(
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
        "--modes", type=_count, default=20, metavar="K", help="vibration modes to start from (20)"
    )
    reduce.add_argument("--size", type=_count, metavar="R", help="coordinates of the model (30)")
    reduce.add_argument(
        "--basis",
        type=_basis,
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
        type=_material,
        default="StVK",
        metavar="MODEL",
        help="StVK (exact, the default), NeoHookean, StableNeoHookean or Corotational (by cubature)",
    )
    reduce.add_argument(
        "--young",
        type=_positive,
        metavar="PA",
        help="Young's modulus [Pa]; by default that of the file or, where it has none, one that "
        "makes the body swing at 1.5 Hz",
    )
    reduce.add_argument("--poisson", type=_poisson, metavar="NU", help="Poisson ratio (0.4)")
    reduce.add_argument("--density", type=_positive, metavar="RHO", help="density [kg/m³] (1000)")
    reduce.add_argument(
        "--regions", metavar="A,B", help="regions whose material can be changed later"
    )
    reduce.add_argument("--skin", metavar="FILE", help="a surface to draw, moved with the body")
    filling = reduce.add_mutually_exclusive_group()
    filling.add_argument(
        "--edge", type=_positive, metavar="M", help="fill a surface with tets of this edge [m]"
    )
    filling.add_argument(
        "--voxels", type=_count, metavar="N", help="fill a surface with bricks, N along it (40)"
    )
    reduce.add_argument(
        "--resolution", type=_count, metavar="N", help="bricks along a built-in body"
    )
    reduce.add_argument(
        "--scale", type=_positive, default=1.0, metavar="F", help="multiply lengths by F first"
    )
    reduce.add_argument(
        "--up", choices=("y", "z"), help="axis that points up; y for .veg, .obj and .glb, else z"
    )
    _add_common(reduce)


def _add_play(commands: Any) -> None:
    play = _command(
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
        "--size", type=_count, metavar="R", help="use the first R coordinates of the model only"
    )
    play.add_argument(
        "--pull",
        nargs=4,
        type=_number,
        metavar=("VERTEX", "FX", "FY", "FZ"),
        help="pull this vertex with this force [N], then let go; by default the one that moves "
        "most in the first mode, by about a quarter of the body's size",
    )
    play.add_argument(
        "--seconds",
        type=_positive,
        metavar="S",
        help="how long to run it: 4, or four periods of the first mode",
    )
    play.add_argument(
        "--dt",
        type=_positive,
        metavar="S",
        help="the step [s]; a millisecond, or less where the first mode needs it",
    )
    play.add_argument(
        "--damping",
        type=_ratio,
        default=0.03,
        metavar="ZETA",
        help="damping ratio of the first mode, 0 to 1 (0.03)",
    )
    play.add_argument(
        "--gravity", type=_number, default=0.0, metavar="G", help="downwards [m/s²] (0)"
    )
    play.add_argument(
        "--up", choices=("y", "z"), help="axis that points up; by default told from the supports"
    )
    _add_common(play)


def _add_info(commands: Any) -> None:
    info = _command(
        commands,
        "info",
        "say what is in a mesh, surface, motion, model or scene file",
        "Says what is in a file: a mesh (size, quality, regions and their materials), a surface, "
        "a recorded motion (frames, energies), a reduced model, or a scene file, which is checked.",
        "example:\n  supple info bunny.msh\n  supple info out/motion.motion --json\n\n"
        "writes nothing.",
    )
    info.add_argument("file", metavar="FILE", help="the file")
    info.add_argument("--json", action="store_true", help="as JSON, for programs")


def _add_convert(commands: Any) -> None:
    convert = _command(
        commands,
        "convert",
        "turn a file into another kind",
        "Converts by the endings of the names: a mesh or a surface to another format, a mesh to "
        "its surface, a surface to a mesh (say how fine), a motion to what other programs play.",
        "example:\n"
        "  supple convert bunny.veg bunny.msh\n"
        "  supple convert bunny.msh bunny.obj\n"
        "  supple convert spot.obj spot.msh --edge 0.05\n"
        "  supple convert bridge.obj bridge.vtu --voxels 60\n"
        "  supple convert out/motion.motion bunny.glb\n\n"
        "writes OUT, whole or not at all:\n"
        f"  meshes    {' '.join(WRITTEN_MESHES)}\n"
        f"  surfaces  {' '.join(WRITTEN_SURFACES)}\n"
        "  motions   .glb .usd .usda .usdc .pvd",
    )
    convert.add_argument("source", metavar="IN", help="the file to read")
    convert.add_argument("target", metavar="OUT", help="the file to write")
    how = convert.add_mutually_exclusive_group()
    how.add_argument(
        "--edge", type=_positive, metavar="M", help="fill a surface with tets of this edge [m]"
    )
    how.add_argument(
        "--voxels", type=_count, metavar="N", help="fill a surface with bricks, N along it"
    )
    convert.add_argument(
        "--scale", type=_positive, default=1.0, metavar="F", help="multiply lengths by F first"
    )
    convert.add_argument(
        "--epsilon",
        type=_positive,
        metavar="M",
        help="with --edge, how far the mesh may be from the surface [m]; by default a tenth of "
        "the edge, or a thousandth of the surface's size if that is more",
    )
    convert.add_argument(
        "--up",
        choices=("y", "z"),
        help="axis of a motion that points up in .glb and .usd; by default that of its scene, or z",
    )
    convert.add_argument("--skin", metavar="FILE", help="surface to show instead, for a motion")
    convert.add_argument("--quiet", "-q", action="store_true", help="say nothing but errors")


def _command(
    commands: Any, name: str, summary: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"{epilog}\n\n{_EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--debug", action="store_true", help="show where an error comes from")
    return made


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--threads", type=_count, metavar="N", help="use N threads instead of every core"
    )
    command.add_argument("--quiet", "-q", action="store_true", help="say nothing but errors")


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not -float("inf") < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


def _ratio(text: str) -> float:
    value = _number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and 1")
    return value


def _poisson(text: str) -> float:
    value = _number(text)
    if not -1 < value < 0.5:
        raise argparse.ArgumentTypeError(f"{text!r} is not more than -1 and less than 0.5")
    return value


def _material(text: str) -> str:
    known = ("StVK", "NeoHookean", "StableNeoHookean", "Corotational")
    for name in known:
        if text.lower() == name.lower():
            return name
    raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(known)}")


def _basis(text: str) -> str:
    if text in ("modal-derivatives", "modes") or text.endswith(".motion"):
        return text
    raise argparse.ArgumentTypeError(
        f"{text!r} is not modal-derivatives, modes or a recorded motion (*.motion)"
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def _version() -> str:
    try:
        return version("supple")
    except PackageNotFoundError:
        return "(not installed)"
