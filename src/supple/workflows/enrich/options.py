"""What can be wished of flesh, and what is taken where nothing is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from supple.character.tissue.flesh import FREQUENCY
from supple.core.checks import number
from supple.core.errors import InputError
from supple.core.parameters import checked, parameter

_OF_FLESH = ("vertices", "poses", "modes", "size")  # of a quality: the rest is about files
_ONCE_CALLED = {"swing": "frequency"}  # in models of earlier versions


@dataclass(frozen=True)
class Quality:
    """How finely flesh is computed and kept.

    ``vertices`` of the tets; ``poses`` that have a model each, of ``modes`` vibrations and ``size``
    coordinates; ``substeps`` from frame to frame; at most ``targets`` shapes, None for as many as
    it takes, by which vertices may be off by ``tolerance`` of the way that flesh moves; whether
    ``normals`` turn along.
    """

    vertices: int
    poses: int
    modes: int
    size: int
    substeps: int
    targets: int | None
    tolerance: float
    normals: bool

    @classmethod
    def named(cls, given: str | Quality | None) -> Quality | None:
        """One of ``QUALITIES`` by its name; others as they are."""
        if not isinstance(given, str):
            return given
        if given not in QUALITIES:
            raise InputError.of("quality", given, f" must be one of {', '.join(QUALITIES)}")
        return QUALITIES[given]


QUALITIES = {
    "draft": Quality(1200, 3, 8, 16, 3, None, 0.1, False),
    "good": Quality(2500, 4, 12, 30, 5, None, 0.04, True),
    "best": Quality(4000, 6, 20, 60, 10, None, 0.01, True),
}


@dataclass(frozen=True)
class FleshOptions:
    """What flesh is made by, as ``enrich`` takes it; None where nothing was said."""

    soft: float | Mapping[str, float] | None = None
    frequency: float | None = parameter(None, "of flesh that is pushed", above=0, unit="Hz")
    quality: Quality | None = None
    length: float | None = parameter(None, "of the longest side of the skin", above=0, unit="m")
    skull: bool | None = None
    contact: bool | None = None
    regions: int | None = parameter(None, "limbs with shapes of their own", at_least=1)
    seed: int | None = parameter(None, "of what is tried at random", at_least=0)

    def __post_init__(self) -> None:
        checked(self)
        soft = self.soft
        if soft is not None:
            named = soft if isinstance(soft, Mapping) else {"*": number("soft", soft, at_least=0)}
            factors = {n: number(f"softness of {n}", s, at_least=0) for n, s in named.items()}
            object.__setattr__(self, "soft", factors)

    @classmethod
    def recorded(cls, kept: Mapping[str, Any]) -> FleshOptions:
        """Those that a model keeps, as ``asdict`` wrote them."""
        given = {_ONCE_CALLED.get(name, name): wish for name, wish in kept.items()}
        if isinstance(given.get("quality"), dict):
            given["quality"] = Quality(**given["quality"])
        known = {each.name for each in fields(cls)}
        return cls(**{name: wish for name, wish in given.items() if name in known})

    def over(self, others: FleshOptions) -> FleshOptions:
        """These, and what others say where these say nothing."""
        return replace(others, **{n: wish for n, wish in vars(self).items() if wish is not None})

    @property
    def by_name(self) -> dict[str, float]:
        """How soft, by what is named."""
        return dict(self.soft) if isinstance(self.soft, Mapping) else {"*": 1.0}

    def differences(self, others: FleshOptions) -> list[str]:
        """What these say that others do not."""
        mine, theirs = self._compared(), others._compared()
        return [name for name, wish in mine.items() if wish is not None and wish != theirs[name]]

    def _compared(self) -> dict[str, Any]:
        found = dict(vars(self))
        if self.soft is not None:
            found["soft"] = list(self.by_name.items())  # the last that fits counts
        if self.quality is not None:
            found["quality"] = [getattr(self.quality, name) for name in _OF_FLESH]
        return found


DEFAULTS = FleshOptions(1.0, FREQUENCY, QUALITIES["good"], skull=True, contact=True, seed=0)
"""What is taken where nothing is said."""
