"""The player of a report: a motion as a few shapes, and a small WebGL viewer that mixes them."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.gltf import compress
from supple.io.pictures import Camera
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
                "times": _encoded(times, "<f4"),
                "base": _encoded(morph.base, "<f4"),
                "shapes": _encoded(shapes, "<i2"),
                "scales": [float(f"{s:.7g}") for s in scales],
                "weights": _encoded(morph.weights, "<f4"),
            }
        )
    wide = vertices > 65535
    data: dict[str, Any] = {
        "tracks": made,
        "wide": wide,
        "triangles": _encoded(triangles, "<u4" if wide else "<u2"),
        "colors": _encoded(np.round(255 * colors), "u1"),
        "target": list(camera.target),
        "height": camera.height,
        "width": camera.height * aspect,
        "azimuth": camera.azimuth,
        "elevation": camera.elevation,
        "floor": camera.floor,
    }
    # A name must not end the script element that holds the data.
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _encoded(array: NDArray[Any], dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array).astype(dtype).tobytes()).decode("ascii")


SCRIPT = r"""
(function () {
"use strict";
const root = document.getElementById("player");
if (!root) return;
const canvas = root.querySelector("canvas"), slider = root.querySelector("input");
const button = root.querySelector("button"), clock = root.querySelector("output");
const gl = canvas.getContext("webgl2", {antialias: true, premultipliedAlpha: true});
if (!gl) { root.classList.add("still"); return; }
const data = JSON.parse(document.getElementById("motion").textContent);
const bytes = s => Uint8Array.from(atob(s), c => c.charCodeAt(0)).buffer;
const triangles = data.wide ? new Uint32Array(bytes(data.triangles))
                            : Uint32Array.from(new Uint16Array(bytes(data.triangles)));
const colors = new Uint8Array(bytes(data.colors));
const tracks = data.tracks.map(t => ({
  name: t.name, times: new Float32Array(bytes(t.times)), base: new Float32Array(bytes(t.base)),
  shapes: new Int16Array(bytes(t.shapes)), scales: t.scales,
  weights: new Float32Array(bytes(t.weights)) }));
const n = tracks[0].base.length, K = t => t.scales.length;
const start = tracks[0].times[0], end = Math.max(...tracks.map(t => t.times[t.times.length - 1]));
const vertexShader = `#version 300 es
in vec3 p; in vec3 q; in vec3 c; uniform mat4 m; uniform mat3 v;
out vec3 N; out vec3 C; out float up;
void main() { N = v * q; C = c; up = q.z; gl_Position = m * vec4(p, 1.); }`;
const fragmentShader = `#version 300 es
precision highp float; in vec3 N; in vec3 C; in float up; out vec4 o;
float lamp(vec3 n, vec3 d, float w) { return max((dot(n, normalize(d)) + w) / (1. + w), 0.); }
void main() {
  vec3 n = normalize(N); if (!gl_FrontFacing) n = -n;
  float s = .5 + .5 * clamp(up, -1., 1.);
  vec3 base = pow(C, vec3(2.2));
  vec3 a = s * vec3(.42, .45, .52) + (1. - s) * vec3(.30, .22, .19);
  vec3 key = pow(lamp(n, vec3(-.55, .75, .65), .25), 1.3) * vec3(.98, .92, .82);
  vec3 fill = lamp(n, vec3(.9, .1, .5), .2) * vec3(.12, .14, .19);
  float h = .07 * pow(lamp(n, vec3(-.3, .45, 1.), 0.), 36.);
  float rim = pow(1. - clamp(n.z, 0., 1.), 3.) * s * .22;
  o = vec4(pow(clamp(base * (a + key + fill) + h + rim * (.4 + .6 * base), 0., 1.),
    vec3(1. / 2.2)), 1.); }`;
const discVertex = `#version 300 es
in vec2 p; uniform mat4 m; uniform vec4 d; out vec2 r;
void main() { r = p; gl_Position = m * vec4(d.xy + p * d.w, d.z, 1.); }`;
const discFragment = `#version 300 es
precision highp float; in vec2 r; out vec4 o;
void main() {
  float a = .42 * pow(max(0., 1. - dot(r, r)), 1.6); o = vec4(vec3(.10, .08, .09) * a, a); }`;
function program(vs, fs) {
  const p = gl.createProgram();
  [[gl.VERTEX_SHADER, vs], [gl.FRAGMENT_SHADER, fs]].forEach(([kind, text]) => {
    const s = gl.createShader(kind); gl.shaderSource(s, text); gl.compileShader(s);
    gl.attachShader(p, s); });
  ["p", "q", "c"].forEach((name, i) => gl.bindAttribLocation(p, i, name));
  gl.linkProgram(p); return p; }
const body = program(vertexShader, fragmentShader), disc = program(discVertex, discFragment);
if (!gl.getProgramParameter(body, gl.LINK_STATUS)) { root.classList.add("still"); return; }
const at = (p, name) => gl.getUniformLocation(p, name);
const position = new Float32Array(n), normal = new Float32Array(n);
const buffers = [0, 1, 2, 3].map(() => gl.createBuffer());
function attribute(buffer, i, size, kind, scaled) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer); gl.enableVertexAttribArray(i);
  gl.vertexAttribPointer(i, size, kind, scaled, 0, 0); }
