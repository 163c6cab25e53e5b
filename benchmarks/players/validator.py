"""The validator of the Khronos Group, npm package gltf-validator."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

_SCRIPT = Path(__file__).with_name("validate.mjs")


def installed(folder: Path, *packages: str) -> Path:
    """The folder, with packages of npm in it; they are fetched where they are not there."""
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is not installed; it comes with Node.js")
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "package.json").exists():
        (folder / "package.json").write_text('{"private": true}')
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process must not find half of a package
        missing = [name for name in packages if not (folder / "node_modules" / name).is_dir()]
        if missing:
            quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
            subprocess.run([npm, "install", *quiet, *missing], cwd=folder, check=True, timeout=300)
    return folder


def validated(folder: Path, *files: Path) -> list[dict[str, Any]]:
    """The issues of each file: numErrors, numWarnings, …, and messages."""
    node = shutil.which("node")
    if node is None:
        raise RuntimeError("Node.js is not installed")
    command = [node, str(_SCRIPT), str(installed(folder, "gltf-validator")), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
