"""``supple design``: the damping with which a scene does what its targets ask."""

from __future__ import annotations

import argparse
import sys
import tomllib
from pathlib import Path

from supple import Body, ExampleDamping, InputError, set_thread_count
from supple.cli.design_job import Design
from supple.cli.designing import body_at_rest, count
from supple.cli.progress import Reporter
from supple.cli.simulate import make_folder
from supple.cli.values import default_folder
from supple.damping import save_damping
from supple.design import DesignReport
from supple.io.scene.scene import Scene, load_scene

_DAMPING = """\
[damping]
mass = 0.5                  # 1/s, for all other motion
"""
_EXAMPLE = """\
[[damping.examples]]
name = "swing"
mode = 1                    # the slowest vibration
"""
_TARGET = """\
[[targets]]
example = "{name}"
start = 1.0                 # let it go from the example itself
wish = "down to 50 % after one cycle"
"""


def command(given: argparse.Namespace) -> int:
    if given.threads is not None:
        set_thread_count(given.threads)
    folder = Path(given.output or default_folder(given))
    target = folder / "damping.toml"
    if target.exists() and not given.overwrite:
        raise InputError(
            f"{target} exists; --overwrite replaces it, and --output chooses another folder"
        )
    with Reporter("examples", quiet=given.quiet) as reporter:
        scene = load_scene(given.scene, progress=reporter)
    if not (isinstance(scene, Scene) and isinstance(scene.body, Body)):
        raise InputError(f"{scene.path} is a scene of cloth; dampings are designed for solids")
    damping = _examples(scene)
    made = Design(scene, damping, body_at_rest(scene), given.quiet)
    fresh, saved = not folder.exists(), False
    make_folder(folder)
    try:
        made.find()
        save_damping(made.fit.damping, target)
        saved = True
        (folder / "report.html").unlink(missing_ok=True)  # that of an earlier design
        made.examine()
        made.write_report(folder / "report.html")
    except KeyboardInterrupt:
        kept = f"The damping is whole, in {target}; there is no report."
        print(f"\nInterrupted. {kept if saved else 'Nothing was written.'}", file=sys.stderr)
        return 130
    finally:
        if fresh and not any(folder.iterdir()):
            folder.rmdir()
    made.tell(target)
    return 0 if made.fit.report.met else _unmet(made.fit.report)


def _examples(scene: Scene) -> ExampleDamping:
    """The damping of a scene that is fit to be designed; stops with what is missing."""
    damping = scene.damping
    if isinstance(damping, tuple) and scene.by_example is not None:
        raise InputError(
            f"{scene.path} has {len(damping)} dampings; a design is for one: leave the table with "
            "the examples, and add the others after"
        )
    if not isinstance(damping, ExampleDamping) or not damping.examples:
        base = "" if damping is not None else _DAMPING + "\n"
        lines = f"{base}{_EXAMPLE}\n{_TARGET.format(name='swing')}"
        raise InputError(
            f"{scene.path} has no examples: it does not say which motion should die away how. "
            f"Add, for instance:\n\n{lines}"
        )
    if not scene.targets:
        name = damping.examples[0].name
        raise InputError(
            f"{scene.path} has no targets: it does not say how its examples should die away. Add, "
            f"for instance:\n\n{_TARGET.format(name=name)}"
        )
    if "surface" in tomllib.loads(scene.text)["mesh"]:
        raise InputError(
            f"{scene.path}: mesh.surface: it is filled anew by each run, and a damping designed "
            "for one filling fits no other; fill it once with supple convert, and give [mesh] file"
        )
    if scene.body.free_rigid_motions:
        raise InputError(
            f"{scene.path}: to design a damping the body is let go from its examples again and "
            "again, for which it must be held; add [[supports]]"
        )
    if any(scene.gravity) and damping.about is None:
        raise InputError(
            f"{scene.path}: damping.about: under gravity the body swings about its equilibrium; "
            'give about = "equilibrium", or leave it out'
        )
    return damping


def _unmet(report: DesignReport) -> int:
    """Says which targets were not met and why; the exit code."""
    missed = [result for result in report.results if not result.met]
    text = f"supple: {len(missed)} of {count(len(report.results), 'target')} not met:"
    for result in missed:
        text += f"\n  {result.target}: {result.reached:.4g} instead of {result.wanted:.4g}"
        text += f"; {result.reason}"
    print(text, file=sys.stderr)
    return 1
