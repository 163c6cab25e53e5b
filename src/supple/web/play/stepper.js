// @ts-check
/**
 * A twin of the compiled stepper of reduced models, `supple.reduction`.
 *
 * It steps by the implicit Newmark rule of the subspace StVK paper, App. C.
 */

import { Quartic } from "./quartic.js";

/**
 * @typedef {object} Model
 * @property {number} size r, the number of coordinates
 * @property {Float64Array} mass (r r), by rows
 * @property {Float64Array[]} groups coefficients of each group's energy, a quartic polynomial
 *
 * @typedef {object} Spring pulls the point rest + phi q to its target
 * @property {Float64Array} phi (3 r)
 * @property {ArrayLike<number>} rest (3) [m]
 * @property {ArrayLike<number>} target (3) [m]
 * @property {number} k stiffness [N/m]
 * @property {number} c damping [N s/m]
 */

const ATTEMPTS = 12; // at a matrix that is positive definite

/** The state q, v, a of a reduced model, and how it goes on. */
export class Stepper {
  /** @param {Model} model */
  constructor(model) {
    const r = model.size;
    const vector = () => new Float64Array(r);
    this.size = r;
    this.energy = new Quartic(r, model.groups);
    this.mass = model.mass;
    this.q = vector();
    this.v = vector();
    this.a = vector();
    /** α and β of Rayleigh damping, α M + β K₀ with the stiffness at rest */
    this.alpha = 0;
    this.beta = 0;
    this.iterations = 20;
    this.tolerance = 1e-6;
    this.settled = false; // whether a belongs to q and v
    this.before = vector(); // q one step earlier
    this.x = vector(); // q, and what v and a are measured from, at the end of a step
    this.xv = vector();
    this.xa = vector();
    this.w = vector(); // v and a there
    this.acc = vector();
    this.delta = vector();
    this.none = vector();
    this.A = new Float64Array(r * r);
    this.K0 = new Float64Array(r * r); // stiffness at rest
    this.energy.fillRestStiffness(this.K0);
  }

  /**
   * Sets factors on the Young's modulus of each group (§6.5).
   *
   * @param {ArrayLike<number>} factors
   */
  stiffen(factors) {
    this.energy.stiffen(factors);
    this.energy.fillRestStiffness(this.K0);
    this.settled = false;
  }

  /**
   * Sets the state.
   *
   * @param {ArrayLike<number>} q
   * @param {ArrayLike<number>} v
   */
  set(q, v) {
    this.q.set(q);
    this.v.set(v);
    this.settled = false;
  }

  /**
   * Overwrites b with the solution of A b = b by A = UᵀDU; false if A is not positive definite.
   *
   * @param {Float64Array} A (r r), of which the upper half is read and overwritten
   * @param {Float64Array} b (r)
   */
  solve(A, b) {
    const r = this.size;
    for (let k = 0; k < r; k++) {
      const kk = k * r;
      const pivot = A[kk + k];
      if (!(pivot > 0)) return false;
      const inverse = 1 / pivot;
      const bk = b[k];
      A[kk + k] = inverse;
      for (let i = k + 1; i < r; i++) {
        const factor = A[kk + i] * inverse;
        const ii = i * r;
        for (let j = i; j < r; j++) A[ii + j] -= factor * A[kk + j];
        b[i] -= factor * bk;
      }
    }
    for (let k = r - 1; k >= 0; k--) {
      let y = b[k];
      for (let i = k + 1; i < r; i++) y -= A[k * r + i] * b[i];
      b[k] = y * A[k * r + k];
    }
    return true;
  }

  /**
   * delta = f − M a − (α M + β K₀) v − R, with f the force less that of the spring.
   *
   * @param {Float64Array} x
   * @param {Float64Array} w
   * @param {Float64Array} acc
   * @param {ArrayLike<number>} force
   * @param {Spring | null | undefined} spring
   */
  imbalance(x, w, acc, force, spring) {
    const { size: r, mass: M, alpha, beta, delta } = this;
    const { R } = this.energy;
    const { K0 } = this;
    for (let i = 0; i < r; i++) {
      let e = force[i] - R[i];
      for (let j = 0, m = i * r; j < r; j++, m++) {
        e -= M[m] * (acc[j] + alpha * w[j]) + beta * K0[m] * w[j];
      }
      delta[i] = e;
    }
    if (!spring) return;
    const { phi, rest, target } = spring;
    for (let d = 0; d < 3; d++) {
      let place = rest[d] - target[d];
      let rate = 0;
      for (let i = 0; i < r; i++) {
        place += phi[d * r + i] * x[i];
        rate += phi[d * r + i] * w[i];
      }
      const f = spring.k * place + spring.c * rate;
      for (let i = 0; i < r; i++) delta[i] -= f * phi[d * r + i];
    }
  }

