// @ts-check
/** The energy of a reduced StVK body: a polynomial of degree four in its coordinates. */

/** Laid out like `_kernels.reduction.polynomial`, without padding. */
export class Quartic {
  /**
   * @param {number} size r, the number of coordinates
   * @param {Float64Array[]} groups coefficients of the energy of each group of cells
   */
  constructor(size, groups) {
    const r = size;
    const pairs = (r * (r + 1)) / 2;
    const starts = new Int32Array(r + 1);
    for (let b = 0; b < r; b++) starts[b + 1] = starts[b] + ((b + 1) * (b + 2)) / 2;
    const triples = starts[r];
    this.size = r;
    this.groups = groups;
    /** ∇U (r) and ∇²U (r r) where `evaluate` was last called */
    this.R = new Float64Array(r);
    this.K = new Float64Array(r * r);
    this.starts = starts;
    this.coefficients = new Float64Array(groups[0].length);
    this.P = this.coefficients.subarray(0, pairs);
    this.Q = this.coefficients.subarray(pairs, pairs + triples);
    const S = this.coefficients.subarray(pairs + triples);
    this.qq = new Float64Array(pairs);
    this.F = new Float64Array(triples);
    this.G = new Float64Array(pairs);
    // Blocks of S and of F, one view each: the engine then checks bounds cheaply.
    /** @type {Float64Array[]} */
    this.blocks = [];
    /** @type {Float64Array[]} */
    this.forms = [];
    for (let a = 0, s = 0; a < r; a++) {
      this.forms.push(this.F.subarray(starts[a], starts[a + 1]));
      for (let b = 0; b <= a; b++) {
        const n = starts[b + 1] - starts[b];
        this.blocks.push(S.subarray(s, s + n));
        s += n;
      }
    }
    /** @type {Float64Array} where it is evaluated */
    this.point = new Float64Array(r);
    this.stiffen(groups.map(() => 1));
  }

  /**
   * Sets factors on the Young's modulus of each group (§6.5); the energy is linear in them.
   *
   * @param {ArrayLike<number>} factors
   */
  stiffen(factors) {
    const { coefficients } = this;
    coefficients.fill(0);
    this.groups.forEach((group, g) => {
      const f = factors[g];
      for (let i = 0; i < coefficients.length; i++) coefficients[i] += f * group[i];
    });
  }

  /**
   * ∇²U at rest.
   *
   * @param {Float64Array} K (r r), filled
   */
  fillRestStiffness(K) {
    const { size: r, P } = this;
    for (let i = 0, t = 0; i < r; i++) {
      for (let j = 0; j <= i; j++, t++) K[i * r + j] = K[j * r + i] = i === j ? 2 * P[t] : P[t];
    }
  }

  /**
   * R = ∇U and K = ∇²U at x; each coefficient of S is read once.
   *
   * @param {Float64Array} x
   */
  evaluate(x) {
    const { size: r, qq } = this;
    this.point = x;
    let t = 0;
    for (let c = 0; c < r; c++) for (let d = 0; d <= c; d++) qq[t++] = x[c] * x[d];
    this.F.set(this.Q);
    this.G.set(this.P);
    this.R.fill(0);
    for (let a = 0; a < r; a += 2) {
      if (a + 1 < r) {
        for (let b = 0; b < a; b += 2) this.four(a, b);
        this.diagonal(a);
        this.single(a + 1, a);
        this.diagonal(a + 1);
      } else {
        for (let b = 0; b < a; b++) this.single(a, b);
        this.diagonal(a);
      }
    }
    this.addCubic(x);
    this.addQuadratic(x);
  }

  /**
   * @param {number} a
   * @param {number} b
   */
  block(a, b) {
    return this.blocks[(a * (a + 1)) / 2 + b];
  }

  /**
   * @param {number} a
   * @param {number} b
   * @param {number} e
   */
  leading(a, b, e) {
    const { R, point } = this;
    this.K[a * this.size + b] = e;
    R[b] += point[a] * e;
    R[a] += point[b] * e;
  }

