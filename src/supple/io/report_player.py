"""The player of a report: a motion as a few shapes, and a small WebGL viewer that mixes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.io.gltf import compress
from supple.io.pictures import Camera
from supple.io.report_view import VIEW, encoded, script_text, view_data
from supple.types import Floats, Ints

_BUDGET = 1_900_000  # bytes of shapes, before base64
_TOLERANCE = 1e-3  # of the diagonal
_MOST_FRAMES = 1800


@dataclass(frozen=True, eq=False)
class Track:
    """One motion to play: its name, times (T,) [s] and drawn vertices (T, v, 3) [m]."""

    name: str
    times: Floats
    positions: Floats


def player_data(
    tracks: Sequence[Track], triangles: Ints, colors: Floats, camera: Camera, aspect: float
) -> str | None:
    """The motions as JSON for the viewer, vertices within about a thousandth of the body's size.

    ``aspect`` is that of the picture that the camera frames. None where the body is too large for
    a page.
    """
    vertices = tracks[0].positions.shape[1]
    most = min(24, _BUDGET // (len(tracks) * 6 * vertices) - 2)
    if most < 3:
        return None
    made = []
    for track in tracks:
        keep = np.unique(np.linspace(0, len(track.times) - 1, _MOST_FRAMES).astype(int))
        times = track.times[keep] if len(track.times) > _MOST_FRAMES else track.times
        positions = track.positions if len(times) == len(track.times) else track.positions[keep]
        size = float(np.linalg.norm(np.ptp(positions[0], axis=0)))
        morph = compress(positions, tolerance=_TOLERANCE * size, targets=most)
        scales = np.abs(morph.shapes).max(axis=(1, 2)) / 32767.0
        shapes = np.round(morph.shapes / np.maximum(scales, 1e-300)[:, None, None])
        made.append(
            {
                "name": track.name,
                "times": encoded(times, "<f4"),
                "base": encoded(morph.base, "<f4"),
                "shapes": encoded(shapes, "<i2"),
                "scales": [float(f"{s:.7g}") for s in scales],
                "weights": encoded(morph.weights, "<f4"),
            }
        )
    data: dict[str, Any] = {
        "tracks": made,
        "colors": encoded(np.round(255 * colors), "u1"),
    } | view_data(vertices, triangles, camera, aspect)
    return script_text(data)


SCRIPT = (
    r"""
(function () {
"use strict";
const root = document.getElementById("player");
if (!root) return;
const canvas = root.querySelector("canvas"), slider = root.querySelector("input");
const button = root.querySelector("button"), clock = root.querySelector("output");
const plots = document.querySelectorAll("svg.plot[data-t0]");
const gl = canvas.getContext("webgl2", {antialias: true, premultipliedAlpha: true});
if (!gl) { root.classList.add("still"); return; }
const data = JSON.parse(document.getElementById("motion").textContent);
"""
    + VIEW
    + r"""
const colors = new Uint8Array(bytes(data.colors));
const tracks = data.tracks.map(t => ({
  name: t.name, times: new Float32Array(bytes(t.times)), base: new Float32Array(bytes(t.base)),
  shapes: new Int16Array(bytes(t.shapes)), scales: t.scales,
  weights: new Float32Array(bytes(t.weights)) }));
const K = t => t.scales.length;
const start = tracks[0].times[0], end = Math.max(...tracks.map(t => t.times[t.times.length - 1]));
gl.bindBuffer(gl.ARRAY_BUFFER, buffers[2]); gl.bufferData(gl.ARRAY_BUFFER, colors, gl.STATIC_DRAW);
function pose(track, time) {
  const times = track.times, last = times.length - 1;
  let i = 0, j = last;
  while (j - i > 1) { const k = (i + j) >> 1; if (times[k] <= time) i = k; else j = k; }
  if (!last) j = 0;
  const f = j > i ? Math.min(1, Math.max(0, (time - times[i]) / (times[j] - times[i]))) : 0;
  position.set(track.base);
  const count = K(track), w = track.weights, s = track.shapes;
  for (let k = 0; k < count; k++) {
    const x = ((1 - f) * w[i * count + k] + f * w[j * count + k]) * track.scales[k];
    for (let a = 0, b = k * n; a < n; a++, b++) position[a] += x * s[b]; }
  findNormals(); }
let now = start, playing = !matchMedia("(prefers-reduced-motion: reduce)").matches, before = 0;
function draw() {
  const ratio = Math.min(devicePixelRatio || 1, 2), w = Math.round(canvas.clientWidth * ratio);
  const h = Math.round(canvas.clientHeight * ratio);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  const width = w / tracks.length;
  tracks.forEach((track, i) => {
    gl.viewport(Math.round(i * width), 0, Math.round(width), h);
    const {m, v} = camera(width, h);
    pose(track, now); drawBody(m, v); });
  slider.value = (now - start) / (end - start || 1) * 1000;
  clock.textContent = now.toFixed(2) + " s";
  button.textContent = playing ? "Pause" : "Play";
  plots.forEach(svg => {
    const d = svg.dataset, f = (now - d.t0) / (d.t1 - d.t0), line = svg.querySelector(".cursor");
    const x = +d.x0 + Math.min(1, Math.max(0, f)) * (d.x1 - d.x0);
    line.setAttribute("x1", x); line.setAttribute("x2", x); }); }
function tick(ms) {
  if (playing) {
    now += Math.min(.1, Math.max(0, (ms - before) / 1000)); if (now > end + .6) now = start;
    const shown = now; now = Math.min(now, end); draw(); now = shown;
    requestAnimationFrame(tick); }
  before = ms; }
function play(on) { playing = on; if (on) { if (now >= end) now = start; before = performance.now();
  requestAnimationFrame(tick); } draw(); }
button.onclick = () => play(!playing);
slider.oninput = () => {
  now = start + slider.value / 1000 * (end - start); playing = false; draw(); };
plots.forEach(svg => svg.addEventListener("pointerdown", e => {
  const box = svg.getBoundingClientRect(), d = svg.dataset;
  const x = (e.clientX - box.left) / box.width * 480;
  now = Math.min(end, Math.max(start, +d.t0 + (x - d.x0) / (d.x1 - d.x0) * (d.t1 - d.t0)));
  playing = false; draw(); }));
orbit(canvas, () => { if (!playing) draw(); });
canvas.addEventListener("webglcontextlost", () => root.classList.add("still"));
new ResizeObserver(() => draw()).observe(canvas);
root.classList.add("live"); document.body.classList.add("playing"); play(playing);
})();
"""
)
"""Plays the motion: orbit by dragging, zoom by pinching, scrub; plots show the same moment."""
