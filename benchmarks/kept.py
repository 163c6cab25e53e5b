"""What long benchmarks have found so far, kept in a file so that they can go on where they were."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Kept:
    """Findings by name, a line of JSON each; a last line that was cut off counts for nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: dict[str, Any] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    name, value = json.loads(line)
                except json.JSONDecodeError:
                    continue
                self._found[name] = value

    def find(self, name: str, make: Callable[[], Any]) -> Any:
        """What is kept under a name, or else what ``make`` finds now."""
        if name not in self._found:
            value = make()
            with self._path.open("a") as file:
                file.write(json.dumps([name, value]) + "\n")
            self._found[name] = value
        return self._found[name]
