// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { axesOf, Orbit, perspective, product, turned } from "../../src/supple/web/shared/camera.js";
import { assertClose, dot } from "./close.js";

test("axes are perpendicular, of length one, and right-handed", () => {
  for (const [azimuth, elevation] of [
    [0, 0],
    [-62, 16],
    [135, 80],
  ]) {
    const { x, y, z } = axesOf(azimuth, elevation);
    for (const axis of [x, y, z]) assertClose(dot(axis, axis), 1);
    for (const [a, b] of [
      [x, y],
      [y, z],
      [z, x],
    ])
      assertClose(dot(a, b), 0);
    assertClose(x[0] * y[1] - x[1] * y[0], z[2]);
    assert.ok(y[2] > 0, "up is up");
  }
});

test("camera at azimuth −90 looks along +y", () => {
  const { x, z } = axesOf(-90, 0);
  assertClose(z, [0, -1, 0]);
  assertClose(x, [1, 0, 0]);
});

test("perspective shows the target in the middle and the field of view to its edge", () => {
  const axes = axesOf(-90, 0);
  const lens = { focal: 4, aspect: 2, near: 1, far: 100 };
  const m = perspective(axes, [0, -10, 0], lens);
  assertClose(onScreen(m, [0, 0, 0]).slice(0, 2), [0, 0]);
  assertClose(onScreen(m, [0, 0, 2.5]).slice(0, 2), [0, 1], 1e-6);
  assertClose(onScreen(m, [5, 0, 0]).slice(0, 2), [1, 0], 1e-6);
  assertClose(onScreen(m, [0, -9, 0])[2], -1, 1e-6);
  assertClose(onScreen(m, [0, 90, 0])[2], 1, 1e-6);
});

test("shift moves the picture left and up by a share of half its size", () => {
  const m = perspective(axesOf(30, 20), [1, 2, 3], {
    focal: 2,
    aspect: 1.5,
    near: 0.1,
    far: 50,
    shift: [0.3, 0.2],
  });
  const { z } = axesOf(30, 20);
  const ahead = [1, 2, 3].map((e, d) => e - 7 * z[d]);
  assertClose(onScreen(m, ahead).slice(0, 2), [-0.3, 0.2], 1e-5);
});

test("turned takes the viewer's direction to +z", () => {
  const { z } = axesOf(12, 34);
  assertClose(product(turned(axesOf(12, 34)), z, 3, 3), [0, 0, 1], 1e-6);
});

test("product is that of matrices by columns", () => {
  assertClose(product([1, 2, 3, 4], [5, 6, 7, 8], 2, 2), [23, 34, 31, 46]);
});

test("orbit stays within its limits", () => {
  const orbit = new Orbit(
    { azimuth: 10, elevation: 20 },
    { elevation: [-5, 80], zoom: [0.5, 2], speed: [0.5, 0.25] },
  );
  orbit.turn(20, 40);
  assert.deepEqual([orbit.azimuth, orbit.elevation], [0, 30]);
  orbit.turn(0, 1e4);
  assert.equal(orbit.elevation, 80);
  orbit.turn(0, -1e4);
  assert.equal(orbit.elevation, -5);
  orbit.approach(100);
  assert.equal(orbit.zoom, 2);
  orbit.approach(1e-3);
  assert.equal(orbit.zoom, 0.5);
});

/**
 * @param {ArrayLike<number>} m
 * @param {number[]} point
 */
function onScreen(m, point) {
  const c = product(m, [...point, 1], 4, 4);
  return [c[0] / c[3], c[1] / c[3], c[2] / c[3]];
}
