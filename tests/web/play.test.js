// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { Live } from "../../src/supple/web/play/live.js";
import { Recording } from "../../src/supple/web/play/recording.js";
import { movedPoint, Shape } from "../../src/supple/web/play/shape.js";
import { Sight } from "../../src/supple/web/play/sight.js";
import { textOf, valueOf } from "../../src/supple/web/play/sliders.js";
import { Orbit } from "../../src/supple/web/shared/camera.js";
import { assertClose, encoded, scattered } from "./close.js";

const WINDOW = { width: 800, height: 600, right: 200, bottom: 0 };
const LIMITS = /** @type {import("../../src/supple/web/shared/camera.js").Limits} */ ({
  elevation: [-8, 88],
  zoom: [0.1, 4],
  speed: [1, 1],
});

/** A square in the plane y = 0, moved up by the first coordinate, its right side by the rest. */
function square() {
  const vectors = new Int16Array(5 * 12);
  for (let v = 0; v < 4; v++) vectors[3 * v + 2] = 100;
  for (let i = 1; i < 5; i++) vectors[12 * i + 3] = vectors[12 * i + 6] = 10 * i;
  return new Shape({
    size: 5,
    rest: encoded(new Float32Array([0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1])),
    vectors: encoded(vectors),
    scales: [0.01, 0.1, 0.1, 0.1, 0.1],
    source: encoded(new Uint32Array([0, 1, 2, 3, 2])),
    triangles: encoded(new Uint32Array([0, 1, 2, 0, 4, 3])),
  });
}

function sight(window = WINDOW) {
  return new Sight(new Orbit({ azimuth: -90, elevation: 0 }, LIMITS), [0.5, 0, 0.5], 1, window);
}

/** One coordinate, 1 kg on 9 N/m; two groups of half of that, the second in region 0. */
function live() {
  let now = 0;
  const half = encoded(Float64Array.of(2.25, 0, 0));
  return new Live(
    {
      size: 1,
      mass: encoded(Float64Array.of(1)),
      groups: [half, half],
      down: encoded(Float64Array.of(-1)),
      poke: encoded(Float64Array.of(0.5)),
      regions: ["soft"],
      members: [[], [0]],
      frequency: 3 / (2 * Math.PI),
      compliance: 1 / 9,
      dt: 1e-3,
      reach: 2,
    },
    () => (now += 1),
  );
}

test("shape is moved by all coordinates and keeps what is drawn twice together", () => {
  const shape = square();
  const q = [2, 0.1, 0.2, 0.3, 0.4];
  shape.move(q, null);
  const aside = 0.1 * 1 + 0.2 * 2 + 0.3 * 3 + 0.4 * 4;
  assertClose(shape.positions.slice(0, 6), [0, 0, 2, 1 + aside, 0, 2], 1e-5);
  assert.deepEqual(shape.positions.slice(12), shape.positions.slice(6, 9));
  const hit = shape.hit([1, 2], [0.5, 0.5]);
  assertClose(hit.rest, [1, 0, 0.5]);
  assertClose(movedPoint(hit, q), hit.place, 1e-5);
});

test("free shape is turned and set down", () => {
  const shape = square();
  shape.move([0, 0, 0, 0, 0], [0, -1, 0, 1, 0, 0, 0, 0, 1, 10, 20, 30]);
  assertClose(shape.positions.slice(6, 9), [10, 21, 31], 1e-5);
});

test("pixels lead back to the points that they show", () => {
  for (const window of [WINDOW, { width: 300, height: 600, right: 0, bottom: 250 }]) {
    const seen = sight(window);
    for (const point of [
      [0.2, 0.3, 0.4],
      [1, -1, 0],
    ]) {
      const [px, py, depth] = seen.project(point);
      assertClose(depth, seen.depth(point), 1e-5);
      assertClose(seen.at(px, py, seen.depth(point)), point, 1e-5);
    }
  }
});

test("body stands in the middle of what the panel leaves free", () => {
  assertClose(sight().project([0.5, 0, 0.5]).slice(0, 2), [300, 300], 1e-3);
  const below = sight({ width: 300, height: 600, right: 0, bottom: 200 });
  assertClose(below.project([0.5, 0, 0.5]).slice(0, 2), [150, 200], 1e-3);
});