gl.bindBuffer(gl.ARRAY_BUFFER, buffers[2]); gl.bufferData(gl.ARRAY_BUFFER, colors, gl.STATIC_DRAW);
const indices = gl.createBuffer(); gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices);
gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
gl.bindBuffer(gl.ARRAY_BUFFER, buffers[3]);
gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
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
  normal.fill(0);
  const p = position, q = normal;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    for (const d of [a, b, c]) { q[d] += x; q[d + 1] += y; q[d + 2] += z; } }
  for (let a = 0; a < n; a += 3) {
    const l = Math.hypot(q[a], q[a + 1], q[a + 2]) || 1;
    q[a] /= l; q[a + 1] /= l; q[a + 2] /= l; } }
const view = {azimuth: data.azimuth, elevation: data.elevation, zoom: 1};
let now = start, playing = !matchMedia("(prefers-reduced-motion: reduce)").matches, before = 0;
function camera(width, height) {
  const a = view.azimuth * Math.PI / 180, e = view.elevation * Math.PI / 180, T = data.target;
  const z = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
  const x = [-Math.sin(a), Math.cos(a), 0];
  const y = [z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]];
  const aspect = width / height, h = Math.max(data.height, data.width / aspect) * view.zoom * 1.08;
  const far = 3.4 * h, g = 2 * far / h;
  const row = (r, s) =>
    [s * r[0], s * r[1], s * r[2], -s * (r[0] * T[0] + r[1] * T[1] + r[2] * T[2])];
  const X = row(x, g / aspect), Y = row(y, g), Z = row(z, -1), near = far * .15, most = far * 4;
  Z[3] += far;
  const k = (most + near) / (most - near), d = -2 * most * near / (most - near), m = [];
  for (let c = 0; c < 4; c++) m.push(X[c], Y[c], k * Z[c] + (c === 3 ? d : 0), Z[c]);
  const v = [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]];
  return {m: new Float32Array(m), v: new Float32Array(v)}; }
