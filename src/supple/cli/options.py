"""What can be typed. Nothing heavy is imported here, so that help comes at once.

The text of a command is its line in the list of commands, a paragraph, examples with what it
writes, and a table of its options, as ``values.command`` reads it.
"""

from __future__ import annotations

import argparse
from importlib.metadata import PackageNotFoundError, version

from supple.character.tissue.flesh import FREQUENCY, SETTLE
from supple.cli import values
from supple.cli.values import APPENDED, EXIT_CODES, command, count, names, number, positive
from supple.mesh.files.formats import WRITTEN_MESHES, WRITTEN_SURFACES

_COMMON = """
--threads N  use N threads instead of every core
--quiet -q  say nothing but errors
"""
_FILLING = """
--edge M  fill a surface with tets of this edge [m]
--voxels N  fill a surface with bricks, N along it"""

_RUN = f"""
simulate a scene file

Simulates a scene file and keeps the motion as it goes: whatever stops the run, all but the frame at
hand is safe, and --resume goes on from there. Of several scenes, one that fails does not stop the
others.

example:
  supple run cantilever.toml
  supple run cantilever.toml --output out --resume
  supple run cantilever.toml --resume --duration 5 --formats glb,usdc --fps 24
  supple run scenes/ thrown_block.toml --output runs
  supple run thrown_block.toml --floor -1 --friction 0.4 --damping strain-rate:shear=5

writes, into the output folder:
  motion.motion   every frame, exactly; supple info and supple convert read it
  motion.glb      the motion for viewers; also .usd and .pvd, by [output] formats
  report.html     pictures, plots and a player in one page

options:
--output -o DIR  folder to write to; by default the scene's name, in the current folder. Of several
    scenes, the folder of their folders
--resume  go on with a run that was stopped, extend one that is finished, or export it anew
--overwrite  replace an earlier run
--duration S  simulate for S seconds instead
--formats A,B  export these instead of what the scene says: glb, usd, usda, usdc, pvd; '' for none
--fps RATE  frames a second of the exports only
--no-report  write no report.html
--damping MODEL:FIELD=VALUE,…  damp like this instead, e.g. strain-rate:shear=5,bulk=2; several add
    up, none takes all away
--solver METHOD:FIELD=VALUE,…  solve like this instead, e.g. admm:iterations=30
--self-contact FIELD=VALUE,…  how surfaces meet each other and themselves, e.g. friction=0.3; none
    lets them through
--floor HEIGHT  put a floor at this height [m] (0) under the body
--friction MU  of the floor (0)
--vertex-restitution E  share of its speed that each vertex keeps when it hits the floor, 0 to 1; by
    default the body bounces by its own elasticity
{_COMMON}"""

_DEMO = f"""
see it work: a creature comes to rest as it is wished to

Designs the damping of a soft creature's belly and ears, by hand and by wish, on a model of 74
coordinates. Takes a minute or so the first time.

example:
  supple demo
  supple demo --output creature

writes, into the output folder:
  scene.toml       the scene with its wishes, to change and give to supple design
  by_hand.toml     damping with curves drawn by hand
  designed.toml    the damping that the wishes led to
  report.html      examples, curves, decays and motions: open it in a browser

options:
--output -o DIR  folder to write to (demo)
{_COMMON}"""

_DESIGN = f"""
find the damping with which a scene does what its targets ask

Designs the damping of a scene: for each of its [[targets]] the body is released from an example
deformation, and the curves of the examples are changed until as much is left after one cycle, or at
the moments that it speaks of, as the target asks for.

example:
  supple design designed_cantilever.toml
  supple design designed_cantilever.toml --output soft --overwrite

writes, into the output folder:
  damping.toml   the damping; a scene takes it by [damping] file
  report.html    examples, curves, decays before and after, in one page

The damping is written, and its table shown, as soon as it is found; checks, comparison and report \
come after. Where a target cannot be met both are written too, with the closest that can be had, \
and the exit code is 3.

options:
--output -o DIR  folder to write to; by default the scene's name and _design, in the current folder.
    Of several scenes, the folder of their folders
--resume     go on with a design that was interrupted; the outcome is the same to the last bit
--overwrite  replace an earlier design
--no-report  write no report.html: no motions, and no comparison with the best linear damping
--body NAME  of several bodies the one to design for, let go alone; by default that with targets
{_COMMON}"""

