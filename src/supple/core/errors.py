"""What Supple raises. Every message says what was got, what is needed and how to mend it.

A message that names a parameter keeps it apart from the words around it, so that whoever passes it
on can call the parameter as his readers do: ``young=-1`` in Python is ``--young -1`` on the command
line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any, Self


@dataclass(frozen=True)
class Parameter:
    """A parameter that a message names: ``young=-1``, ``young[3]=-1``, ``young=`` or ``young``.

    ``value`` is the text of what was given, empty where the message asks for another, None where it
    speaks of the parameter in a sentence; ``index`` is the place in an array, with its brackets.
    """

    name: str
    value: str | None = None
    index: str = ""

    def __str__(self) -> str:
        return f"{self.name}{self.index}" + ("" if self.value is None else f"={self.value}")


Spelling = Callable[[Parameter], str]
"""How somebody's readers call a parameter."""


class Message(str):
    """A text, in Python's words, that knows the parameters it names.

    Made of texts and parameters in turn: ``Message("or a higher ", Parameter("swing", ""))``.
    """

    parts: tuple[str | Parameter, ...]

    def __new__(cls, *given: str | Parameter) -> Message:
        made = super().__new__(cls, "".join(map(str, given)))
        parts: list[str | Parameter] = []
        for part in given:
            parts += part.parts if isinstance(part, Message) else (part,)
        made.parts = tuple(parts)
        return made

    @property
    def parameter(self) -> str | None:
        """The name of the first parameter."""
        return next((part.name for part in self.parts if isinstance(part, Parameter)), None)


def spelled(text: str, spelling: Spelling) -> str:
    """A text with its parameters called otherwise; one that knows of none stays as it is."""
    if not isinstance(text, Message):
        return text
    return "".join(spelling(p) if isinstance(p, Parameter) else p for p in text.parts)


class SuppleError(Exception):
    """Base of everything Supple raises on purpose."""


class InputError(SuppleError, ValueError):
    """An argument, a file or a scene that cannot be used as it is.

    The message is a text, or the parts of a ``Message``. ``parameter`` is the name of the argument
    at fault, where one is: the first that the message names, unless another is given.
    """

    def __init__(self, *parts: str | Parameter, parameter: str | None = None) -> None:
        message = parts[0] if len(parts) == 1 else Message(*parts)
        super().__init__(message)
        self.parameter = parameter or (message.parameter if isinstance(message, Message) else None)

    @classmethod
    def of(cls, name: str, value: Any, text: str, *, index: str = "") -> Self:
        """An error about the value of a parameter: ``name=value`` and then the text."""
        return cls(Parameter(name, repr(value), index), text)

    def told(self, spelling: Spelling) -> str:
        """The message, with its parameters called otherwise."""
        return spelled(self.args[0], spelling)


class MeshError(InputError):
    """A mesh, or a file that should hold one, that cannot be used as it is."""


class ContactNotKept(InputError):
    """A contact that no basis, or none of the size asked for, can keep."""


class MissingExtra(SuppleError, ImportError):
    """A feature whose optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional package; run: pip install 'supple[{extra}]'")


class StepFailed(SuppleError, RuntimeError):
    """A time step that could not be solved. The state before the step is intact.

    Attributes: ``time`` [s] of the stage that failed, ``residual`` [N] when it gave up, NaN where
    it was not measured, and ``advice``, what to try.
    """

    def __init__(self, reason: str, *, time: float, residual: float, advice: str) -> None:
        left = "" if isnan(residual) else f" (residual {residual:.3g} N)"
        super().__init__(f"step to t = {time:.6g} s failed: {reason}{left}. {advice}")
        self.reason = reason
        self.time = time
        self.residual = residual
        self.advice = advice

    def __reduce__(self) -> tuple[object, ...]:
        given: dict[str, Any] = {
            "time": self.time, "residual": self.residual, "advice": self.advice,
        }  # fmt: skip
        return partial(StepFailed, self.reason, **given), ()
