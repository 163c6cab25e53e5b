"""What the moving pictures of a report share: shaders, normals, a camera, a body and its shadow."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.core.types import Ints
from supple.io.pictures import Camera


def view_data(vertices: int, triangles: Ints, camera: Camera, aspect: float) -> dict[str, Any]:
    """What ``VIEW`` needs to know of a body with so many vertices.

    ``aspect`` is that of the picture that the camera frames.
    """
    wide = vertices > 65535
    return {
        "vertices": vertices,
        "wide": wide,
        "triangles": encoded(triangles, "<u4" if wide else "<u2"),
        "target": list(camera.target),
        "height": camera.height,
        "width": camera.height * aspect,
        "azimuth": camera.azimuth,
        "elevation": camera.elevation,
        "floor": camera.floor,
    }


def encoded(array: NDArray[Any], dtype: str) -> str:
    """Numbers as text that a script reads back with ``bytes``."""
    return base64.b64encode(np.ascontiguousarray(array).astype(dtype).tobytes()).decode("ascii")


def script_text(data: dict[str, Any]) -> str:
    """JSON that may stand in a script element: no name in it can end that."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


VIEW = r"""
const bytes = s => Uint8Array.from(atob(s), c => c.charCodeAt(0)).buffer;
const triangles = data.wide ? new Uint32Array(bytes(data.triangles))
                            : Uint32Array.from(new Uint16Array(bytes(data.triangles)));
const n = 3 * data.vertices;
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
const indices = gl.createBuffer(); gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices);
gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
gl.bindBuffer(gl.ARRAY_BUFFER, buffers[3]);
gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
function findNormals() {
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
function orbit(canvas, redraw) {
  const held = new Map();
  canvas.addEventListener("pointerdown", e => {
    held.set(e.pointerId, e); canvas.setPointerCapture(e.pointerId); });
  ["pointerup", "pointercancel"].forEach(k =>
    canvas.addEventListener(k, e => held.delete(e.pointerId)));
  canvas.addEventListener("pointermove", e => {
    const past = held.get(e.pointerId); if (!past || held.size > 1) return;
    view.azimuth -= (e.clientX - past.clientX) * .45;
    view.elevation = Math.min(85, Math.max(-20, view.elevation + (e.clientY - past.clientY) * .35));
    held.set(e.pointerId, e); redraw(); });
  canvas.addEventListener("wheel", e => { if (!e.ctrlKey) return; e.preventDefault();
    view.zoom = Math.min(3, Math.max(.3, view.zoom * Math.exp(e.deltaY * .002)));
    redraw(); }, {passive: false}); }
function drawBody(m, v) {
  if (data.floor !== null) {
    let a = [1e9, 1e9, 1e9], b = [-1e9, -1e9, -1e9];
    for (let p = 0; p < n; p++) {
      const k = p % 3; a[k] = Math.min(a[k], position[p]); b[k] = Math.max(b[k], position[p]); }
    gl.useProgram(disc); gl.enable(gl.DEPTH_TEST); gl.enable(gl.BLEND);
    gl.depthMask(false); gl.enable(gl.POLYGON_OFFSET_FILL); gl.polygonOffset(-2, -4);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.disableVertexAttribArray(1); gl.disableVertexAttribArray(2);
    attribute(buffers[3], 0, 2, gl.FLOAT, false);
    gl.uniformMatrix4fv(at(disc, "m"), false, m);
    gl.uniform4f(at(disc, "d"), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2, data.floor,
      .62 * Math.max(b[0] - a[0], b[1] - a[1]));
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4); gl.disable(gl.BLEND);
    gl.depthMask(true); gl.disable(gl.POLYGON_OFFSET_FILL); }
  gl.useProgram(body); gl.enable(gl.DEPTH_TEST);
  [position, normal].forEach((array, k) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[k]);
    gl.bufferData(gl.ARRAY_BUFFER, array, gl.DYNAMIC_DRAW);
    attribute(buffers[k], k, 3, gl.FLOAT, false); });
  attribute(buffers[2], 2, 3, gl.UNSIGNED_BYTE, true);
  gl.uniformMatrix4fv(at(body, "m"), false, m); gl.uniformMatrix3fv(at(body, "v"), false, v);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, indices);
  gl.drawElements(gl.TRIANGLES, triangles.length, gl.UNSIGNED_INT, 0); }
"""
"""Goes into a script that has a WebGL context ``gl``, the element ``root`` and ``data``."""