_MATCH = f"""
find the material and the damping of a real object

Fits the material of a scene to shapes at rest under known loads, then its damping to recordings of
how it comes to rest. FILE names the scene and what was measured, in [[shapes]] and [[recordings]].

example:
  supple match beam_match.toml
  supple match beam_match.toml --output silicone --overwrite

writes, into the output folder:
  material.toml  the [material] tables for the scene, from [[shapes]]
  damping.toml   the damping, from [[recordings]]; a scene takes it by [damping] file

Where the shapes do not determine all that was asked for, it is told, and the exit code is 3.

options:
--output -o DIR  folder to write to; by default the file's name and _match, in the current folder
--overwrite  replace an earlier match
{_COMMON}"""

_REDUCE = f"""
make a small, fast model of a big body

Makes a reduced model of a body: few coordinates that move it through large deformations thousands
of times a second. MESH is a mesh, a surface to fill, or a built-in body (beam, bridge, creature,
heart, spoon, tower). What is not said is taken from the file, or chosen and told.

example:
  supple reduce bridge --modes 20 --size 30 -o bridge.supple
  supple reduce dragon.veg --fix y=min --regions wings,tail
  supple reduce bunny.obj --voxels 40 --young 5e4
  supple reduce jelly.msh --free --material StableNeoHookean

writes the model, *.supple, whole or not at all; supple play runs it.

options:
--output -o FILE  the model to write, *.supple; by default named like the mesh, in the current
    folder
--modes K  vibration modes to start from (20)
--size R  coordinates of the model (30)
--basis WHAT  modal-derivatives (the default), modes, sketch (its ends drawn to all sides), or a
    recorded motion, *.motion
--fix WHERE  hold these vertices: x=min, z=max, x=0.5, x=0:0.5, a place of a built-in body, or a
    list of vertices (.bou); may be repeated. By default the first place of a built-in body, a .bou
    file beside the mesh, the lowest layer or, of a flat body, both ends
--free  hold nothing
--material MODEL  StVK (exact, the default), NeoHookean, StableNeoHookean or Corotational (cubature)
--young PA  Young's modulus [Pa]; by default that of the file or, where it has none, one that makes
    the body swing at 1.5 Hz
--poisson NU  Poisson ratio (0.4)
--density RHO  density [kg/m³] (1000)
--regions A,B  regions whose material can be changed later
--skin FILE  a surface to draw, moved with the body
{_FILLING} (40)
--resolution N  bricks along a built-in body
--scale F  multiply lengths by F first
--up  axis that points up; y for .veg, .obj and .glb, else z
{_COMMON}"""

_PLAY = f"""
run a reduced model, and make a page to play with it

Pulls a reduced model and lets it go, tells how fast it runs, and writes one page in which the model
lives: drag it with the mouse, change its stiffness and damping.

example:
  supple play bridge.supple
  supple play bridge.supple --pull 120 0 0 -40 --seconds 2 --export poke.glb

writes:
  play.html   beside the model, or --output: open it in a browser; needs no network
  the motion  if asked by --export: .glb .usd .usda .usdc .pvd

options:
--output -o FILE  the page to write; play.html beside the model
--export FILE  also write the run for other programs
--size R  use the first R coordinates of the model only
--pull VERTEX FX FY FZ  pull this vertex with this force [N], then let go; by default the one that
    moves most in the first mode, by about a quarter of the body's size
--seconds S  how long to run it: 4, or four periods of the first mode
--dt S  the step [s]; a millisecond, or less where the first mode needs it
--damping ZETA  damping ratio of the first mode, 0 to 1 (0.03)
--gravity G  downwards [m/s²] (0)
--up  axis that points up; by default told from the supports
{_COMMON}"""

