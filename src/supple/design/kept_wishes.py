"""Wishes as text and numbers that a designed damping, and its file, keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.core.checks import instance
from supple.core.errors import InputError
from supple.damping import ExampleDamping
from supple.damping.designed import MATERIAL, material_means
from supple.design.targets import Unloading
from supple.design.wishes import Wish
from supple.integrators import INTEGRATORS, Integrator

_EXACT = 15  # digits


def with_wishes(
    damping: ExampleDamping,
    targets: Sequence[Unloading],
    body: Any,
    *,
    integrator: Integrator,
    dt: float,
    gravity: ArrayLike,
    relaxed: bool,
    tolerance: float,
) -> ExampleDamping:
    """The damping with what it was designed for, and with which material, as text and numbers."""
    table: dict[str, Any] = {"targets": [_table_of(target, damping) for target in targets]}
    name = INTEGRATORS.name_of(type(integrator))
    if name is not None and is_dataclass(integrator):
        given = {each.name: getattr(integrator, each.name) for each in fields(integrator)}
        table["integrator"] = {"name": name, **given}
    table |= {"dt": float(dt), "gravity": np.asarray(gravity, dtype=float).tolist()}
    table |= {"relaxed": relaxed, "tolerance": float(tolerance)}
    means = material_means(body)
    return replace(damping, wishes=table | ({MATERIAL: means} if means else {}))


def _table_of(target: Unloading, damping: ExampleDamping) -> dict[str, Any]:
    index = damping.index(target.example)
    table: dict[str, Any] = {"example": damping.examples[index].name or index}
    table["start"] = float(target.start)
    if isinstance(target.residual, Wish):
        return table | {"wish": target.residual.in_words(_EXACT)}
    return table | {"residual": float(target.residual)}


def wishes_of(damping: ExampleDamping) -> tuple[list[Unloading], dict[str, Any]]:
    """The targets that a damping was designed for, and the options of ``design_damping``."""
    instance("damping", damping, ExampleDamping, "load_damping('designed.toml')")
    kept = damping.wishes
    if kept is None:
        raise InputError(
            "this damping keeps no wishes: it was not made by design_damping, or by an older "
            "version; design it with design_damping(body, damping, targets)"
        )
    options = {
        name: kept[name] for name in ("dt", "gravity", "relaxed", "tolerance") if name in kept
    }
    try:
        targets = [_target_of(each) for each in kept["targets"]]
        if "integrator" in kept:
            table = dict(kept["integrator"])
            options["integrator"] = INTEGRATORS.find(table.pop("name"))(**table)
    except (KeyError, TypeError) as error:
        raise InputError(
            f"the wishes of this damping cannot be read ({error!r}); give them to design_damping"
        ) from error
    return targets, options


def _target_of(table: Mapping[str, Any]) -> Unloading:
    asked = table["wish"] if "wish" in table else table["residual"]
    return Unloading(table["example"], table["start"], asked)
