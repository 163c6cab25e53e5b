"""The view of a page that runs a reduced model: WebGL, picking and the camera; z points up."""

VIEW = r"""
function decode(text, kind) {
  const raw = atob(text), made = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) made[i] = raw.charCodeAt(i);
  return new kind(made.buffer); }

function makeView(canvas, data) {
"use strict";
const gl = canvas.getContext("webgl2",
  {antialias: true, premultipliedAlpha: true, stencil: true, alpha: true});
if (!gl) return null;
const r = data.size, rest = decode(data.rest, Float32Array), n = rest.length;
const basis = new Float32Array(r * n);
{ const whole = decode(data.vectors, Int16Array);
  for (let i = 0; i < r; i++)
    for (let k = i * n; k < i * n + n; k++) basis[k] = data.scales[i] * whole[k]; }
const source = decode(data.source, Uint32Array), triangles = decode(data.triangles, Uint32Array);
const colors = decode(data.colors, Uint8Array), count = source.length;
const moved = new Float32Array(n), p = new Float32Array(3 * count), q = new Float32Array(3 * count);
const light = [.30, -.42, .86];

const bodyVertex = `#version 300 es
in vec3 p; in vec3 q; in vec3 c; uniform mat4 m; uniform vec3 thrown; uniform float ground;
out vec3 N; out vec3 C; out vec3 X;
void main() {
  N = q; C = c; X = p - thrown * max(p.z - ground, 0.); gl_Position = m * vec4(X, 1.); }`;
const bodyFragment = `#version 300 es
precision highp float; in vec3 N; in vec3 C; in vec3 X; uniform vec3 thrown; uniform vec3 eye;
uniform vec3 light; out vec4 o;
void main() {
  if (thrown.z > 0.) { o = vec4(.07, .05, .05, 1.) * .20; return; }
  vec3 n = normalize(N), e = normalize(eye - X);
  if (!gl_FrontFacing) n = -n;
  vec3 base = pow(C, vec3(2.2));
  float up = .5 + .5 * n.z, d = max((dot(n, light) + .28) / 1.28, 0.);
  vec3 ambient = mix(vec3(.27, .22, .20), vec3(.40, .42, .46), up);
  vec3 key = pow(d, 1.25) * vec3(.86, .81, .74);
  float shine = .16 * pow(max(dot(n, normalize(light + e)), 0.), 42.);
  float rim = .22 * pow(1. - max(dot(n, e), 0.), 3.) * up;
  vec3 lit = base * (ambient + key) + shine + rim * (.35 + .65 * base);
  o = vec4(pow(clamp(lit, 0., 1.), vec3(1. / 2.2)), 1.); }`;
const gridVertex = `#version 300 es
in vec2 p; uniform mat4 m; uniform vec4 d; out vec2 g;
void main() { g = p * d.w; gl_Position = m * vec4(d.xy + g, d.z, 1.); }`;
const gridFragment = `#version 300 es
precision highp float; in vec2 g; uniform vec4 ink; uniform float step; uniform float far;
uniform vec2 shift; out vec4 o;
float line(vec2 x, float w) {
  vec2 f = fwidth(x), a = abs(fract(x - .5) - .5) / max(f, 1e-6);
  vec2 b = clamp(w + .5 - a, 0., 1.) * clamp(2. - 4. * f, 0., 1.);
  return max(b.x, b.y); }
void main() {
  vec2 x = (g + shift) / step;
  float fade = pow(max(0., 1. - dot(g, g) / (far * far)), 2.);
  float a = (.55 * line(x, .5) + .45 * line(x / 5., .8)) * fade * ink.a;
  o = vec4(ink.rgb * a, a); }`;
function program(vs, fs) {
  const made = gl.createProgram();
  [[gl.VERTEX_SHADER, vs], [gl.FRAGMENT_SHADER, fs]].forEach(([kind, words]) => {
    const s = gl.createShader(kind); gl.shaderSource(s, words); gl.compileShader(s);
    gl.attachShader(made, s); });
  ["p", "q", "c"].forEach((name, i) => gl.bindAttribLocation(made, i, name));
  gl.linkProgram(made);
  const at = {};
  return {made, at: name => at[name] || (at[name] = gl.getUniformLocation(made, name))}; }
const body = program(bodyVertex, bodyFragment), grid = program(gridVertex, gridFragment);
[body, grid].forEach(x => { if (!gl.getProgramParameter(x.made, gl.LINK_STATUS))
  throw new Error(gl.getProgramInfoLog(x.made) || "a shader was refused"); });
const buffers = [0, 1, 2, 3].map(() => gl.createBuffer());
function attribute(buffer, i, size, kind, scaled) {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer); gl.enableVertexAttribArray(i);
  gl.vertexAttribPointer(i, size, kind, scaled, 0, 0); }
{ const tint = new Uint8Array(3 * count);
  for (let i = 0; i < count; i++) for (let d = 0; d < 3; d++) tint[3 * i + d] =
    colors[3 * source[i] + d];
  gl.bindBuffer(gl.ARRAY_BUFFER, buffers[2]);
  gl.bufferData(gl.ARRAY_BUFFER, tint, gl.STATIC_DRAW);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffers[3]);
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW); }

// -- the shape ---------------------------------------------------------------------------
function shape(x, place) {
  moved.set(rest);
  let i = 0;
  for (; i + 3 < r; i += 4) {  // u = U q, four vectors at a time
    const a = x[i], b = x[i + 1], c = x[i + 2], d = x[i + 3];
    const A = i * n, B = A + n, C = B + n, D = C + n;
    for (let k = 0; k < n; k++)
      moved[k] += a * basis[A + k] + b * basis[B + k] + c * basis[C + k] + d * basis[D + k]; }
  for (; i < r; i++) { const a = x[i], A = i * n; for (let k = 0; k < n; k++) moved[k] +=
    a * basis[A + k]; }
  if (place) for (let k = 0; k < n; k += 3) {  // x = p + R y
    const [a, b, c] = [moved[k], moved[k + 1], moved[k + 2]];
    for (let d = 0; d < 3; d++) moved[k + d] = place[9 + d]
      + place[3 * d] * a + place[3 * d + 1] * b + place[3 * d + 2] * c; }
  for (let k = 0; k < count; k++) {
    const s = 3 * source[k]; p[3 * k] = moved[s]; p[3 * k + 1] = moved[s + 1];
    p[3 * k + 2] = moved[s + 2]; }
  q.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
    const X = uy * vz - uz * vy, Y = uz * vx - ux * vz, Z = ux * vy - uy * vx;
    q[a] += X; q[a + 1] += Y; q[a + 2] += Z; q[b] += X; q[b + 1] += Y; q[b + 2] += Z;
    q[c] += X; q[c + 1] += Y; q[c + 2] += Z; } }

// -- the camera --------------------------------------------------------------------------
const eye = {azimuth: data.azimuth, elevation: data.elevation, zoom: 1};
const focus = Float64Array.from(data.target), tall = Math.tan(15 * Math.PI / 180);
let look = null;
function aim(place) {
  const W = canvas.clientWidth, H = canvas.clientHeight, panel = document.getElementById("panel");
  const box = panel.getBoundingClientRect(), wide = box.width < .6 * W;
  const free = wide ? [W - box.width - 24, H] : [W, H - Math.min(box.height, .5 * H)];
  const a = eye.azimuth * Math.PI / 180, e = eye.elevation * Math.PI / 180;
  const z = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
  const x = [-Math.sin(a), Math.cos(a), 0];
  const y = [z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]];
  const T = place ? [0, 1, 2].map(d => focus[d] + place[9 + d] - data.centre[d]) : focus;
  const narrow = Math.min(1, free[0] / free[1] / 1.45);
  const far = .84 * data.radius / tall / narrow * (H / free[1]) * eye.zoom;
  const E = [0, 1, 2].map(d => T[d] + far * z[d]);
  const row = (v, s) => [s * v[0], s * v[1], s * v[2],
    -s * (v[0] * E[0] + v[1] * E[1] + v[2] * E[2])];
  const f = 1 / tall, X = row(x, f * H / W), Y = row(y, f), Z = row(z, -1);
  const near = .05 * far, most = 30 * far;
  const sx = wide ? (W - free[0]) / W : 0, sy = wide ? 0 : (H - free[1]) / H;
  const k = (most + near) / (most - near), d = -2 * most * near / (most - near), m = [];
  for (let c = 0; c < 4; c++) m.push(X[c] - sx * Z[c], Y[c] + sy * Z[c],
    k * Z[c] + (c === 3 ? d : 0), Z[c]);
  look = {m: new Float32Array(m), x, y, z, E, W, H, sx, sy}; }
function project(X) {
  const m = look.m, c = k => m[k] * X[0] + m[4 + k] * X[1] + m[8 + k] * X[2] + m[12 + k], w = c(3);
  return [(c(0) / w + 1) / 2 * look.W, (1 - c(1) / w) / 2 * look.H, w]; }
function at(px, py, depth) {  // the point behind a pixel, so far along the view
  const {x, y, z, E, W, H, sx, sy} = look;
  const u = (2 * px / W - 1 + sx) * tall * W / H, v = (1 - 2 * py / H - sy) * tall;
  return [0, 1, 2].map(d => E[d] + depth * (u * x[d] + v * y[d] - z[d])); }
function depth(X) { return [0, 1, 2].reduce((s, d) => s + (look.E[d] - X[d]) * look.z[d], 0); }

// The point of the surface under a pixel, or the nearest vertex within a few pixels.
function pick(px, py, slack) {
  if (!look) return null;
  const O = look.E, A = at(px, py, 1), D = [A[0] - O[0], A[1] - O[1], A[2] - O[2]];
  let best = Infinity, corners = null, weights = null;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
    const hx = D[1] * vz - D[2] * vy, hy = D[2] * vx - D[0] * vz, hz = D[0] * vy - D[1] * vx;
    const det = ux * hx + uy * hy + uz * hz;
    if (Math.abs(det) < 1e-30) continue;
    const sx = O[0] - p[a], sy = O[1] - p[a + 1], sz = O[2] - p[a + 2];
    const f = (sx * hx + sy * hy + sz * hz) / det;
    if (f < 0 || f > 1) continue;
    const gx = sy * uz - sz * uy, gy = sz * ux - sx * uz, gz = sx * uy - sy * ux;
    const g = (D[0] * gx + D[1] * gy + D[2] * gz) / det;
    if (g < 0 || f + g > 1) continue;
    const far = (vx * gx + vy * gy + vz * gz) / det;
    if (far > 0 && far < best) {
      best = far; corners = [triangles[t], triangles[t + 1], triangles[t + 2]];
      weights = [1 - f - g, f, g]; } }
  if (!corners) {
    let near = slack;
    for (let i = 0; i < count; i++) {
      const s = project([p[3 * i], p[3 * i + 1], p[3 * i + 2]]);
      const apart = Math.hypot(s[0] - px, s[1] - py);
      if (s[2] > 0 && apart < near) { near = apart; corners = [i]; weights = [1]; } } }
  if (!corners) return null;
  const phi = new Float64Array(3 * r), X = [0, 0, 0], place = [0, 0, 0];
  corners.forEach((corner, k) => {
    const s = 3 * source[corner];
    for (let d = 0; d < 3; d++) {
      X[d] += weights[k] * rest[s + d]; place[d] += weights[k] * p[3 * corner + d];
      for (let i = 0; i < r; i++) phi[d * r + i] += weights[k] * basis[i * n + s + d]; } });
  return {phi, rest: X, place}; }

// -- drawing -----------------------------------------------------------------------------
const dark = matchMedia("(prefers-color-scheme: dark)");
function draw(x, place) {
  const ratio = Math.min(devicePixelRatio || 1, 2), w = Math.round(canvas.clientWidth * ratio);
  const h = Math.round(canvas.clientHeight * ratio);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  aim(place); shape(x, place);
  gl.viewport(0, 0, w, h); gl.clearColor(0, 0, 0, 0);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
  gl.enable(gl.BLEND); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA); gl.disable(gl.DEPTH_TEST);
  gl.useProgram(grid.made);
  gl.disableVertexAttribArray(1); gl.disableVertexAttribArray(2);
  attribute(buffers[3], 0, 2, gl.FLOAT, false);
  const wide = 9 * data.radius, X = data.target[0], Y = data.target[1];
  gl.uniformMatrix4fv(grid.at("m"), false, look.m);
  gl.uniform4f(grid.at("d"), X, Y, data.floor, wide);
  gl.uniform1f(grid.at("step"), data.grid); gl.uniform1f(grid.at("far"), wide);
  gl.uniform2f(grid.at("shift"), X, Y);
  const c = dark.matches ? [.93, .89, .84] : [.25, .20, .17];
  gl.uniform4f(grid.at("ink"), ...c, .26);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  gl.useProgram(body.made);
  [p, q].forEach((array, k) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[k]);
    gl.bufferData(gl.ARRAY_BUFFER, array, gl.DYNAMIC_DRAW);
    attribute(buffers[k], k, 3, gl.FLOAT, false); });
  attribute(buffers[2], 2, 3, gl.UNSIGNED_BYTE, true);
  gl.uniformMatrix4fv(body.at("m"), false, look.m);
  gl.uniform3fv(body.at("eye"), look.E); gl.uniform3fv(body.at("light"), light);
  gl.uniform1f(body.at("ground"), data.floor);
  if (look.E[2] > data.floor) {  // the shadow on the ground, each pixel once
    gl.enable(gl.STENCIL_TEST); gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.uniform3f(body.at("thrown"), light[0] / light[2], light[1] / light[2], 1);
    gl.drawElements(gl.TRIANGLES, triangles.length, gl.UNSIGNED_INT, 0);
    gl.disable(gl.STENCIL_TEST); }
  gl.disable(gl.BLEND); gl.enable(gl.DEPTH_TEST);
  gl.uniform3f(body.at("thrown"), 0, 0, 0);
  gl.drawElements(gl.TRIANGLES, triangles.length, gl.UNSIGNED_INT, 0); }
const overlay = document.getElementById("pull");
const [line, from, to] = overlay.children;
function spring(grab, x) {
  overlay.classList.toggle("on", !!grab);
  if (!grab) return;
  const place = [0, 1, 2].map(d => {
    let s = grab.rest[d];
    for (let i = 0; i < r; i++) s += grab.phi[d * r + i] * x[i];
    return s; });
  const a = project(place), b = project(grab.target);
  line.setAttribute("x1", a[0]); line.setAttribute("y1", a[1]);
  line.setAttribute("x2", b[0]); line.setAttribute("y2", b[1]);
  from.setAttribute("cx", a[0]); from.setAttribute("cy", a[1]);
  to.setAttribute("cx", b[0]); to.setAttribute("cy", b[1]); }
return {draw, pick, at, depth, spring,
  turn: (dx, dy) => { eye.azimuth -= .4 * dx;
    eye.elevation = Math.min(88, Math.max(-8, eye.elevation + .3 * dy)); },
  zoom: f => { eye.zoom = Math.min(4, Math.max(.15, eye.zoom * f)); }};
}
"""