_ENRICH = f"""
give an animated character flesh that moves

Reads a rigged, animated character (.glb, .gltf) and writes it again with flesh that follows its
motion, swings and settles. Skeleton, skin, materials, textures and other clips stay as they are;
the flesh is a few morph targets that the clips move, and plays in any viewer or engine. Loops still
loop. Stop it with Ctrl-C: the same command goes on with what was done.

example:
  supple enrich cow.glb -o cow_soft.glb
  supple enrich cow.glb --list
  supple enrich cow.glb --clips Walk,Gallop --settle 0.4s --soft tail=2 --soft head=0
  supple enrich cow.glb --quality draft --targets 8 --report cow.html
  supple enrich cow.glb -o cow.usdc --clips Walk
  supple enrich herd/*.glb -o soft/

writes, whole or not at all, by the ending of the output's name:
  .glb                the same character, soft
  .usd .usda .usdc    points of every frame, a file for each clip
  .npz .pc2 .mdd      vertex caches, a file for each clip

options:
--output -o FILE  what to write; by default named like the character with _soft.glb, in the current
    folder
--clips A,B  clips to enrich, by name or pattern such as '*Walk*'; all by default
--soft [NAME=]S  how soft: 1 as by default, 2 twice as soft, 0 rigid; for a part of the body such as
    'left arm=2', for joints by name or pattern such as 'Tail*=2', or without a name for all; may be
    repeated, and the last that fits counts
--list  only tell which clips, parts and joints can be named
--frequency HZ  natural frequency of flesh that is pushed ({FREQUENCY:g})
--settle TIME  time in which a push dies down to a twentieth, e.g. 0.4s or 300ms ({SETTLE:g}s)
--quality  finer flesh against time and size of the file (good)
--tolerance SHARE  how far vertices of a .glb file may be off, of the body's size, e.g. 1e-3; by
    default 10, 4 or 1 %% by quality of the way that flesh moves
--targets K  most morph targets to use, as many as the tolerance needs by default; many game engines
    take 8 well
--rate FPS  frames a second of the flesh; by default those of the clips' own keys
--once A,B  clips that start from rest and do not loop; by default told from their ends
--length M  longest side of the skin [m], for gravity; by default that of the file, but over 30 m
    are taken for centimetres, and less than 5 cm for another unit
--sag  let flesh hang down from where it was modelled; by default it hangs there already
--no-skull  hold flesh by the bones that joints tell of and by nothing else; heads wobble
--no-contact  let parts that touch go into each other
--regions N  shapes of their own for N limbs, for small motions beside large ones; wants --quality
    best
--seed N  of random choices (0)
--model FILE  keep the model of the flesh in this file, *.supple, and take it from there where it
    exists: other clips, times to settle and outputs then take seconds. What of the flesh is not
    said is then as in the file, and what is said must be
--report FILE  also write a page with pictures, *.html
{_COMMON}"""

_INFO = """
say what is in a mesh, surface, motion, model, scene or damping file

Says what is in a file: a mesh (size, quality, regions and their materials), a surface, a recorded
motion (frames, energies), a reduced model, a damping (base, examples and curves), or a scene file,
which is checked.

example:
  supple info bunny.msh
  supple info out/motion.motion --json

writes nothing.

options:
--json  as JSON, for programs
"""

