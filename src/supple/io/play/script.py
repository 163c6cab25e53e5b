"""The script of a page that runs a reduced model: its controls, the mouse and the frames."""

SCRIPT = r"""
(function () {
"use strict";
const data = JSON.parse(document.getElementById("model").textContent);
const $ = id => document.getElementById(id);
const canvas = $("stage"), root = document.documentElement;
let scene = null, why = "no WebGL";
try { scene = makeView(canvas, data); } catch (error) { why = String(error); }
if (!scene) { root.classList.add("blind"); root.dataset.why = why; return; }
const r = data.size, live = !data.record, zero = new Float64Array(r);
const stepper = live ? makeStepper({size: r, mass: decode(data.mass, Float64Array),
  groups: data.groups.map(g => decode(g, Float64Array))}) : null;
const down = live ? decode(data.down, Float64Array) : null;
const poked = live ? decode(data.poke, Float64Array) : null;
const frames = live ? null : decode(data.record.q, Float32Array);
const poses = live || !data.record.poses ? null : decode(data.record.poses, Float32Array);
if (live) stepper.tolerance = 1e-5;  // plenty for the eye
const setting = {time: 1, damping: 0, gravity: 0, stiffness: 1, regions: data.regions.map(() => 1)};
const pose = new Float32Array(12), force = new Float64Array(r), shown = new Float64Array(r);
let paused = false, grab = null, left = 0, cost = 0, taken = 0, rate = 60, now = 0;

// -- the model ---------------------------------------------------------------------------
function settle() {
  const w = 2 * Math.PI * data.frequency;  // ζ at the first mode, half of it by each coefficient
  stepper.alpha = setting.damping * w; stepper.beta = setting.damping / w;
  for (let i = 0; i < r; i++) force[i] = setting.gravity * down[i]; }
function stiffen() {
  stepper.stiffen(data.members.map(list =>
    list.reduce((f, k) => f * setting.regions[k], setting.stiffness))); }
function take(h, depth) {
  if (stepper.step(h, force, grab)) return;
  if (depth < 5) { take(h / 2, depth + 1); take(h / 2, depth + 1); return; }
  stepper.set(stepper.q, zero);
  if (!stepper.step(h, force, grab)) { release(); stepper.set(zero, zero); } }
function advance(seconds) {
  left += seconds;
  let h = data.dt, n = Math.floor(left / h);
  const most = Math.max(1, Math.floor(9 / Math.max(cost, 1e-3)));  // [ms] of each frame
  if (n > most) { n = most; h = Math.min(left / n, 4 * h); left = n * h; }
  const began = performance.now();
  for (let i = 0; i < n; i++) take(h, 0);
  left = Math.max(0, left - n * h);
  if (n) {
    const each = (performance.now() - began) / n;
    cost = cost ? .9 * cost + .1 * each : each;
    taken = taken ? .9 * taken + .1 * n : n; } }
function replay(seconds) {
  const last = frames.length / r - 1;
  now = (now + seconds) % (last * data.record.dt);
  const i = Math.min(last - 1, Math.floor(now / data.record.dt)), f = now / data.record.dt - i;
  for (let k = 0; k < r; k++) shown[k] = (1 - f) * frames[i * r + k] + f * frames[(i + 1) * r + k];
  if (!poses) return null;
  for (let k = 0; k < 12; k++)
    pose[k] = (1 - f) * poses[12 * i + k] + f * poses[12 * i + 12 + k];
  return pose; }
function compliance(phi) {
  stepper.evaluate(zero);
  let c = 0;
  for (let d = 0; d < 3; d++) {
    const A = Float64Array.from(stepper.K), b = Float64Array.from(phi.subarray(d * r, d * r + r));
    if (!stepper.solve(A, b)) continue;
    for (let i = 0; i < r; i++) c += b[i] * phi[d * r + i]; }
  return c; }

// -- what the person does ----------------------------------------------------------------
const text = {
  factor: x => "×" + (x < 1 ? x.toPrecision(2) : x < 9.95 ? x.toFixed(1) : x.toFixed(0)),
  damping: x => "ζ " + x.toFixed(x < .1 ? 3 : 2), gravity: x => x.toFixed(1) + " m/s²" };
document.querySelectorAll("input[type=range]").forEach(input => {
  const name = input.dataset.name, region = input.dataset.region;
  const change = () => {
    const s = Number(input.value);
    let x = s;
    if (name === "damping") x = s * s;
    else if (name !== "gravity") x = Math.pow(10, s);
    if (region !== undefined) setting.regions[Number(region)] = x; else setting[name] = x;
    input.parentElement.querySelector("output").textContent = (text[name] || text.factor)(x);
    input.style.setProperty("--at",
      100 * (s - input.min) / (input.max - input.min) + "%");
    if (!live) return;
    if (name === "stiffness" || region !== undefined) stiffen();
    settle(); };
  input.addEventListener("input", change);
  input.addEventListener("dblclick", () => { input.value = input.defaultValue; change(); });
  change(); });
function release() { grab = null; $("release").disabled = true; scene.spring(null); }
function pause(on) { paused = on; $("pause").textContent = on ? "Go on" : "Pause"; }
const actions = {
  release,
  poke: () => { release(); pause(false); if (live) stepper.set(poked, zero); else now = 0; },
  reset: () => { release(); left = 0; stepper.set(zero, zero); },
  pause: () => pause(!paused) };
Object.keys(actions).forEach(name => $(name) && $(name).addEventListener("click", actions[name]));
addEventListener("keydown", e => {
  if (e.target.closest && e.target.closest("input, button, summary")) return;
  const name = {" ": "pause", Escape: "release", r: "reset", p: "poke"}[e.key];
  if (name && $(name)) { e.preventDefault(); actions[name](); } });
const held = new Map();
let mode = "", spread = 0;
function take_hold(e) {
  const hit = live && scene.pick(e.offsetX, e.offsetY, e.pointerType === "touch" ? 26 : 12);
  if (!hit) return false;
  const k = 20 / Math.max(compliance(hit.phi), .03 * data.compliance);
  grab = {phi: hit.phi, rest: hit.rest, target: Float64Array.from(hit.place), k,
    c: .12 * k / (2 * Math.PI * data.frequency)};
  grab.depth = scene.depth(hit.place);
  $("release").disabled = false; $("hint").classList.add("gone");
  return true; }
function lead(e) {
  const p = scene.at(e.offsetX, e.offsetY, grab.depth), x = grab.rest;
  const far = Math.hypot(p[0] - x[0], p[1] - x[1], p[2] - x[2]);
  const f = far > data.reach ? data.reach / far : 1;
  for (let d = 0; d < 3; d++) grab.target[d] = x[d] + f * (p[d] - x[d]); }
canvas.addEventListener("contextmenu", e => e.preventDefault());
canvas.addEventListener("pointerdown", e => {
  if (e.isTrusted) canvas.setPointerCapture(e.pointerId);
  held.set(e.pointerId, e);
  if (held.size === 1) {
    mode = e.button === 0 && take_hold(e) ? "pull" : "turn";
    if (mode === "pull" && paused) pause(false);
  } else { if (mode === "pull") release(); mode = "pinch"; spread = 0; }
  canvas.dataset.mode = mode; });
canvas.addEventListener("pointermove", e => {
  const past = held.get(e.pointerId);
  if (!past) {
    if (e.pointerType === "mouse" && live)
      canvas.dataset.mode = scene.pick(e.offsetX, e.offsetY, 12) ? "over" : "";
    return; }
  held.set(e.pointerId, e);
  if (mode === "pull" && grab) lead(e);
  if (mode === "turn") scene.turn(e.clientX - past.clientX, e.clientY - past.clientY);
  if (mode === "pinch" && held.size === 2) {
    const [a, b] = [...held.values()];
    const apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (spread) scene.zoom(spread / apart);
    spread = apart;
    scene.turn((e.clientX - past.clientX) / 2, (e.clientY - past.clientY) / 2); } });
["pointerup", "pointercancel"].forEach(kind => canvas.addEventListener(kind, e => {
  if (!held.delete(e.pointerId)) return;
  if (mode === "pull" && !$("keep").checked && !e.shiftKey) release();
  if (!held.size) { mode = ""; canvas.dataset.mode = ""; } }));
canvas.addEventListener("wheel", e => {
  e.preventDefault(); scene.zoom(Math.exp(Math.sign(e.deltaY) * Math.min(.2,
    Math.abs(e.deltaY) * .0015))); }, {passive: false});

// -- frames ------------------------------------------------------------------------------
let before = 0, told = 0;
function frame(time) {
  const wall = before ? Math.min(.05, (time - before) / 1000) : 1 / 60;
  if (before && time > before) rate = .95 * rate + .05 * 1000 / (time - before);
  before = time;
  let place = null;
  if (live) { if (!paused) advance(wall * setting.time); }
  else place = replay(paused ? 0 : wall * setting.time);
  scene.draw(live ? stepper.q : shown, place);
  if (live && grab) scene.spring(grab, stepper.q);
  if (time - told > 400) {
    told = time;
    const words = [`${r} coordinates`];
    if (live) words.push(`${(1000 * cost).toFixed(cost < .01 ? 1 : 0)} µs a step`,
      `${taken.toFixed(0)} steps a frame`);
    words.push(`${rate.toFixed(0)} frames a second`);
    $("stats").textContent = words.join(" · "); }
  requestAnimationFrame(frame); }
if (matchMedia("(max-width: 680px)").matches) $("panel").open = false;
if (live) {
  settle();
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) stepper.set(poked, zero); }
canvas.addEventListener("webglcontextlost", () => root.classList.add("blind"));
requestAnimationFrame(frame);
})();
"""
