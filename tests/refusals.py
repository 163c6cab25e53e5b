"""What is refused, and with which words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from supple.core.errors import InputError


def refused(
    words: str,
    make: Callable[..., object],
    *given: object,
    error: type[Exception] = InputError,
    **options: object,
) -> None:
    """Stops unless ``make(*given, **options)`` raises an error that says these words."""
    with pytest.raises(error, match=words):
        make(*given, **options)
