"""How scene files are checked: what a field may hold, and what to say if it does not.

A kind reads one value. It notes every problem with the path of the field, what was got and what is
allowed, and goes on, so that one look shows all of them. A table is a kind whose fields are listed.
"""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from supple.core.errors import InputError

MISSING: Any = object()
"""What a kind answers where the value cannot be used."""


@dataclass
class Problems:
    """Everything found wrong in a file so far. ``folder`` is where its relative paths start.

    ``above`` stands before the path of every field.
    """

    folder: Path
    found: list[str] = field(default_factory=list)
    above: str = ""

    def below(self, path: str) -> Problems:
        """The same list, for fields of the table ``path``."""
        return Problems(self.folder, self.found, f"{self.above}{path}.")

    def add(self, path: str, text: str) -> Any:
        """Note a problem; answers MISSING, for the caller to hand on."""
        place = f"{self.above}{path}".removesuffix(".")
        self.found.append(f"{place}: {text}" if place else text)
        return MISSING

    def got(self, path: str, value: Any, allowed: str) -> Any:
        return self.add(path, f"got {shown(value)}; must be {allowed}")

    @contextmanager
    def noting(self, path: str) -> Iterator[None]:
        """What goes wrong inside becomes a problem of the field ``path``."""
        try:
            yield
        except InputError as error:
            self.add(path, str(error))

    def stop(self, known: int = 0) -> None:
        """Go no further where more problems were found than were known."""
        if len(self.found) > known:
            raise Refused


class Refused(Exception):
    """A file that cannot be used; why is in its ``Problems``."""


class Kind(ABC):
    """What one field may hold."""

    @abstractmethod
    def read(self, value: Any, path: str, problems: Problems) -> Any:
        """The value to use, or MISSING after noting why there is none."""


@dataclass(frozen=True)
class Number(Kind):
    """A number between ``low`` and ``high``, which count unless ``above`` or ``below`` is set."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False
    infinite: bool = False
    unit: str = ""
    too_low: str = ""
    too_high: str = ""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        good = isinstance(value, (int, float)) and not isinstance(value, bool)
        good = good and (isinstance(value, float) or abs(value) < 10**300)  # fits a float
        good = good and not math.isnan(value) and (self.infinite or math.isfinite(value))
        if not good:
            return problems.got(path, value, self.allowed)
        high = value < self.high if self.below else value <= self.high
        if high and (value > self.low if self.above else value >= self.low):
            return float(value)
        why = self.too_low if high else self.too_high
        return problems.got(path, value, self.allowed + (f": {why}" if why else ""))

    @property
    def allowed(self) -> str:
        low = f"more than {self.low:g}" if self.above else f"at least {self.low:g}"
        high = f"less than {self.high:g}" if self.below else f"at most {self.high:g}"
        parts = [low] if self.low > -math.inf else []
        parts += [high] if self.high < math.inf else []
        unit = f" [{self.unit}]" if self.unit else ""
        return " ".join([f"a number{unit}", " and ".join(parts)]).strip()


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number from ``low`` on."""

    low: int = 1

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, int) and not isinstance(value, bool) and self.low <= value < 2**31:
            return value
        return problems.got(path, value, f"a whole number, {self.low} or more")


@dataclass(frozen=True)
class Text(Kind):
    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if isinstance(value, str) and value.strip():
            return value
        return problems.got(path, value, "a text in quotes")


@dataclass(frozen=True)
class Flag(Kind):
    def read(self, value: Any, path: str, problems: Problems) -> Any:
        return value if isinstance(value, bool) else problems.got(path, value, "true or false")


