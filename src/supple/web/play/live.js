// @ts-check
/** A reduced model that runs in the page: its settings, its steps, what pulls it. */

import { decode } from "../shared/arrays.js";
import { Stepper } from "./stepper.js";

const TOLERANCE = 1e-5; // plenty for the eye
const BUDGET = 9; // [ms] of each frame for steps
const HALVINGS = 5; // of a step that cannot be solved

/**
 * @typedef {object} LiveData
 * @property {number} size r
 * @property {string} mass
 * @property {string[]} groups
 * @property {string} down force of gravity for 1 m/s²
 * @property {string} poke coordinates that a poke begins with
 * @property {string[]} regions
 * @property {number[][]} members the regions that each group is in
 * @property {number} frequency of the first mode [Hz]
 * @property {number} compliance of the softest place [m/N]
 * @property {number} dt [s]
 * @property {number} reach how far the body can be pulled [m]
 *
 * @typedef {import("./stepper.js").Spring & {target: Float64Array}} Grab
 */

/** The model, its state and what the person asked of it. */
export class Live {
  /**
   * @param {LiveData} data
   * @param {() => number} clock [ms]
   */
  constructor(data, clock = () => performance.now()) {
    this.data = data;
    this.clock = clock;
    this.stepper = new Stepper({
      size: data.size,
      mass: decode(data.mass, Float64Array),
      groups: data.groups.map((group) => decode(group, Float64Array)),
    });
    this.stepper.tolerance = TOLERANCE;
    this.down = decode(data.down, Float64Array);
    this.poked = decode(data.poke, Float64Array);
    this.zero = new Float64Array(data.size);
    this.force = new Float64Array(data.size);
    this.stiffness = 1;
    this.regions = data.regions.map(() => 1);
    /** @type {Grab | null} */
    this.grab = null;
    this.left = 0; // [s] not yet stepped
    this.cost = 0; // [ms] a step
    this.taken = 0; // steps a frame
  }

  get q() {
    return this.stepper.q;
  }

  /** @param {number} ratio ζ of the first mode, half of it by each coefficient */
  setDamping(ratio) {
    const w = 2 * Math.PI * this.data.frequency;
    this.stepper.alpha = ratio * w;
    this.stepper.beta = ratio / w;
  }

  /** @param {number} acceleration [m/s²] */
  setGravity(acceleration) {
    for (let i = 0; i < this.force.length; i++) this.force[i] = acceleration * this.down[i];
  }

  /**
   * @param {number} factor on Young's modulus
   * @param {number} [region] all by default
   */
  setStiffness(factor, region) {
    if (region === undefined) this.stiffness = factor;
    else this.regions[region] = factor;
    const factors = this.data.members.map((members) =>
      members.reduce((f, k) => f * this.regions[k], this.stiffness),
    );
    this.stepper.stiffen(factors);
  }

  poke() {
    this.stepper.set(this.poked, this.zero);
  }

  reset() {
    this.left = 0;
    this.stepper.set(this.zero, this.zero);
  }

  /**
   * Takes hold of a point by a spring that is stiffer than the body there.
   *
   * @param {import("./shape.js").Hit} hit
   */
  hold({ phi, rest, place }) {
    const k = 20 / Math.max(this.compliance(phi), 0.03 * this.data.compliance);
    const c = (0.12 * k) / (2 * Math.PI * this.data.frequency);
    this.grab = { phi, rest, target: Float64Array.from(place), k, c };
  }

  /**
   * Leads the point that is held to a place, as far as it can be pulled.
   *
   * @param {number[]} place [m]
   */
  lead(place) {
    if (!this.grab) return;
    const { rest, target } = this.grab;
    const apart = place.map((x, d) => x - rest[d]);
    const far = Math.hypot(...apart);
    const share = far > this.data.reach ? this.data.reach / far : 1;
    for (let d = 0; d < 3; d++) target[d] = rest[d] + share * apart[d];
  }

  /**
   * How far a point gives way [m/N], summed over the axes, at rest.
   *
   * @param {Float64Array} phi
   */
  compliance(phi) {
    const { stepper } = this;
    const r = stepper.size;
    stepper.energy.evaluate(this.zero);
    let sum = 0;
    for (let d = 0; d < 3; d++) {
      const b = Float64Array.from(phi.subarray(d * r, d * r + r));
      if (!stepper.solve(Float64Array.from(stepper.energy.K), b)) continue;
      for (let i = 0; i < r; i++) sum += b[i] * phi[d * r + i];
    }
    return sum;
  }

  /**
   * Goes on by a time; where the machine is too slow, by longer steps, and then by less.
   *
   * @param {number} seconds
   */
  advance(seconds) {
    this.left += seconds;
    let h = this.data.dt;
    let n = Math.floor(this.left / h);
    const most = Math.max(1, Math.floor(BUDGET / Math.max(this.cost, 1e-3)));
    if (n > most) {
      n = most;
      h = Math.min(this.left / n, 4 * h);
      this.left = n * h;
    }
    const began = this.clock();
    for (let i = 0; i < n; i++) this.step(h, 0);
    this.left = Math.max(0, this.left - n * h);
    if (n) {
      const each = (this.clock() - began) / n;
      this.cost = this.cost ? 0.9 * this.cost + 0.1 * each : each;
      this.taken = this.taken ? 0.9 * this.taken + 0.1 * n : n;
    }
  }

  /**
   * One step, halved where it cannot be solved; at last without speed, or from rest.
   *
   * @param {number} h [s]
   * @param {number} depth
   */
  step(h, depth) {
    const { stepper, zero } = this;
    if (stepper.step(h, this.force, this.grab)) return;
    if (depth < HALVINGS) {
      this.step(h / 2, depth + 1);
      this.step(h / 2, depth + 1);
      return;
    }
    stepper.set(stepper.q, zero);
    if (!stepper.step(h, this.force, this.grab)) {
      this.grab = null;
      stepper.set(zero, zero);
    }
  }
}
