// @ts-check
/** A run that was recorded, for a model that cannot run in a page. */

import { decode } from "../shared/arrays.js";

/**
 * @typedef {object} RecordData
 * @property {number} dt [s] between frames
 * @property {string} q of each frame
 * @property {string} [poses] of a free body: R (9) by rows and p (3) of each frame
 */

/** Coordinates `q`, and where a free body is, at a moment of the run, which starts over. */
export class Recording {
  /**
   * @param {RecordData} data
   * @param {number} size r
   */
  constructor(data, size) {
    this.dt = data.dt;
    this.frames = decode(data.q, Float32Array);
    this.poses = data.poses === undefined ? null : decode(data.poses, Float32Array);
    this.q = new Float64Array(size);
    this.place = this.poses && new Float32Array(12);
    this.now = 0;
    this.advance(0);
  }

  /** @param {number} seconds */
  advance(seconds) {
    const r = this.q.length;
    const last = this.frames.length / r - 1;
    this.now = (this.now + seconds) % (last * this.dt);
    const i = Math.min(last - 1, Math.floor(this.now / this.dt));
    const share = this.now / this.dt - i;
    mix(this.frames, i, share, this.q);
    if (this.poses && this.place) mix(this.poses, i, share, this.place);
  }

  poke() {
    this.now = 0;
  }
}

/**
 * Values between frame i and the next.
 *
 * @param {Float32Array} frames
 * @param {number} i
 * @param {number} share
 * @param {Float64Array | Float32Array} out
 */
function mix(frames, i, share, out) {
  const n = out.length;
  for (let k = 0; k < n; k++) {
    out[k] = (1 - share) * frames[i * n + k] + share * frames[(i + 1) * n + k];
  }
}
