"""Writes parameters.md from what parameters say of themselves: ``python docs/parameters.py``."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path

from supple.contact import OBSTACLES, SelfContact
from supple.core.parameters import Parameter, describe
from supple.core.registry import Registry
from supple.damping import DAMPINGS
from supple.damping.example import Example
from supple.integrators import INTEGRATORS
from supple.io.scene.fields import CLOTH_MATERIALS, YARN_DAMPINGS
from supple.io.scene.models import SOLVERS
from supple.io.scene.world_fields import ATTACHMENTS, Rigid, Springs
from supple.materials import MATERIALS
from supple.solvers.linear import LINEAR_SOLVERS

HEAD = """# Parameters

<!-- written by docs/parameters.py; change the fields themselves -->

Every parameter of what Supple registers, as its field describes it. Python, damping files,
[scene files](guides/command-line.md) and the options of `supple run` have the same names for them.
Beside each class is its name in files.
"""
SECTIONS: dict[str, Iterable[type]] = {
    "Materials": MATERIALS,
    "Cloth": CLOTH_MATERIALS,
    "Dampings": DAMPINGS,
    "Dampings of yarns": YARN_DAMPINGS,
    "Obstacles": OBSTACLES,
    "Attachments": ATTACHMENTS,
    "Integrators": INTEGRATORS,
    "Solvers": SOLVERS,
    "Linear solvers": LINEAR_SOLVERS,
}


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, classes in SECTIONS.items():
        parts.append(f"\n## {title}\n")
        parts += [_of_class(cls, classes) for cls in sorted(classes, key=lambda cls: cls.__name__)]
    parts.append("\n## Others\n")
    parts += [_of_class(cls) for cls in (Example, Rigid, SelfContact, Springs)]
    return "".join(parts)


def _of_class(cls: type, registry: Iterable[type] = ()) -> str:
    named = f" (`{registry.name_of(cls)}`)" if isinstance(registry, Registry) else ""
    what = (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")
    rows = [_row(each) for each in describe(cls)]
    table = "| parameter | unit | value | default | |\n| --- | --- | --- | --- | --- |\n"
    return f"\n### {cls.__name__}{named}\n\n{what}\n" + (
        f"\n{table}{''.join(rows)}" if rows else ""
    )


def _row(each: Parameter) -> str:
    value = ", ".join(filter(None, [each.kind.words, each.allowed]))
    default = "required" if each.is_required else ""
    if not each.is_required and each.default is not None:
        default = each.kind.shown(each.default)
    text = each.text.replace("``", "`").replace("|", "\\|")
    return f"| `{each.name}` | {each.unit} | {value} | {default} | {text} |\n"


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(page(), encoding="utf-8")
