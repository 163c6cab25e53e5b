// @ts-check
/** What the camera of a stage sees: points to pixels, and pixels back to points. */

import { perspective } from "../shared/camera.js";

const TALL = Math.tan((15 * Math.PI) / 180); // half the angle of view, upright

/**
 * @typedef {object} Window CSS pixels
 * @property {number} width
 * @property {number} height
 * @property {number} right that something covers
 * @property {number} bottom that something covers
 */

/** One look at a body, which stands in the middle of the part of the window that is free. */
export class Sight {
  /**
   * @param {import("../shared/camera.js").Orbit} orbit
   * @param {ArrayLike<number>} target [m]
   * @param {number} radius of the body [m]
   * @param {Window} window
   */
  constructor(orbit, target, radius, { width, height, right, bottom }) {
    const { axes, zoom } = orbit;
    const free = [width - right, height - bottom];
    const narrow = Math.min(1, free[0] / free[1] / 1.45);
    const far = ((0.84 * radius) / TALL / narrow) * (height / free[1]) * zoom;
    this.axes = axes;
    this.eye = [0, 1, 2].map((d) => target[d] + far * axes.z[d]);
    this.width = width;
    this.height = height;
    /** @type {[number, number]} */
    this.shift = [right / width, bottom / height];
    this.matrix = perspective(axes, this.eye, {
      focal: 1 / TALL,
      aspect: width / height,
      near: 0.05 * far,
      far: 30 * far,
      shift: this.shift,
    });
  }

  /**
   * The pixel of a point, and its depth [m].
   *
   * @param {ArrayLike<number>} point [m]
   */
  project(point) {
    const m = this.matrix;
    /** @param {number} k */
    const c = (k) => m[k] * point[0] + m[4 + k] * point[1] + m[8 + k] * point[2] + m[12 + k];
    const w = c(3);
    return [((c(0) / w + 1) / 2) * this.width, ((1 - c(1) / w) / 2) * this.height, w];
  }

  /**
   * The point behind a pixel, so far along the view.
   *
   * @param {number} px
   * @param {number} py
   * @param {number} depth [m]
   */
  at(px, py, depth) {
    const { axes, eye, width, height, shift } = this;
    const u = ((2 * px) / width - 1 + shift[0]) * TALL * (width / height);
    const v = (1 - (2 * py) / height - shift[1]) * TALL;
    return eye.map((e, d) => e + depth * (u * axes.x[d] + v * axes.y[d] - axes.z[d]));
  }

  /**
   * How far along the view a point is [m].
   *
   * @param {ArrayLike<number>} point [m]
   */
  depth(point) {
    return this.eye.reduce((s, e, d) => s + (e - point[d]) * this.axes.z[d], 0);
  }

  /**
   * The point of a surface under a pixel, or the nearest vertex within a few pixels.
   *
   * @param {import("./shape.js").Shape} shape
   * @param {number} px
   * @param {number} py
   * @param {number} slack pixels
   * @returns {import("./shape.js").Hit | null}
   */
  pick(shape, px, py, slack) {
    const along = this.at(px, py, 1).map((x, d) => x - this.eye[d]);
    const hit = shape.pick(this.eye, along);
    if (hit) return hit;
    const p = shape.positions;
    let nearest = slack;
    let vertex = -1;
    for (let i = 0; i < p.length / 3; i++) {
      const [x, y, depth] = this.project([p[3 * i], p[3 * i + 1], p[3 * i + 2]]);
      const apart = Math.hypot(x - px, y - py);
      if (depth > 0 && apart < nearest) {
        nearest = apart;
        vertex = i;
      }
    }
    return vertex < 0 ? null : shape.hit([vertex], [1]);
  }
}
