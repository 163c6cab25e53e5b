"""What a damping is on a basis, kept while it is used: edits of the material ask for it again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar
from weakref import ref

Made = TypeVar("Made")


class Kept:
    """What was made of some objects, the latest for each first one, for as long as that lives.

    Objects are told apart by identity: dampings hold arrays, which have no hash. What is made must
    not hold the first one, which would then live for ever.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[ref[Any], ...], Any]] = {}

    def of(self, make: Callable[[], Made], owner: Any, *others: Any) -> Made:
        """What ``make`` makes of ``owner`` and ``others``; only where it is not known yet."""
        key, given = id(owner), (owner, *others)
        references, made = self._known.get(key, ((), None))
        same = len(references) == len(given) and all(
            reference() is each for reference, each in zip(references, given, strict=True)
        )
        if not same:
            made = make()
            gone = partial(_forget, self._known, key)
            self._known[key] = (ref(owner, gone), *map(ref, others)), made
        return made  # type: ignore[no-any-return]


def _forget(known: dict[int, Any], key: int, _: object) -> None:
    known.pop(key, None)
