"""Objects that refuse to have attributes set which nobody reads."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from supple.core.checks import number, vector
from supple.core.errors import InputError
from supple.core.types import Floats

_set = object.__setattr__  # at hand: steps of a few microseconds set a few attributes


def read_only(array: Floats) -> Floats:
    """The array as it is given out: whoever tries to change it in place is told."""
    view = array.view()
    view.setflags(write=False)
    return view


class Guarded:
    """Takes values for the properties that can be set, and says so of everything else.

    A setting that is misspelled, or that would take no effect, must not pass in silence.
    """

    _fixed: ClassVar[dict[str, str]] = {}
    """What to do instead of setting an attribute that cannot be set."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] == "_":
            _set(self, name, value)
            return
        found = getattr(type(self), name, None)
        if isinstance(found, property) and found.fset is not None:
            found.fset(self, value)
        elif found is None or callable(found) or isinstance(found, property):
            raise self._refusal(name, found is not None)
        else:  # a subclass has declared it, with a default
            _set(self, name, value)

    def _refusal(self, name: str, known: bool) -> InputError:
        kind = type(self).__name__
        settable = [
            each
            for each in dir(type(self))
            if each[0] != "_"
            and isinstance(found := getattr(type(self), each), property)
            and found.fset is not None
        ]
        can = f"what can be set is {', '.join(settable)}"
        instead = self._fixed.get(name)
        if instead is not None:
            return InputError(f"{name} of a {kind} cannot be set: {instead}; {can}")
        if known:
            return InputError(f"{name} of a {kind} cannot be set; {can}")
        near = get_close_matches(name, settable, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return InputError(f"a {kind} has no {name} to set{hint} ({can})")


class Timed(Guarded):
    """A simulation whose step and gravity can be changed between two steps."""

    _dt: float
    _gravity: Floats

    @property
    def dt(self) -> float:
        """Time step [s]; assign another and go on, or give ``step`` its own."""
        return self._dt

    @dt.setter
    def dt(self, dt: float) -> None:
        self._dt = number("dt", dt, above=0, unit="s")
        self._note_dt()

    @property
    def gravity(self) -> Floats:
        """An acceleration (3,) [m/s²]; assign another and go on."""
        return read_only(self._gravity)

    @gravity.setter
    def gravity(self, gravity: ArrayLike) -> None:
        self._gravity = vector("gravity", gravity)
        self._note_gravity()

    def _note_dt(self) -> None:
        """See to what depends on the step."""

    def _note_gravity(self) -> None:
        """See to what depends on gravity."""
