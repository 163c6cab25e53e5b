// @ts-check
// That it moves like the compiled stepper is tested from Python, in tests/io/play.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Quartic } from "../../src/supple/web/play/quartic.js";
import { Stepper } from "../../src/supple/web/play/stepper.js";
import { assertClose, dot, scattered } from "./close.js";

/** @param {number} r */
function count(r) {
  const pairs = (r * (r + 1)) / 2;
  let triples = 0;
  let fours = 0;
  for (let a = 0; a < r; a++) {
    triples += ((a + 1) * (a + 2)) / 2;
    for (let b = 0; b <= a; b++) fours += ((b + 1) * (b + 2)) / 2;
  }
  return pairs + triples + fours;
}

/**
 * The energy itself, from the definition: coefficients times q_a q_b …, a ≥ b ≥ c ≥ d.
 *
 * @param {Float64Array} coefficients
 * @param {Float64Array} q
 */
function energy(coefficients, q) {
  const r = q.length;
  let t = 0;
  let sum = 0;
  for (let a = 0; a < r; a++) for (let b = 0; b <= a; b++) sum += coefficients[t++] * q[a] * q[b];
  for (let a = 0; a < r; a++)
    for (let b = 0; b <= a; b++)
      for (let c = 0; c <= b; c++) sum += coefficients[t++] * q[a] * q[b] * q[c];
  for (let a = 0; a < r; a++)
    for (let b = 0; b <= a; b++)
      for (let c = 0; c <= b; c++)
        for (let d = 0; d <= c; d++) sum += coefficients[t++] * q[a] * q[b] * q[c] * q[d];
  return sum;
}

/** Two masses of 1 kg, springs of 9 N/m and 36 N/m: 3 and 6 rad/s. */
function oscillators() {
  const coefficients = new Float64Array(count(2));
  coefficients[0] = 4.5;
  coefficients[2] = 18;
  return new Stepper({ size: 2, mass: Float64Array.of(1, 0, 0, 1), groups: [coefficients] });
}

for (const r of [1, 2, 3, 6, 7]) {
  test(`gradient and Hessian are those of the energy, ${r} coordinates`, () => {
    const coefficients = scattered(count(r), r);
    const quartic = new Quartic(r, [coefficients]);
    const q = scattered(r, 5);
    const h = 1e-5;
    quartic.evaluate(q);
    const [R, K] = [quartic.R.slice(), quartic.K.slice()];
    for (let i = 0; i < r; i++) {
      const [more, less] = [q.slice(), q.slice()];
      more[i] += h;
      less[i] -= h;
      assertClose(R[i], (energy(coefficients, more) - energy(coefficients, less)) / (2 * h), 1e-7);
      quartic.evaluate(more);
      const above = quartic.R.slice();
      quartic.evaluate(less);
      for (let j = 0; j < r; j++) {
        assertClose(K[i * r + j], (above[j] - quartic.R[j]) / (2 * h), 1e-7);
        assert.equal(K[i * r + j], K[j * r + i]);
      }
    }
  });
}

test("factors scale the groups that they belong to", () => {
  const groups = [scattered(count(3), 1), scattered(count(3), 2)];
  const q = scattered(3, 3);
  const both = new Quartic(3, groups);
  both.stiffen([2, 0.5]);
  both.evaluate(q);
  const [first, second] = groups.map((group) => new Quartic(3, [group]));
  first.evaluate(q);
  second.evaluate(q);
  assertClose(
    both.R,
    first.R.map((x, i) => 2 * x + 0.5 * second.R[i]),
  );
});

test("solve finds what definite matrices take to the right side, and refuses others", () => {
  const stepper = oscillators();
  const A = Float64Array.of(4, 2, 2, 3);
  const b = Float64Array.of(10, 11);
  assert.ok(stepper.solve(A.slice(), b));
  assertClose([4 * b[0] + 2 * b[1], 2 * b[0] + 3 * b[1]], [10, 11]);
  assert.equal(stepper.solve(Float64Array.of(1, 2, 2, 1), b), false);
});

test("undamped oscillators swing at their frequencies and keep their energy", () => {
  const stepper = oscillators();
  const none = new Float64Array(2);
  stepper.set([1, -0.5], none);
  const h = 1e-3;
  for (let i = 0; i < 2000; i++) assert.ok(stepper.step(h, none));
  // The trapezoidal rule swings as if ω were 2/h atan(ω h / 2).
  const [a, b] = [3, 6].map((w) => (2 / h) * Math.atan((w * h) / 2) * 2);
  assertClose(stepper.q, [Math.cos(a), -0.5 * Math.cos(b)], 1e-9);
  const kept = 0.5 * dot(stepper.v, stepper.v) + 4.5 * stepper.q[0] ** 2 + 18 * stepper.q[1] ** 2;
  assertClose(kept, 4.5 + 4.5, 1e-9);
});

test("constant force ends where it is balanced", () => {
  const stepper = oscillators();
  stepper.alpha = 8;
  for (let i = 0; i < 4000; i++) stepper.step(5e-3, [9, -72]);
  assertClose(stepper.q, [1, -2], 1e-8);
});

test("spring shares the load with the body", () => {
  const stepper = oscillators();
  stepper.alpha = 8;
  const phi = new Float64Array(6);
  phi[0] = 1; // moves along x with the first coordinate
  const spring = { phi, rest: [2, 0, 0], target: [3, 0, 0], k: 27, c: 1 };
  for (let i = 0; i < 4000; i++) stepper.step(5e-3, [0, 0], spring);
  assertClose(stepper.q, [27 / (27 + 9), 0], 1e-8);
});

test("step that cannot be solved leaves the state", () => {
  const stepper = oscillators();
  stepper.set([0.1, 0.2], [0.3, 0.4]);
  assert.equal(stepper.step(1e-3, [NaN, 0]), false);
  assert.deepEqual([...stepper.q, ...stepper.v], [0.1, 0.2, 0.3, 0.4]);
});
