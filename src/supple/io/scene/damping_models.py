"""The damping models that a scene file may name, with the fields of each.

Rayleigh and Caughey damping have words of their own here. Every other model is written as in a
damping file, so one that files can keep is known to scenes too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from supple.core.errors import InputError
from supple.damping import (
    Caughey,
    Conserving,
    Curve,
    Joining,
    MomentumConserving,
    Rayleigh,
    SpringStrainRate,
    StiffnessAt,
)
from supple.damping.files import kinds as file_kinds
from supple.io.scene.kinds import POSITIVE, VECTOR, construct
from supple.io.scene.schema import (
    MISSING,
    Choice,
    Either,
    File,
    Flag,
    Kind,
    Named,
    Number,
    Problems,
    Row,
    Table,
    Text,
    guess,
    listed,
)

_JOININGS = tuple(joining.value for joining in Joining)


@dataclass(frozen=True)
class CurveOf(Kind):
    """A curve γ: a number, or a table such as ``{ monotone = [[0, 1], [0.5, 3]] }``."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            allowed = f"{Number(0.0).allowed}, or a table with one of {', '.join(_JOININGS)}"
            gamma = Number(0.0).read(value, path, Problems(problems.folder))
            return problems.got(path, value, allowed) if gamma is MISSING else Curve.constant(gamma)
        points = Row(Row(Number(), 2))
        read = Table(dict.fromkeys(_JOININGS, points), one_of=_JOININGS).read(value, path, problems)
        if read is MISSING:
            return MISSING
        try:
            return Curve.of(read)
        except InputError as error:
            return problems.add(f"{path}.{next(iter(read))}", str(error))


@dataclass(frozen=True)
class _Name(Kind):
    """The name of a model; neither capitals nor what stands between its words matter."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        known = {name.replace("_", ""): name for name in MODELS}
        if isinstance(value, str):
            plain = value.lower().replace("_", "").replace("-", "").replace(" ", "")
            if plain in known:
                return known[plain]
        hint = guess(value, MODELS) if isinstance(value, str) else ""
        return problems.got(path, value, f"one of {listed(MODELS)}{hint}")


@dataclass(frozen=True)
class _Option(Kind):
    """A choice that a damping file knows by the same names."""

    field: file_kinds.Field

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        name = Choice(self.field.options).read(value, path, problems)
        return MISSING if name is MISSING else self.field.read(path, name, {})


@dataclass(frozen=True)
class Within(Kind):
    """A damping inside another."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        read = DampingModel().read(value, path, problems)
        return MISSING if read is MISSING else read["base"]


@dataclass(frozen=True)
class DampingModel(Kind):
    """One damping, under ``base`` of what is read; ``more`` are fields that any model may have.

    ``needs`` is that of those. A table with ``file`` has nothing else.
    """

    more: tuple[tuple[str, Kind], ...] = ()
    needs: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            example = 'a table such as { model = "strain_rate", shear = 5 }'
            return problems.got(path, value, example)
        if "file" in value and "file" in dict(self.more):
            return self._file(value, path, problems)
        name = _Name().read(value.get("model", "rayleigh"), f"{path}.model", problems)
        if name is MISSING:
            return MISSING
        before = len(problems.found)
        model = MODELS[name]
        fields = {"model": _Name(), **model.fields, "conserving": _CONSERVING, **dict(self.more)}
        own = {k: v for k, v in value.items() if k in fields or not _stray(k, name, path, problems)}
        needs = {**model.needs, **dict(self.needs)}
        read = Table(fields, model.required, needs=needs).read(own, path, problems)
        if read is MISSING or len(problems.found) > before:
            return MISSING
        options = {k: v for k, v in read.items() if k in model.fields}
        base = model.make(options, path, problems)
        if base is not MISSING and "conserving" in read:
            by = Conserving[read["conserving"].upper()]
            base = construct(MomentumConserving, {"damping": base, "by": by}, path, problems)
        if base is MISSING:
            return MISSING
        return {"base": base, **{k: read[k] for k, _ in self.more if k in read}}

    def _file(self, value: dict[str, Any], path: str, problems: Problems) -> Any:
        others = [name for name in value if name != "file"]
        if others:
            return problems.add(
                f"{path}.file",
                f"the file is the whole damping; leave out {listed(others)}, or edit them in the "
                "file",
            )
        return Table({"file": File()}).read(value, path, problems)