test("pointer picks the surface under it, a vertex near it, or nothing", () => {
  const shape = square();
  const seen = sight();
  shape.move([0, 0, 0, 0, 0], null);
  const [px, py] = seen.project([0.3, 0, 0.6]);
  assertClose(seen.pick(shape, px, py, 12)?.place ?? [], [0.3, 0, 0.6], 1e-5);
  const [cx, cy] = seen.project([1, 0, 1]);
  assertClose(seen.pick(shape, cx + 5, cy - 5, 12)?.place ?? [], [1, 0, 1], 1e-6);
  assert.equal(seen.pick(shape, cx + 50, cy, 12), null);
});

test("sliders read factors as powers of ten and damping as a square", () => {
  assert.equal(valueOf("stiffness", -1), 0.1);
  assert.equal(valueOf("region", 1), 10);
  assertClose(valueOf("damping", 0.2), 0.04);
  assert.equal(valueOf("gravity", 9.81), 9.81);
  assert.equal(textOf("stiffness", 0.1), "×0.10");
  assert.equal(textOf("time", 2.5), "×2.5");
  assert.equal(textOf("region", 10), "×10");
  assert.equal(textOf("damping", 0.03), "ζ 0.030");
  assert.equal(textOf("gravity", 9.81), "9.8 m/s²");
});

test("damping is the ratio of the first mode", () => {
  const model = live();
  model.setDamping(0.25);
  const { alpha, beta } = model.stepper;
  assertClose(0.5 * (alpha / 3 + beta * 3), 0.25);
});

test("stiffness of a region changes the groups in it alone", () => {
  const model = live();
  const at = () => {
    model.stepper.energy.evaluate(Float64Array.of(1));
    return model.stepper.energy.R[0];
  };
  model.setStiffness(3, 0);
  assertClose(at(), 4.5 + 3 * 4.5);
  model.setStiffness(2);
  assertClose(at(), 2 * 4.5 + 2 * 3 * 4.5);
});

test("time that is left over is not lost", () => {
  const model = live();
  model.poke();
  for (let i = 0; i < 40; i++) model.advance(0.25e-3);
  const other = live();
  other.poke();
  for (let i = 0; i < 10; i++) other.advance(1e-3 + 1e-12);
  assertClose(model.q, other.q, 1e-9);
  assert.ok(model.q[0] < 0.5);
});

test("slow machine takes longer steps and falls behind rather than stall", () => {
  const model = live();
  model.cost = 3; // [ms]: three steps a frame
  model.poke();
  model.advance(0.05);
  assert.equal(model.taken, 3);
  assertClose(model.left, 0);
});

test("point that is held follows the pointer, not beyond its reach", () => {
  const model = live();
  model.hold({ phi: Float64Array.of(1, 0, 0), rest: [0, 0, 0], place: [0.1, 0, 0] });
  assertClose(model.grab?.k ?? 0, 20 * 9);
  model.lead([0, 8, 6]);
  assertClose(model.grab?.target ?? [], [0, 1.6, 1.2]);
  model.lead([1, 0, 0]);
  model.setDamping(1);
  for (let i = 0; i < 1000; i++) model.advance(0.01);
  assertClose(model.q, [180 / 189], 1e-6);
});

test("model that cannot go on is let go and set to rest", () => {
  const model = live();
  model.poke();
  model.hold({ phi: Float64Array.of(NaN, 0, 0), rest: [0, 0, 0], place: [0, 0, 0] });
  model.advance(2e-3);
  assert.equal(model.grab, null);
  assert.ok(Number.isFinite(model.q[0]));
});

test("recording starts over at its end and mixes frames between", () => {
  const frames = Float32Array.from(scattered(6));
  const recording = new Recording({ dt: 0.5, q: encoded(frames) }, 2);
  assertClose(recording.q, frames.slice(0, 2));
  recording.advance(0.25);
  assertClose(
    recording.q,
    [0, 1].map((k) => 0.5 * (frames[k] + frames[2 + k])),
    1e-7,
  );
  recording.advance(1);
  assertClose(recording.now, 0.25);
  recording.poke();
  recording.advance(0);
  assertClose(recording.q, frames.slice(0, 2));
  assert.equal(recording.place, null);
});

test("recording of a free body has its place", () => {
  const poses = Float32Array.from({ length: 24 }, (_, k) => k);
  const data = { dt: 1, q: encoded(new Float32Array(2)), poses: encoded(poses) };
  const recording = new Recording(data, 1);
  recording.advance(0.5);
  assertClose(
    recording.place ?? [],
    Array.from({ length: 12 }, (_, k) => k + 6),
  );
});