function draw() {
  const ratio = Math.min(devicePixelRatio || 1, 2), w = Math.round(canvas.clientWidth * ratio);
  const h = Math.round(canvas.clientHeight * ratio);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  const width = w / tracks.length;
  tracks.forEach((track, i) => {
    gl.viewport(Math.round(i * width), 0, Math.round(width), h);
    const {m, v} = camera(width, h);
    pose(track, now);
    if (data.floor !== null) {
      let a = [1e9, 1e9, 1e9], b = [-1e9, -1e9, -1e9];
      for (let p = 0; p < n; p++) {
        const k = p % 3; a[k] = Math.min(a[k], position[p]); b[k] = Math.max(b[k], position[p]); }
      gl.useProgram(disc); gl.disable(gl.DEPTH_TEST); gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      gl.disableVertexAttribArray(1); gl.disableVertexAttribArray(2);
      attribute(buffers[3], 0, 2, gl.FLOAT, false);
      gl.uniformMatrix4fv(at(disc, "m"), false, m);
      gl.uniform4f(at(disc, "d"), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, data.floor,
        .62 * Math.max(b[0] - a[0], b[1] - a[1]));
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4); gl.disable(gl.BLEND); }
    gl.useProgram(body); gl.enable(gl.DEPTH_TEST);
    [position, normal].forEach((array, k) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffers[k]);
      gl.bufferData(gl.ARRAY_BUFFER, array, gl.DYNAMIC_DRAW);
      attribute(buffers[k], k, 3, gl.FLOAT, false); });
    attribute(buffers[2], 2, 3, gl.UNSIGNED_BYTE, true);
    gl.uniformMatrix4fv(at(body, "m"), false, m); gl.uniformMatrix3fv(at(body, "v"), false, v);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices);
    gl.drawElements(gl.TRIANGLES, triangles.length, gl.UNSIGNED_INT, 0); });
  slider.value = (now - start) / (end - start || 1) * 1000;
  clock.textContent = now.toFixed(2) + " s";
  button.textContent = playing ? "Pause" : "Play";
  document.querySelectorAll("svg.plot").forEach(svg => {
    const d = svg.dataset, f = (now - d.t0) / (d.t1 - d.t0), line = svg.querySelector(".cursor");
    const x = +d.x0 + Math.min(1, Math.max(0, f)) * (d.x1 - d.x0);
    line.setAttribute("x1", x); line.setAttribute("x2", x); }); }
function tick(ms) {
  if (playing) {
    now += Math.min(.1, (ms - before) / 1000); if (now > end + .6) now = start;
    const shown = now; now = Math.min(now, end); draw(); now = shown;
    requestAnimationFrame(tick); }
  before = ms; }
function play(on) { playing = on; if (on) { if (now >= end) now = start; before = performance.now();
  requestAnimationFrame(tick); } draw(); }
button.onclick = () => play(!playing);
slider.oninput = () => {
  now = start + slider.value / 1000 * (end - start); playing = false; draw(); };
document.querySelectorAll("svg.plot").forEach(svg => svg.addEventListener("pointerdown", e => {
  const box = svg.getBoundingClientRect(), d = svg.dataset;
  const x = (e.clientX - box.left) / box.width * 480;
  now = Math.min(end, Math.max(start, +d.t0 + (x - d.x0) / (d.x1 - d.x0) * (d.t1 - d.t0)));
  playing = false; draw(); }));
const held = new Map();
canvas.addEventListener("pointerdown", e => {
  held.set(e.pointerId, e); canvas.setPointerCapture(e.pointerId); });
["pointerup", "pointercancel"].forEach(k =>
  canvas.addEventListener(k, e => held.delete(e.pointerId)));
canvas.addEventListener("pointermove", e => {
  const past = held.get(e.pointerId); if (!past || held.size > 1) return;
  view.azimuth -= (e.clientX - past.clientX) * .45;
  view.elevation = Math.min(85, Math.max(-20, view.elevation + (e.clientY - past.clientY) * .35));
  held.set(e.pointerId, e); if (!playing) draw(); });
canvas.addEventListener("wheel", e => { if (!e.ctrlKey) return; e.preventDefault();
  view.zoom = Math.min(3, Math.max(.3, view.zoom * Math.exp(e.deltaY * .002)));
  if (!playing) draw(); }, {passive: false});
canvas.addEventListener("webglcontextlost", () => root.classList.add("still"));
new ResizeObserver(() => draw()).observe(canvas);
root.classList.add("live"); document.body.classList.add("playing"); play(playing);
})();
"""
"""Plays the motion: orbit by dragging, zoom by pinching, scrub; plots show the same moment."""