@dataclass(frozen=True)
class File(Kind):
    """The name of a file that is there, relative to the scene file."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, str) or not value.strip() or "\0" in value:
            return problems.got(path, value, "the name of a file in quotes")
        file = problems.folder / value
        if file.is_file():
            return file
        near = sorted(p.name for p in file.parent.iterdir()) if file.parent.is_dir() else []
        hint = guess(file.name, near)
        return problems.add(path, f"there is no file {file}{hint}")


@dataclass(frozen=True)
class Choice(Kind):
    """One of some names; capitals do not matter."""

    names: tuple[str, ...]

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        known = {name.lower(): name for name in self.names}
        if isinstance(value, str) and value.lower() in known:
            return known[value.lower()]
        hint = guess(value, self.names) if isinstance(value, str) else ""
        return problems.got(path, value, f"one of {', '.join(self.names)}{hint}")


@dataclass(frozen=True)
class Row(Kind):
    """An array of ``count`` values of one kind, or of any number from ``least`` on."""

    item: Kind
    count: int | None = None
    least: int = 1

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        many = f"{self.count}" if self.count is not None else f"{self.least} or more"
        length = len(value) if isinstance(value, list) else -1
        right = length == self.count if self.count is not None else length >= self.least
        if not right:
            what = {Number: "numbers", Whole: "whole numbers", Row: "rows"}.get(type(self.item))
            return problems.got(path, value, f"an array of {many} {what or 'values'}")
        return _read_all(self.item, value, path, problems)


@dataclass(frozen=True)
class Span(Kind):
    """A coordinate, or [low, high] with -inf or inf for an open end."""

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        pair = value if isinstance(value, list) else [value, value]
        ends = [Number(infinite=True).read(v, path, Problems(problems.folder)) for v in pair]
        if len(ends) != 2 or MISSING in ends or not ends[0] <= ends[1]:
            allowed = "a coordinate [m], or [low, high] with inf and -inf for open ends"
            return problems.got(path, value, allowed)
        return tuple(end if math.isfinite(end) else None for end in ends)


@dataclass(frozen=True)
class Either(Kind):
    """The first kind that takes the value; ``allowed`` says it in words."""

    kinds: tuple[Kind, ...]
    allowed: str

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        table = [kind for kind in self.kinds if isinstance(kind, (Table, Named))]
        if isinstance(value, dict) and table:
            return table[0].read(value, path, problems)
        for kind in self.kinds:
            read = kind.read(value, path, Problems(problems.folder))
            if read is not MISSING:
                return read
        return problems.got(path, value, self.allowed)


@dataclass(frozen=True)
class Table(Kind):
    """Named fields. ``required`` ones must be there; of ``one_of`` exactly one.

    ``at_most_one`` relaxes the latter; ``needs`` names fields that mean something only beside one
    of some others.
    """

    fields: Mapping[str, Kind]
    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    at_most_one: bool = False
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict):
            return problems.got(path, value, f"a table with {listed(self.fields)}")
        before, made, above = len(problems.found), {}, f"{path}." if path else ""
        for key, given in value.items():
            if key not in self.fields:
                hint = guess(key, self.fields) or f"; known here: {listed(self.fields)}"
                problems.add(above + key, f"there is no such field{hint}")
            else:
                made[key] = self.fields[key].read(given, above + key, problems)
        for key in self.required:
            if key not in value:
                problems.add(above + key, "is missing; it is needed")
        named = [key for key in self.one_of if key in value]
        if len(named) > 1 or (self.one_of and not named and not self.at_most_one):
            got = f"got {' and '.join(named)}" if named else "got none"
            problems.add(path, f"give one of {listed(self.one_of)}; {got}")
        for key, others in self.needs.items():
            if key in value and not any(other in value for other in others):
                problems.add(above + key, f"needs {' or '.join(others)} beside it")
        return made if len(problems.found) == before else MISSING


@dataclass(frozen=True)
class Named(Kind):
    """Any number of values of one kind, by names that the user chooses."""

    item: Kind

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, dict) or not value:
            return problems.got(path, value, "a table with a name for each entry")
        made = {k: self.item.read(v, f"{path}.{k}", problems) for k, v in value.items()}
        return MISSING if any(v is MISSING for v in made.values()) else made


@dataclass(frozen=True)
class Tables(Kind):
    """An array of tables, written ``[[name]]``."""

    item: Kind

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        if not isinstance(value, list):
            name = path.rsplit(".", 1)[-1]
            return problems.got(path, value, f"an array of tables, each starting with [[{name}]]")
        return _read_all(self.item, value, path, problems)


@dataclass(frozen=True)
class Made(Kind):
    """What ``make`` makes of a value of another kind, unless it refuses."""

    kind: Kind
    make: Callable[[Any], Any]

    def read(self, value: Any, path: str, problems: Problems) -> Any:
        read = self.kind.read(value, path, problems)
        try:
            return MISSING if read is MISSING else self.make(read)
        except InputError as error:
            return problems.add(path, str(error))


def construct(
    cls: Callable[..., Any], options: dict[str, Any], path: str, problems: Problems
) -> Any:
    """What ``cls`` makes of options; what it refuses is a problem of the field that it names."""
    try:
        return cls(**options)
    except InputError as error:
        place = f"{path}.{error.parameter}" if error.parameter in options else path
        return problems.add(place, str(error))


def _read_all(kind: Kind, values: list[Any], path: str, problems: Problems) -> Any:
    items = [kind.read(v, f"{path}[{i}]", problems) for i, v in enumerate(values)]
    return MISSING if any(item is MISSING for item in items) else items


def alike(kind: Kind, names: str) -> dict[str, Kind]:
    """Fields of one kind, whose names have spaces between them."""
    return dict.fromkeys(names.split(), kind)


def together(one: str, other: str) -> dict[str, tuple[str, ...]]:
    """The needs of two fields that mean something only beside each other."""
    return {one: (other,), other: (one,)}


def guess(word: str, known: Iterable[str]) -> str:
    """'; did you mean …?' where one of the known words is close."""
    lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.6)
    return f"; did you mean {lower[close[0]]}?" if close else ""


def listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def shown(value: Any) -> str:
    """A value as TOML writes it, shortened."""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, Mapping):
        text = f"a table with {listed(map(str, value)) or 'nothing in it'}"
    elif isinstance(value, Sequence) and not isinstance(value, str):
        text = "[" + ", ".join(shown(item) for item in value[:6]) + (", …]" if value[6:] else "]")
    else:
        text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else text[:77] + "…"


VECTOR = Row(Number(), 3)
POSITIVE = Number(0.0, above=True)
SPANS = {**alike(Span(), "x y z"), "tolerance": Number(0.0, unit="m")}
SELECTION = {**SPANS, "file": File(), "vertices": Row(Whole(0)), "place": Text()}
"""Fields that choose vertices."""
SELECTORS = tuple(name for name in SELECTION if name != "tolerance")
"""Those of them that can stand alone."""
SHEETS = ("grid", "sheet")
"""Fields of [mesh] that make a body one of cloth."""
