"""What Supple raises. Every message says what was got, what is needed and how to mend it."""

from __future__ import annotations

from math import isnan


class SuppleError(Exception):
    """Base of everything Supple raises on purpose."""


class InputError(SuppleError, ValueError):
    """An argument, a file or a scene that cannot be used as it is."""


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
        return _step_failed, (self.reason, self.time, self.residual, self.advice)


def _step_failed(reason: str, time: float, residual: float, advice: str) -> StepFailed:
    """Rebuild the exception on the far side of a process boundary."""
    return StepFailed(reason, time=time, residual=residual, advice=advice)