_CONVERT = f"""
turn a file into another kind

Converts by the endings of the names: a mesh or a surface to another format, a mesh to its surface,
a surface to a mesh (say how fine), a motion to what other programs play.

example:
  supple convert bunny.veg bunny.msh
  supple convert bunny.msh bunny.obj
  supple convert spot.obj spot.msh --edge 0.05
  supple convert bridge.obj bridge.vtu --voxels 60
  supple convert out/motion.motion bunny.glb --fps 24

writes OUT, whole or not at all:
  meshes    {" ".join(WRITTEN_MESHES)}
  surfaces  {" ".join(WRITTEN_SURFACES)}
  motions   .glb .usd .usda .usdc .pvd

options:
{_FILLING}
--scale F  multiply lengths by F first
--epsilon M  with --edge, how far the mesh may be from the surface [m]; by default a tenth of the
    edge, or a thousandth of the surface's size if that is more
--up  axis of a motion that points up in .glb and .usd; by default that of its scene, or z
--fps RATE  frames a second of the motion in OUT
--tolerance SHARE  how far vertices in a .glb may be from the motion, of the body's size (0.001)
--targets N  most morph targets in a .glb; by default as many as the tolerance needs
--skin FILE  surface to show instead, for a motion
--quiet -q  say nothing but errors
"""


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    whole = argparse.ArgumentParser(
        prog="supple",
        description="Soft bodies whose motion settles the way you want it to.",
        epilog=f"Start with: supple demo. Each command has its own --help. {EXIT_CODES}",
    )
    whole.add_argument("--version", action="version", version=f"supple {_version()}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")
    up = {"choices": ("y", "z")}

    floor = {"nargs": "?", "type": number, "const": 0.0}
    read = {"duration fps": positive, "friction vertex_restitution": number, "formats": names}
    run = command(commands, "run", _RUN, read, damping=APPENDED, floor=floor)
    run.add_argument("scene", nargs="+", metavar="SCENE", help=_SCENES)

    command(commands, "demo", _DEMO, {}).set_defaults(output="demo")

    design = command(commands, "design", _DESIGN, {})
    design.add_argument("scene", nargs="+", metavar="SCENE", help=_SCENES)

    match = command(commands, "match", _MATCH, {})
    match.add_argument("file", metavar="FILE", help="what was measured, *.toml")

    read = {"modes size voxels resolution": count, "young density edge scale": positive}
    read |= {"regions": names, "basis": values.basis, "poisson": values.poisson}
    reduce = command(commands, "reduce", _REDUCE, read, fix={"action": "append"}, up=up)
    reduce.set_defaults(modes=20, basis="modal-derivatives", material="StVK", scale=1.0)
    reduce.add_argument("mesh", metavar="MESH", help="a mesh or surface file, or a built-in body")

    read = {"size": count, "seconds dt": positive, "pull gravity": number, "damping": values.ratio}
    play = command(commands, "play", _PLAY, read, up=up)
    play.set_defaults(damping=0.03, gravity=0.0)
    play.add_argument("model", metavar="MODEL", help="the reduced model, *.supple")

    read = {"frequency tolerance rate length": positive, "targets regions": count}
    read |= {"seed": values.whole, "settle": values.seconds, "clips once": names}
    soft, qualities = {**APPENDED, "type": values.softness}, {"choices": ("draft", "good", "best")}
    enrich = command(commands, "enrich", _ENRICH, read, soft=soft, quality=qualities)
    enrich.add_argument("--swing", type=positive, help=argparse.SUPPRESS)
    enrich.set_defaults(settle=SETTLE)
    enrich.add_argument("sources", nargs="+", metavar="CHARACTER", help=_CHARACTERS)

    info = command(commands, "info", _INFO, {})
    info.add_argument("file", metavar="FILE", help="the file")

    read = {"edge scale epsilon fps tolerance": positive, "voxels targets": count}
    convert = command(commands, "convert", _CONVERT, read, up=up)
    convert.set_defaults(scale=1.0)
    convert.add_argument("source", metavar="IN", help="the file to read")
    convert.add_argument("target", metavar="OUT", help="the file to write")
    return whole


_SCENES = "scene files, *.toml, or folders of them"
_CHARACTERS = (
    "the file to read, .glb or .gltf; several, or a folder of them, are enriched one after the "
    "other, and --output, --report and --model are folders then"
)


def _version() -> str:
    try:
        return version("supple")
    except PackageNotFoundError:
        return "(not installed)"