def _stray(field: str, model: str, path: str, problems: Problems) -> bool:
    """Whether a field is one of other models; notes of which."""
    of = [f'"{name}"' for name, other in MODELS.items() if field in other.fields]
    if of:
        problems.add(
            f"{path}.{field}", f'goes with model = {" or ".join(of)}, and this is "{model}"'
        )
    return bool(of)


# -- models ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Model:
    """The fields of a model, and how it is made of them."""

    fields: Mapping[str, Kind]
    required: tuple[str, ...]
    needs: Mapping[str, tuple[str, ...]]
    made_by: Any

    def make(self, options: dict[str, Any], path: str, problems: Problems) -> Any:
        return construct(self.made_by, options, path, problems)


_COEFFICIENT = Either(
    (Number(0.0), Named(Number(0.0))), "a number of zero or more, or a table of one a region"
)
_CONSERVING = Choice(tuple(by.name.lower() for by in Conserving))
_RATIOS: dict[str, Kind] = {"frequencies": Row(POSITIVE), "ratios": Row(Number(0.0))}
_TOGETHER = {"frequencies": ("ratios",), "ratios": ("frequencies",)}


def _rayleigh(**given: Any) -> Rayleigh:
    at = StiffnessAt[given.get("stiffness_at", "current").upper()]
    if "ratios" not in given:
        return Rayleigh(mass=given.get("mass", 0.0), stiffness=given.get("stiffness", 0.0), at=at)
    if "mass" in given or "stiffness" in given:
        raise InputError("give frequencies and ratios, or mass and stiffness, not both")
    if len(given["frequencies"]) != 2 or len(given["ratios"]) != 2:
        raise InputError(
            f"Rayleigh damping takes two frequencies and two ratios; got "
            f"{len(given['frequencies'])} and {len(given['ratios'])}. "
            'model = "caughey" takes any number'
        )
    (low, high), (first, second) = given["frequencies"], given["ratios"]
    return Rayleigh.from_ratios((low, high), (first, second), at=at)


def _caughey(**given: Any) -> Caughey:
    if ("coefficients" in given) == ("ratios" in given):
        raise InputError("give coefficients, or frequencies and ratios, for Caughey damping")
    if "coefficients" in given:
        return Caughey(tuple(given["coefficients"]))
    return Caughey.from_ratios(given["frequencies"], given["ratios"])


_KINDS: dict[file_kinds.Field, Kind] = {
    file_kinds.NUMBER: Number(),
    file_kinds.NUMBERS: Row(Number()),
    file_kinds.COEFFICIENT: _COEFFICIENT,
    file_kinds.VECTORS: VECTOR,
    file_kinds.YES_OR_NO: Flag(),
    file_kinds.TEXT: Text(),
    file_kinds.CURVE: CurveOf(),
    file_kinds.DAMPING: Within(),
}
"""What a scene has for a parameter of a damping file; arrays, as one number a cell, it has not."""


def _as_in_files() -> dict[str, _Model]:
    """Every model of damping files whose parameters can all be written in a scene."""
    made = {}
    for name, kind in file_kinds.KINDS.items():
        fields = {
            key: _Option(each) if each.options else _KINDS.get(each)
            for key, each in kind.fields.items()
        }
        known = {key: each for key, each in fields.items() if each is not None}
        of_solids = kind.model is not SpringStrainRate  # no scene has springs
        if fields and len(known) == len(fields) and of_solids:
            made[name] = _Model(known, kind.needed, {}, kind.model)
    return made


MODELS: dict[str, _Model] = {
    **_as_in_files(),
    "rayleigh": _Model(
        {
            "mass": _COEFFICIENT,
            "stiffness": _COEFFICIENT,
            **_RATIOS,
            "stiffness_at": Choice(tuple(at.name.lower() for at in StiffnessAt)),
        },
        (),
        _TOGETHER,
        _rayleigh,
    ),
    "caughey": _Model({**_RATIOS, "coefficients": Row(Number())}, (), _TOGETHER, _caughey),
}
"""Every model that a scene may name."""
