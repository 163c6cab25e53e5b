// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { acrossAt, axisOf, timeAt } from "../../src/supple/web/report/plots.js";
import { between, placeOf, Track } from "../../src/supple/web/report/tracks.js";
import { product } from "../../src/supple/web/shared/camera.js";
import { assertClose, encoded } from "./close.js";

const AXIS = axisOf({ t0: "1", t1: "3", x0: "56", x1: "468" });

test("plot's cursor and clicks agree", () => {
  for (const time of [1, 1.7, 3]) assertClose(timeAt(AXIS, acrossAt(AXIS, time) / 480), time);
  assert.equal(acrossAt(AXIS, 0), 56);
  assert.equal(acrossAt(AXIS, 9), 468);
});

test("moments are found between frames, and held at the ends", () => {
  const times = [0, 0.5, 2];
  assert.deepEqual(between(times, 1.25), { before: 1, after: 2, share: 0.5 });
  assert.deepEqual(between(times, 0.5), { before: 1, after: 2, share: 0 });
  assert.deepEqual(between(times, -1), { before: 0, after: 1, share: 0 });
  assert.deepEqual(between(times, 9), { before: 1, after: 2, share: 1 });
  assert.deepEqual(between([4], 9), { before: 0, after: 0, share: 0 });
});

test("track mixes its shapes by the weights of the moment", () => {
  const track = new Track({
    times: encoded(new Float32Array([0, 1])),
    base: encoded(new Float32Array([1, 2, 3])),
    shapes: encoded(new Int16Array([10, 0, 0, 0, 100, 0])),
    scales: [0.1, 0.01],
    weights: encoded(new Float32Array([0, 2, 1, 0])),
  });
  const positions = new Float32Array(3);
  track.pose(0.25, positions);
  assertClose(positions, [1.25, 3.5, 3], 1e-6);
  assert.equal(track.end, 1);
});

test("obstacle is placed by the rotation and the translation of its frame", () => {
  // A quarter turn about z, then 5 along x.
  const poses = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 5, 1, 0, 0, 0, 0, 0, 1, 0];
  const { place, rotation } = placeOf(poses, [0, 1], 1);
  assertClose(product(place, [1, 2, 3, 1], 4, 4), [3, 1, 3, 1]);
  assertClose(product(rotation, [1, 2, 3], 3, 3), [-2, 1, 3]);
});
