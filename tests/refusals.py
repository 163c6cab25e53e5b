"""What is refused, and with which words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from supple.core.errors import InputError


def refused(
    words: str,
    make: Callable[..., object],
    /,
    *given: object,
    error: type[Exception] = InputError,
    **options: object,
) -> None:
    """Stops unless ``make(*given, **options)`` raises an error that says these words."""
    with pytest.raises(error, match=words):
        make(*given, **options)


def refusals(*cases: tuple[Any, str], make: Callable[[Any], object] | None = None) -> Callable:
    """A test that each case, called or given to ``make``, is refused with the words beside it."""

    @pytest.mark.parametrize(("case", "words"), cases, ids=range(len(cases)))
    def test(case: Any, words: str) -> None:
        with pytest.raises(InputError, match=words):
            case() if make is None else make(case)

    return test
