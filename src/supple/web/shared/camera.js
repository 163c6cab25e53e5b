// @ts-check
/** A camera on an orbit, z up; matrices are by columns, as WebGL takes them. */

/**
 * @typedef {[number, number, number]} Vector
 * @typedef {{x: Vector, y: Vector, z: Vector}} Axes right, up and towards the viewer
 *
 * @typedef {object} Limits how an orbit may be changed
 * @property {[number, number]} elevation lowest and highest [degrees]
 * @property {[number, number]} zoom nearest and farthest
 * @property {[number, number]} speed degrees a pixel, across and up
 */

/**
 * @param {number} azimuth the side it stands on [degrees], 0 towards +x and −90 towards −y
 * @param {number} elevation how high [degrees]
 * @returns {Axes}
 */
export function axesOf(azimuth, elevation) {
  const a = (azimuth * Math.PI) / 180;
  const e = (elevation * Math.PI) / 180;
  /** @type {Vector} */
  const z = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
  /** @type {Vector} */
  const x = [-Math.sin(a), Math.cos(a), 0];
  return { x, y: cross(z, x), z };
}

/** Where a camera stands on its orbit: `zoom` is its distance, 1 as the page framed it. */
export class Orbit {
  /**
   * @param {{azimuth: number, elevation: number}} start [degrees]
   * @param {Limits} limits
   */
  constructor(start, limits) {
    this.azimuth = start.azimuth;
    this.elevation = start.elevation;
    this.zoom = 1;
    this.limits = limits;
  }

  get axes() {
    return axesOf(this.azimuth, this.elevation);
  }

  /**
   * Turns by a drag of so many pixels.
   *
   * @param {number} dx
   * @param {number} dy
   */
  turn(dx, dy) {
    const { elevation, speed } = this.limits;
    this.azimuth -= speed[0] * dx;
    this.elevation = clamp(this.elevation + speed[1] * dy, elevation);
  }

  /** @param {number} factor on the distance */
  approach(factor) {
    this.zoom = clamp(this.zoom * factor, this.limits.zoom);
  }
}

/**
 * The matrix (4 × 4) that takes points to the screen in perspective.
 *
 * @param {Axes} axes
 * @param {ArrayLike<number>} eye where the camera stands [m]
 * @param {object} lens
 * @param {number} lens.focal 1 / tan of half the angle of view, upright
 * @param {number} lens.aspect width / height
 * @param {number} lens.near nearest depth [m]
 * @param {number} lens.far farthest depth [m]
 * @param {[number, number]} [lens.shift] of the picture to the left and up, of half its size
 */
export function perspective(axes, eye, { focal, aspect, near, far, shift = [0, 0] }) {
  /** @type {(r: Vector, s: number) => number[]} */
  const row = (r, s) => [
    s * r[0],
    s * r[1],
    s * r[2],
    -s * (r[0] * eye[0] + r[1] * eye[1] + r[2] * eye[2]),
  ];
  const X = row(axes.x, focal / aspect);
  const Y = row(axes.y, focal);
  const Z = row(axes.z, -1);
  const k = (far + near) / (far - near);
  const d = (-2 * far * near) / (far - near);
  const m = new Float32Array(16);
  for (let c = 0; c < 4; c++) {
    m[4 * c] = X[c] - shift[0] * Z[c];
    m[4 * c + 1] = Y[c] + shift[1] * Z[c];
    m[4 * c + 2] = k * Z[c] + (c === 3 ? d : 0);
    m[4 * c + 3] = Z[c];
  }
  return m;
}

/**
 * The rotation (3 × 3) that takes directions to those the viewer sees.
 *
 * @param {Axes} axes
 */
export function turned({ x, y, z }) {
  return new Float32Array([x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]]);
}

/**
 * The product of matrices (rows × depth) and (depth × …).
 *
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 * @param {number} rows
 * @param {number} depth
 */
export function product(a, b, rows, depth) {
  const c = new Float32Array((rows * b.length) / depth);
  for (let k = 0; k < c.length; k++) {
    const row = k % rows;
    const column = (k - row) / rows;
    for (let d = 0; d < depth; d++) c[k] += a[d * rows + row] * b[column * depth + d];
  }
  return c;
}

/**
 * @param {number} value
 * @param {[number, number]} ends
 */
export function clamp(value, [low, high]) {
  return Math.min(high, Math.max(low, value));
}

/**
 * @param {Vector} a
 * @param {Vector} b
 * @returns {Vector}
 */
function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