  /**
   * One Newton correction of x, where v = cv (x − xv) and a = ca (x − xa).
   *
   * @param {number} cv
   * @param {number} ca
   * @param {ArrayLike<number>} force
   * @param {Spring | null | undefined} spring
   * @returns {number} the largest change, Infinity where none can be found
   */
  correct(cv, ca, force, spring) {
    const { size: r, x, xv, xa, w, acc, delta, A, mass: M } = this;
    const { K } = this.energy;
    for (let i = 0; i < r; i++) {
      w[i] = cv * (x[i] - xv[i]);
      acc[i] = ca * (x[i] - xa[i]);
    }
    const { K0 } = this;
    const damped = cv * this.beta;
    const mFactor = ca + cv * this.alpha;
    let shift = 0;
    let largest = 0;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      this.imbalance(x, w, acc, force, spring);
      let sum = 0;
      for (let i = 0; i < r; i++) sum += delta[i];
      if (!isFinite(sum)) return Infinity;
      for (let i = 0; i < r * r; i++) A[i] = K[i] + damped * K0[i] + mFactor * M[i];
      if (spring) this.addSpring(spring, spring.k + cv * spring.c);
      for (let i = 0; i < r; i++) {
        largest = Math.max(largest, Math.abs(A[i * r + i]));
        A[i * r + i] += shift;
      }
      if (this.solve(A, delta)) {
        let size = 0;
        for (let i = 0; i < r; i++) {
          x[i] += delta[i];
          size = Math.max(size, Math.abs(delta[i]));
        }
        return size;
      }
      shift = Math.max(10 * shift, 1e-3 * largest);
    }
    return Infinity;
  }

  /**
   * @param {Spring} spring
   * @param {number} stiffness
   */
  addSpring({ phi }, stiffness) {
    const { size: r, A } = this;
    for (let d = 0; d < 3; d++) {
      for (let i = 0; i < r; i++) {
        const y = stiffness * phi[d * r + i];
        for (let j = i; j < r; j++) A[i * r + j] += y * phi[d * r + j];
      }
    }
  }

  /**
   * a from M a = f − C v − R, for a state that was set.
   *
   * @param {ArrayLike<number>} force
   * @param {Spring | null | undefined} spring
   */
  settle(force, spring) {
    this.energy.evaluate(this.q);
    this.imbalance(this.q, this.v, this.none, force, spring);
    this.A.set(this.mass);
    this.solve(this.A, this.delta);
    this.a.set(this.delta);
    this.before.set(this.q);
    this.settled = true;
  }

  /**
   * One step; false, and the state as it was, where it cannot be solved.
   *
   * @param {number} h [s]
   * @param {ArrayLike<number>} force (r)
   * @param {Spring | null} [spring]
   */
  step(h, force, spring) {
    if (!this.settled) this.settle(force, spring);
    const { size: r, q, v, a, x, xv, xa, w, before } = this;
    const ca = 4 / (h * h); // β = ¼, γ = ½
    const cv = 2 / h;
    for (let i = 0; i < r; i++) {
      xa[i] = q[i] + h * v[i] + 0.25 * h * h * a[i];
      xv[i] = xa[i] - (v[i] + 0.5 * h * a[i]) / cv;
      x[i] = q[i] + (q[i] - before[i]);
    }
    if (!this.converge(cv, ca, force, spring)) return false;
    let sum = 0;
    for (let i = 0; i < r; i++) {
      w[i] = ca * (x[i] - xa[i]);
      sum += x[i] + w[i];
    }
    if (!isFinite(sum)) return false;
    before.set(q);
    for (let i = 0; i < r; i++) {
      a[i] = w[i];
      v[i] = cv * (x[i] - xv[i]);
      q[i] = x[i];
    }
    return true;
  }

  /**
   * @param {number} cv
   * @param {number} ca
   * @param {ArrayLike<number>} force
   * @param {Spring | null | undefined} spring
   */
  converge(cv, ca, force, spring) {
    const { size: r, x, q } = this;
    for (let k = 0; k < this.iterations; k++) {
      this.energy.evaluate(x);
      const size = this.correct(cv, ca, force, spring);
      if (!isFinite(size)) return false;
      let scale = 0;
      for (let i = 0; i < r; i++) {
        scale = Math.max(scale, Math.abs(x[i]), Math.abs(x[i] - q[i]));
      }
      if (size <= this.tolerance * scale + 1e-250) return true;
    }
    return this.iterations === 1;
  }
}
