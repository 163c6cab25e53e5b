"""Input that is refused."""

from __future__ import annotations

from typing import Any

import pytest

import supple as sp


def refused(message: str, called: Any, /, *given: Any, **options: Any) -> None:
    """Whether a call raises InputError with a message."""
    with pytest.raises(sp.InputError, match=message):
        called(*given, **options)
