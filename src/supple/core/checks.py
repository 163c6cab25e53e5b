"""Checks at the public edge. Each stops with what was got, what is needed and how to mend it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.core.errors import InputError, Parameter
from supple.core.types import Floats, Ints


def number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    unit: str = "",
) -> float:
    """A finite number within bounds."""
    wanted = "a finite number" + (f" [{unit}]" if unit else "")
    for word, bound in (("above", above), ("of at least", at_least), ("below", below)):
        if bound is not None:
            wanted += f" {word} {bound:g}"
    try:
        result = float(value)
    except (TypeError, ValueError) as error:
        raise InputError.of(name, value, f": give {wanted}") from error
    fine = np.isfinite(result)
    fine &= above is None or result > above
    fine &= at_least is None or result >= at_least
    fine &= below is None or result < below
    if not fine:
        raise InputError.of(name, value, f": give {wanted}")
    return result


def whole_number(name: str, value: Any, *, at_least: int) -> int:
    """An integer, at least so large."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < at_least:
        raise InputError.of(name, value, f": give a whole number of at least {at_least}")
    return int(value)


def instance(name: str, value: Any, kind: type | tuple[type, ...], example: str) -> None:
    """An object of a kind."""
    if not isinstance(value, kind):
        got = f"the class {value.__name__}" if isinstance(value, type) else repr(value)
        raise _wrong(name, f" is {got}; give an object such as {example}")


def several(name: str, given: Any, kind: Any, example: str) -> tuple[Any, ...]:
    """One or several of a kind, as a tuple."""
    found = (given,) if isinstance(given, kind) else given
    if not isinstance(found, Sequence) or not all(isinstance(each, kind) for each in found):
        raise InputError.of(name, given, f": give one such as {example}, or several")
    return tuple(found)


def numbers(name: str, value: Any, shapes: tuple[tuple[int, ...], ...] | None = None) -> Floats:
    """A finite float64 array, of one of the shapes if any are given."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError.of(name, value, ": give numbers") from error
    if shapes is not None and array.shape not in shapes:
        wanted = " or ".join(str(shape) for shape in shapes)
        raise _wrong(name, f" has shape {array.shape}; give {wanted}")
    if not np.isfinite(array).all():
        bad = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0]) if array.ndim else ()
        where = f"[{', '.join(map(str, bad))}]" if bad else ""
        raise _wrong(name, f" is {array[bad]}; every value must be finite", where)
    return array


def vector(name: str, value: ArrayLike) -> Floats:
    """Three finite numbers."""
    return numbers(name, value, ((3,),))


def vertex_indices(name: str, given: ArrayLike, n: int) -> Ints:
    """Indices (k,) from indices or from a mask (n,), all of them vertices of a mesh with n."""
    array = np.atleast_1d(np.asarray(given))
    if array.dtype == bool:
        if array.shape != (n,):
            raise _wrong(name, f" is a mask of shape {array.shape}; this mesh needs ({n},)")
        return np.flatnonzero(array)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise _wrong(
            name,
            f" is {array.dtype} of shape {array.shape}; give vertex indices (k,), "
            f"or a mask of vertices ({n},)",
        )
    if len(array) == n > 2 and array.max() <= 1:
        raise _wrong(name, " looks like a mask of 0 and 1; make it boolean: mask.astype(bool)")
    bad = array[(array < 0) | (array >= n)]
    if len(bad):
        raise _wrong(name, f" names vertex {bad[0]}, but the mesh has vertices 0 to {n - 1}")
    return array.astype(np.int64)


def cell_numbers(name: str, value: Any) -> Any:
    """A finite float, or a read-only array of one number a cell."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError.of(name, value, ": give a number, or one number for each cell") from error
    if array.ndim > 1:
        raise _wrong(name, f" has shape {array.shape}; give a scalar or shape (cells,)")
    require_all(name, array, np.isfinite(array), "it must be finite")
    if array.ndim == 0:
        return float(array)
    array.flags.writeable = False
    return array


def require_all(name: str, value: Any, valid: Any, advice: str) -> None:
    """Stop at the first value that is not valid."""
    array, valid = np.atleast_1d(np.asarray(value)), np.atleast_1d(valid)
    if not valid.all():
        bad = int(np.flatnonzero(~valid)[0])
        where = f"[{bad}]" if np.ndim(value) else ""
        raise InputError(Parameter(name, f"{array[bad]:g}", where), f": {advice}")


def _wrong(name: str, text: str, index: str = "") -> InputError:
    """An error about a parameter whose value is too long to show."""
    return InputError(Parameter(name, index=index), text)
