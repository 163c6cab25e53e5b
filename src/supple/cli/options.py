"""What can be typed. Nothing heavy is imported here, so that help comes at once."""

from __future__ import annotations

import argparse
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from supple.cli.options_enrich import add_enrich
from supple.cli.options_reduced import add_play, add_reduce
from supple.cli.values import EXIT_CODES, add_common, command, count, names, number, positive
from supple.mesh.files.formats import WRITTEN_MESHES, WRITTEN_SURFACES


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    whole = argparse.ArgumentParser(
        prog="supple",
        description="Soft bodies whose motion settles the way you want it to.",
        epilog=f"Start with: supple demo. Each command has its own --help. {EXIT_CODES}",
    )
    whole.add_argument("--version", action="version", version=f"supple {_version()}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_run(commands)
    _add_demo(commands)
    _add_design(commands)
    add_reduce(commands)
    add_play(commands)
    add_enrich(commands)
    _add_info(commands)
    _add_convert(commands)
    return whole


def _add_run(commands: Any) -> None:
    run = command(
        commands,
        "run",
        "simulate a scene file",
        "Simulates a scene file and keeps the motion as it goes: whatever stops the run, all but "
        "the frame at hand is safe, and --resume goes on from there. Of several scenes, one that "
        "fails does not stop the others.",
        "example:\n"
        "  supple run cantilever.toml\n"
        "  supple run cantilever.toml --output out --resume\n"
        "  supple run cantilever.toml --resume --duration 5 --formats glb,usdc --fps 24\n"
        "  supple run scenes/ thrown_block.toml --output runs\n"
        "  supple run thrown_block.toml --floor -1 --friction 0.4 --damping strain-rate:shear=5"
        "\n\n"
        "writes, into the output folder:\n"
        "  motion.motion   every frame, exactly; supple info and supple convert read it\n"
        "  motion.glb      the motion for viewers; also .usd and .pvd, by [output] formats\n"
        "  report.html     pictures, plots and a player in one page",
    )
    _add_scenes(
        run,
        "folder to write to; by default the scene's name, in the current folder. Of several "
        "scenes, the folder of their folders",
    )
    run.add_argument(
        "--resume",
        action="store_true",
        help="go on with a run that was stopped, extend one that is finished, or export it anew",
    )
    run.add_argument("--overwrite", action="store_true", help="replace an earlier run")
    run.add_argument(
        "--duration", type=positive, metavar="S", help="simulate for S seconds instead"
    )
    run.add_argument(
        "--formats",
        type=names,
        metavar="A,B",
        help="export these instead of what the scene says: glb, usd, usda, usdc, pvd; '' for none",
    )
    run.add_argument(
        "--fps", type=positive, metavar="RATE", help="frames a second of the exports only"
    )
    run.add_argument("--no-report", action="store_true", help="write no report.html")
    _add_changes(run)
    add_common(run)


def _add_scenes(command: argparse.ArgumentParser, output: str) -> None:
    command.add_argument(
        "scene", nargs="+", metavar="SCENE", help="scene files, *.toml, or folders of them"
    )
    command.add_argument("--output", "-o", metavar="DIR", help=output)


def _add_changes(run: argparse.ArgumentParser) -> None:
    """What may be tried without editing the scene."""
    run.add_argument(
        "--damping",
        action="append",
        default=[],
        metavar="MODEL:FIELD=VALUE,…",
        help="damp like this instead, e.g. strain-rate:shear=5,bulk=2; several add up, none "
        "takes all away",
    )
    run.add_argument(
        "--solver",
        metavar="METHOD:FIELD=VALUE,…",
        help="solve like this instead, e.g. admm:iterations=30",
    )
    run.add_argument(
        "--floor",
        nargs="?",
        type=number,
        const=0.0,
        metavar="HEIGHT",
        help="put a floor at this height [m] (0) under the body",
    )
    run.add_argument("--friction", type=number, metavar="MU", help="of the floor (0)")
    run.add_argument(
        "--restitution",
        type=number,
        metavar="E",
        help="share of its speed that a bounce off the floor gives back, 0 to 1; by default as "
        "the integrator has it",
    )


def _add_demo(commands: Any) -> None:
    demo = command(
        commands,
        "demo",
        "see it work: a creature comes to rest as it is wished to",
        "Designs the damping of a soft creature's belly and ears, by hand and by wish, on a model "
        "of 74 coordinates. Takes a minute or so the first time.",
        "example:\n"
        "  supple demo\n"
        "  supple demo --output creature\n\n"
        "writes, into the output folder:\n"
        "  scene.toml       the scene with its wishes, to change and give to supple design\n"
        "  by_hand.toml     damping with curves drawn by hand\n"
        "  designed.toml    the damping that the wishes led to\n"
        "  report.html      examples, curves, decays and motions: open it in a browser",
    )
    demo.add_argument(
        "--output", "-o", metavar="DIR", default="demo", help="folder to write to (demo)"
    )
    add_common(demo)


def _add_design(commands: Any) -> None:
    design = command(
        commands,
        "design",
        "find the damping with which a scene does what its targets ask",
        "Designs the damping of a scene: for each of its [[targets]] the body is released from an "
        "example deformation, and the curves of the examples are changed until as much is left "
        "after one cycle as the target asks for.",
        "example:\n"
        "  supple design designed_cantilever.toml\n"
        "  supple design designed_cantilever.toml --output soft --overwrite\n\n"
        "writes, into the output folder:\n"
        "  damping.toml   the damping; a scene takes it by [damping] file\n"
        "  report.html    examples, curves, decays before and after, in one page\n\n"
        "The damping is written, and its table shown, as soon as it is found; checks, comparison "
        "and report come after. Where a target cannot be met both are written too, with the "
        "closest that can be had, and the exit code is 3.",
    )
    _add_scenes(
        design,
        "folder to write to; by default the scene's name and _design, in the current folder. Of "
        "several scenes, the folder of their folders",
    )
    design.add_argument("--overwrite", action="store_true", help="replace an earlier design")
    design.add_argument(
        "--no-report",
        action="store_true",
        help="write no report.html: no motions, and no comparison with the best linear damping",
    )
    add_common(design)


def _add_info(commands: Any) -> None:
    info = command(
        commands,
        "info",
        "say what is in a mesh, surface, motion, model, scene or damping file",
        "Says what is in a file: a mesh (size, quality, regions and their materials), a surface, "
        "a recorded motion (frames, energies), a reduced model, a damping (base, examples and "
        "curves), or a scene file, which is checked.",
        "example:\n  supple info bunny.msh\n  supple info out/motion.motion --json\n\n"
        "writes nothing.",
    )
    info.add_argument("file", metavar="FILE", help="the file")
    info.add_argument("--json", action="store_true", help="as JSON, for programs")


def _add_convert(commands: Any) -> None:
    convert = command(
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
        "  supple convert out/motion.motion bunny.glb --fps 24\n\n"
        "writes OUT, whole or not at all:\n"
        f"  meshes    {' '.join(WRITTEN_MESHES)}\n"
        f"  surfaces  {' '.join(WRITTEN_SURFACES)}\n"
        "  motions   .glb .usd .usda .usdc .pvd",
    )
    convert.add_argument("source", metavar="IN", help="the file to read")
    convert.add_argument("target", metavar="OUT", help="the file to write")
    how = convert.add_mutually_exclusive_group()
    how.add_argument(
        "--edge", type=positive, metavar="M", help="fill a surface with tets of this edge [m]"
    )
    how.add_argument(
        "--voxels", type=count, metavar="N", help="fill a surface with bricks, N along it"
    )
    convert.add_argument(
        "--scale", type=positive, default=1.0, metavar="F", help="multiply lengths by F first"
    )
    convert.add_argument(
        "--epsilon",
        type=positive,
        metavar="M",
        help="with --edge, how far the mesh may be from the surface [m]; by default a tenth of "
        "the edge, or a thousandth of the surface's size if that is more",
    )
    convert.add_argument(
        "--up",
        choices=("y", "z"),
        help="axis of a motion that points up in .glb and .usd; by default that of its scene, or z",
    )
    convert.add_argument(
        "--fps", type=positive, metavar="RATE", help="frames a second of the motion in OUT"
    )
    convert.add_argument(
        "--tolerance",
        type=positive,
        metavar="SHARE",
        help="how far vertices in a .glb may be from the motion, of the body's size (0.001)",
    )
    convert.add_argument(
        "--targets",
        type=count,
        metavar="N",
        help="most morph targets in a .glb; by default as many as the tolerance needs",
    )
    convert.add_argument("--skin", metavar="FILE", help="surface to show instead, for a motion")
    convert.add_argument("--quiet", "-q", action="store_true", help="say nothing but errors")


def _version() -> str:
    try:
        return version("supple")
    except PackageNotFoundError:
        return "(not installed)"
