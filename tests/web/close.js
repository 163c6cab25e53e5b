// @ts-check
import assert from "node:assert/strict";

/**
 * Fails where numbers are farther apart than `within`, or not as many.
 *
 * @param {ArrayLike<number> | number} found
 * @param {ArrayLike<number> | number} wanted
 * @param {number} within
 */
export function assertClose(found, wanted, within = 1e-12) {
  const a = typeof found === "number" ? [found] : Array.from(found);
  const b = typeof wanted === "number" ? [wanted] : Array.from(wanted);
  assert.equal(a.length, b.length);
  a.forEach((x, i) => {
    assert.ok(Math.abs(x - b[i]) <= within, `[${i}]: ${x}, not ${b[i]} within ${within}`);
  });
}

/**
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
export function dot(a, b) {
  return Array.from(a).reduce((s, x, i) => s + x * b[i], 0);
}

/**
 * Numbers as a page holds them.
 *
 * @param {Float32Array | Float64Array | Int16Array | Uint32Array | Uint8Array} array
 */
export function encoded(array) {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");
}

/**
 * Numbers between −1 and 1 that are the same every time, by a linear congruence.
 *
 * @param {number} count
 * @param {number} seed
 */
export function scattered(count, seed = 1) {
  let state = seed;
  return Float64Array.from({ length: count }, () => {
    state = (1103515245 * state + 12345) % 2147483648;
    return state / 1073741824 - 1;
  });
}
