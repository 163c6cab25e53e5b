// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { decode } from "../../src/supple/web/shared/arrays.js";
import { boxOf, pickTriangle, vertexNormals } from "../../src/supple/web/shared/surface.js";
import { assertClose, encoded } from "./close.js";

// A pyramid over the unit square, its tip at (½, ½, 1).
const POSITIONS = new Float32Array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, 1]);
const TRIANGLES = new Uint32Array([0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4, 0, 2, 1, 0, 3, 2]);

test("numbers are read back as they were written", () => {
  const values = new Float32Array([1.5, -2, 1e-7]);
  assert.deepEqual(decode(encoded(values), Float32Array), values);
  const whole = new Int16Array([-32768, 0, 32767]);
  assert.deepEqual(decode(encoded(whole), Int16Array), whole);
});

test("normals have length one and point outwards", () => {
  const normals = new Float32Array(POSITIONS.length).fill(7);
  vertexNormals(POSITIONS, TRIANGLES, normals);
  assertClose(normals.slice(12), [0, 0, 1], 1e-6);
  for (let i = 0; i < 15; i += 3) {
    assertClose(Math.hypot(...normals.slice(i, i + 3)), 1, 1e-6);
    const out = [0.5, 0.5, 0.25].map((c, d) => POSITIONS[i + d] - c);
    assert.ok(out.reduce((s, x, d) => s + x * normals[i + d], 0) > 0);
  }
});

test("vertices of no triangle have no normal, and no NaN", () => {
  const normals = new Float32Array(6);
  vertexNormals(new Float32Array(6), new Uint32Array([0, 0, 1]), normals);
  assert.deepEqual([...normals], [0, 0, 0, 0, 0, 0]);
});

test("box reaches to the farthest vertices", () => {
  assert.deepEqual(boxOf(POSITIONS), { low: [0, 0, 0], high: [1, 1, 1] });
});

test("ray picks the nearest side, with weights of the point that it meets", () => {
  const hit = pickTriangle([0.5, -5, 0.25], [0, 1, 0], POSITIONS, TRIANGLES);
  assert.ok(hit);
  assert.deepEqual(hit.corners, [0, 1, 4]);
  const place = [0, 0, 0];
  hit.corners.forEach((corner, k) => {
    for (let d = 0; d < 3; d++) place[d] += hit.weights[k] * POSITIONS[3 * corner + d];
  });
  assertClose(place, [0.5, 0.125, 0.25], 1e-6);
});

test("ray that misses, points away or runs along a side picks nothing", () => {
  assert.equal(pickTriangle([3, -5, 0.25], [0, 1, 0], POSITIONS, TRIANGLES), null);
  assert.equal(pickTriangle([0.5, -5, 0.25], [0, -1, 0], POSITIONS, TRIANGLES), null);
  const flat = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]);
  assert.equal(pickTriangle([-1, 0.2, 0], [1, 0, 0], flat, new Uint32Array([0, 1, 2])), null);
});