  /** @param {number} a */
  diagonal(a) {
    const { qq } = this;
    const Y = this.block(a, a);
    const A = this.forms[a];
    const twice = 2 * this.point[a];
    let e = 0;
    for (let t = 0; t < Y.length; t++) {
      const y = Y[t];
      A[t] += twice * y;
      e += y * qq[t];
    }
    this.K[a * this.size + a] = e;
    this.R[a] += twice * e;
  }

  /**
   * @param {number} a
   * @param {number} b
   */
  single(a, b) {
    const { qq } = this;
    const Y = this.block(a, b);
    const A = this.forms[a];
    const B = this.forms[b];
    const qa = this.point[a];
    const qb = this.point[b];
    let e = 0;
    for (let t = 0; t < Y.length; t++) {
      const y = Y[t];
      B[t] += qa * y;
      A[t] += qb * y;
      e += y * qq[t];
    }
    this.leading(a, b, e);
  }

  /**
   * The blocks (a, b), (a, b + 1), (a + 1, b) and (a + 1, b + 1) at once.
   *
   * @param {number} a
   * @param {number} b
   */
  four(a, b) {
    const { qq, point, forms } = this;
    const Y = this.block(a, b);
    const Z = this.block(a, b + 1);
    const V = this.block(a + 1, b);
    const W = this.block(a + 1, b + 1);
    const A = forms[a];
    const B = forms[b];
    const C = forms[a + 1];
    const D = forms[b + 1];
    const qa = point[a];
    const qb = point[b];
    const qc = point[a + 1];
    const qd = point[b + 1];
    const n = Y.length;
    const m = Z.length;
    let ey = 0;
    let ez = 0;
    let ev = 0;
    let ew = 0;
    for (let t = 0; t < n; t++) {
      const y = Y[t];
      const z = Z[t];
      const v = V[t];
      const w = W[t];
      const p = qq[t];
      B[t] += qa * y + qc * v;
      D[t] += qa * z + qc * w;
      A[t] += qb * y + qd * z;
      C[t] += qb * v + qd * w;
      ey += y * p;
      ez += z * p;
      ev += v * p;
      ew += w * p;
    }
    for (let t = n; t < m; t++) {
      const z = Z[t];
      const w = W[t];
      const p = qq[t];
      D[t] += qa * z + qc * w;
      A[t] += qd * z;
      C[t] += qd * w;
      ez += z * p;
      ew += w * p;
    }
    this.leading(a, b, ey);
    this.leading(a, b + 1, ez);
    this.leading(a + 1, b, ev);
    this.leading(a + 1, b + 1, ew);
  }

  /** @param {Float64Array} x */
  addCubic(x) {
    const { size: r, starts, Q, F, G, K, R, qq } = this;
    for (let b = 0; b < r; b++) {
      const fb = starts[b];
      const n = starts[b + 1] - fb;
      const half = 0.5 * x[b];
      let e = 0;
      for (let t = 0; t < n; t++) {
        const y = Q[fb + t];
        G[t] += half * (F[fb + t] + y);
        e += y * qq[t];
      }
      R[b] += e;
    }
    for (let a = 0; a < r; a++) {
      let t = starts[a];
      const row = a * r;
      for (let c = 0; c <= a; c++) {
        const qc = x[c];
        let e = 0;
        for (let d = 0; d < c; d++) {
          const y = F[t + d];
          e += y * x[d];
          K[row + d] += y * qc;
        }
        K[row + c] += e + 2 * F[t + c] * qc;
        t += c + 1;
      }
    }
  }

  /** @param {Float64Array} x */
  addQuadratic(x) {
    const { size: r, G, K, R } = this;
    let t = 0;
    for (let c = 0; c < r; c++) {
      const qc = x[c];
      let e = 0;
      for (let d = 0; d < c; d++) {
        const y = G[t + d];
        const i = c * r + d;
        K[i] += y;
        K[d * r + c] = K[i];
        e += y * x[d];
        R[d] += y * qc;
      }
      const y = G[t + c];
      const i = c * r + c;
      R[c] += e + 2 * y * qc;
      K[i] = 2 * (K[i] + y);
      t += c + 1;
    }
  }
}
