// @ts-check
/** Motions as a report holds them: a base and a few shapes that weights mix, frame by frame. */

import { decode } from "../shared/arrays.js";
import { clamp } from "../shared/camera.js";

/**
 * @typedef {object} TrackData
 * @property {string} times
 * @property {string} base
 * @property {string} shapes
 * @property {number[]} scales
 * @property {string} weights
 */

/**
 * The frames around a time: `before`, `after`, and how far it is from the one to the other, 0…1.
 *
 * @param {ArrayLike<number>} times in order
 * @param {number} time
 */
export function between(times, time) {
  let before = 0;
  let after = times.length - 1;
  while (after - before > 1) {
    const middle = (before + after) >> 1;
    if (times[middle] <= time) before = middle;
    else after = middle;
  }
  const apart = times[after] - times[before];
  const share = after > before ? clamp((time - times[before]) / apart, [0, 1]) : 0;
  return { before, after, share };
}

/** One motion to play. */
export class Track {
  /** @param {TrackData} data */
  constructor(data) {
    this.times = decode(data.times, Float32Array);
    this.base = decode(data.base, Float32Array);
    this.shapes = decode(data.shapes, Int16Array);
    this.weights = decode(data.weights, Float32Array);
    this.scales = data.scales;
  }

  get end() {
    return this.times[this.times.length - 1];
  }

  /**
   * @param {number} time [s]
   * @param {Float32Array} positions (3 v), overwritten with where vertices are then [m]
   */
  pose(time, positions) {
    const { before, after, share } = between(this.times, time);
    const count = this.scales.length;
    const n = positions.length;
    positions.set(this.base);
    for (let k = 0; k < count; k++) {
      const from = this.weights[before * count + k];
      const to = this.weights[after * count + k];
      const x = ((1 - share) * from + share * to) * this.scales[k];
      for (let a = 0, b = k * n; a < n; a++, b++) positions[a] += x * this.shapes[b];
    }
  }
}

/**
 * Where an obstacle is at a time: matrices (4 × 4) and (3 × 3) by columns.
 *
 * @param {ArrayLike<number>} poses (12 T), [R c] of each frame by rows
 * @param {ArrayLike<number>} times (T) [s]
 * @param {number} time [s]
 */
export function placeOf(poses, times, time) {
  const { before, after, share } = between(times, time);
  /** @param {number} k */
  const x = (k) => (1 - share) * poses[12 * before + k] + share * poses[12 * after + k];
  const rotation = [x(0), x(4), x(8), x(1), x(5), x(9), x(2), x(6), x(10)];
  const columns = [0, 3, 6].flatMap((i) => [...rotation.slice(i, i + 3), 0]);
  return { rotation, place: [...columns, x(3), x(7), x(11), 1] };
}
