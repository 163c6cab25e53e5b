"""The player of a report: a motion as a few shapes, and a small WebGL viewer that mixes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.core.types import Floats, Ints
from supple.io.gltf.morph import compress
from supple.io.obstacle_surfaces import GREY, DrawnObstacle
from supple.io.pictures import Camera
from supple.io.report.view import VIEW, encoded, script_text, view_data
from supple.mesh.surface import vertex_normals

_BUDGET = 1_900_000  # bytes of shapes, before base64
_TOLERANCE = 1e-3  # of the diagonal
_MOST_FRAMES = 1800
_LARGEST = 20_000  # vertices of an obstacle


@dataclass(frozen=True, eq=False)
class Track:
    """One motion to play: its name, times (T,) [s] and drawn vertices (T, v, 3) [m]."""

    name: str
    times: Floats
    positions: Floats


def player_data(
    tracks: Sequence[Track],
    triangles: Ints,
    colors: Floats,
    camera: Camera,
    aspect: float,
    *,
    obstacles: Sequence[DrawnObstacle] = (),
) -> str | None:
    """The motions as JSON for the viewer, vertices within about a thousandth of the body's size.

    ``aspect`` is that of the picture that the camera frames. None where the body is too large for
    a page; obstacles that are too large are left out. Those that move have the frames of the first
    track.
    """
    vertices = tracks[0].positions.shape[1]
    most = min(24, _BUDGET // (len(tracks) * 6 * vertices) - 2)
    if most < 3:
        return None
    made = []
    for track in tracks:
        keep = _kept(len(track.times))
        times = track.times[keep]
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
        "obstacles": [_obstacle(each) for each in obstacles if len(each.vertices) <= _LARGEST],
    } | view_data(vertices, triangles, camera, aspect)
    return script_text(data)


def _kept(frames: int) -> Ints:
    """The frames that are shown of so many."""
    kept: Ints = np.unique(np.linspace(0, frames - 1, min(frames, _MOST_FRAMES)).astype(np.int64))
    return kept


def _obstacle(obstacle: DrawnObstacle) -> dict[str, Any]:
    """Triangles with normals and a colour and, if it moves, [R c] of each frame."""
    made: dict[str, Any] = {
        "vertices": encoded(obstacle.vertices, "<f4"),
        "normals": encoded(vertex_normals(obstacle.vertices, obstacle.triangles), "<f4"),
        "triangles": encoded(obstacle.triangles, "<u4"),
        "color": list(GREY),
    }
    if obstacle.rotations is not None and obstacle.translations is not None:
        poses = np.concatenate([obstacle.rotations, obstacle.translations[:, :, None]], axis=2)
        made["poses"] = encoded(poses[_kept(len(poses))], "<f4")
    return made


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
function between(times, time) {
  let i = 0, j = times.length - 1;
  while (j - i > 1) { const k = (i + j) >> 1; if (times[k] <= time) i = k; else j = k; }
  const f = j > i ? Math.min(1, Math.max(0, (time - times[i]) / (times[j] - times[i]))) : 0;
  return [i, j, f]; }
function pose(track, time) {
  const [i, j, f] = between(track.times, time);
  position.set(track.base);
  const count = K(track), w = track.weights, s = track.shapes;
  for (let k = 0; k < count; k++) {
    const x = ((1 - f) * w[i * count + k] + f * w[j * count + k]) * track.scales[k];
    for (let a = 0, b = k * n; a < n; a++, b++) position[a] += x * s[b]; }
  findNormals(); }
const obstacles = data.obstacles.map(o => {
  const made = {color: o.color, poses: o.poses && new Float32Array(bytes(o.poses)), buffers: []};
  [o.vertices, o.normals].forEach(text => {
    const buffer = gl.createBuffer(); made.buffers.push(buffer);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(bytes(text)), gl.STATIC_DRAW); });
  const faces = new Uint32Array(bytes(o.triangles));
  made.indices = gl.createBuffer(); made.count = faces.length;
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, made.indices);
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
  return made; });
function product(a, b, rows, depth) {  // of matrices by columns
  const c = new Float32Array(rows * b.length / depth);
  for (let k = 0; k < c.length; k++) { const row = k % rows, column = (k - row) / rows;
    for (let d = 0; d < depth; d++) c[k] += a[d * rows + row] * b[column * depth + d]; }
  return c; }
function drawObstacle(obstacle, m, v, time) {
  if (obstacle.poses) {
    const [i, j, f] = between(tracks[0].times, time), P = obstacle.poses;
    const x = k => (1 - f) * P[12 * i + k] + f * P[12 * j + k];
    m = product(m, [x(0), x(4), x(8), 0, x(1), x(5), x(9), 0, x(2), x(6), x(10), 0,
      x(3), x(7), x(11), 1], 4, 4);
    v = product(v, [x(0), x(4), x(8), x(1), x(5), x(9), x(2), x(6), x(10)], 3, 3); }
  gl.useProgram(body); gl.enable(gl.DEPTH_TEST);
  obstacle.buffers.forEach((buffer, k) => attribute(buffer, k, 3, gl.FLOAT, false));
  gl.disableVertexAttribArray(2); gl.vertexAttrib3f(2, ...obstacle.color);
  gl.uniformMatrix4fv(at(body, "m"), false, m); gl.uniformMatrix3fv(at(body, "v"), false, v);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, obstacle.indices);
  gl.drawElements(gl.TRIANGLES, obstacle.count, gl.UNSIGNED_INT, 0); }
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
    obstacles.forEach(obstacle => drawObstacle(obstacle, m, v, now));
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
