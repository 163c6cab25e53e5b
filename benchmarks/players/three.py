"""three.js in a headless browser: a page that compares its vertices with ours."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.players.frames import Frames, skinned_parts
from benchmarks.players.validator import installed
from supple.io.gltf.played import PlayedGltf

_PAGE = Path(__file__).with_name("three.html")
_FLAGS = "--headless=new --no-sandbox --use-gl=angle --use-angle=swiftshader"
_MORE = "--enable-unsafe-swiftshader --disable-dev-shm-usage --no-first-run"


def browser() -> str | None:
    """Chromium, if there is one."""
    return shutil.which("chromium") or shutil.which("google-chrome")


def compared(
    folder: Path, played: PlayedGltf, clips: Sequence[Frames], timeout: float = 1200.0
) -> dict[str, Any]:
    """How far three.js is from ``clips`` at most, by clip, in the units of the file."""
    command = browser()
    if command is None:
        raise RuntimeError("Chromium is not installed")
    modules = installed(folder, "three")
    wanted = {
        "parts": [
            {"node": part.node, "primitive": part.primitive, "count": part.count}
            for part in skinned_parts(played)
        ],
        "clips": [
            {"name": clip.clip, "animation": clip.animation, "times": clip.times.tolist()}
            for clip in clips
        ],
    }
    pages = {
        "/": ("text/html", _PAGE.read_bytes()),
        "/file.glb": ("model/gltf-binary", played.path.read_bytes()),
        "/wanted.json": ("application/json", json.dumps(wanted).encode()),
    }
    for clip in clips:
        data = clip.positions.astype(np.float32).tobytes()
        pages[f"/expected/{clip.animation}"] = ("application/octet-stream", data)
    done = threading.Event()
    result: dict[str, Any] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = pages.get(self.path)
            if found is None and self.path.startswith("/node_modules/three/"):
                script = modules / self.path[1:].split("?")[0]
                found = ("text/javascript", script.read_bytes()) if script.is_file() else None
            kind, data = found or ("text/plain", b"")
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            result.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            done.set()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with (
        ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server,
        tempfile.TemporaryDirectory() as profile,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        flags = [*_FLAGS.split(), *_MORE.split(), f"--user-data-dir={profile}"]
        process = subprocess.Popen(
            [command, *flags, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            answered = done.wait(timeout)
        finally:
            process.terminate()
            process.wait(30)
            server.shutdown()
    if not answered:
        raise RuntimeError(f"the browser gave no answer within {timeout:g} s")
    if "error" in result:
        raise RuntimeError(f"three.js: {result['error']}")
    return result
