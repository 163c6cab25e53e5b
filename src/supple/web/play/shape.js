// @ts-check
/** The surface of a reduced model: where its vertices are for coordinates q. */

import { decode } from "../shared/arrays.js";
import { pickTriangle, vertexNormals } from "../shared/surface.js";

/**
 * @typedef {object} ShapeData
 * @property {number} size r, the number of coordinates
 * @property {string} rest
 * @property {string} vectors
 * @property {number[]} scales of the vectors
 * @property {string} source of each vertex that is drawn; some are drawn more than once
 * @property {string} triangles
 *
 * @typedef {object} Hit a point of the surface
 * @property {Float64Array} phi (3 r), how coordinates move it
 * @property {number[]} rest [m], without them
 * @property {number[]} place [m], as it is
 */

/** Vertices `positions` and `normals` as `move` left them. */
export class Shape {
  /** @param {ShapeData} data */
  constructor(data) {
    const whole = decode(data.vectors, Int16Array);
    this.size = data.size;
    this.rest = decode(data.rest, Float32Array);
    this.source = decode(data.source, Uint32Array);
    this.triangles = decode(data.triangles, Uint32Array);
    const n = this.rest.length;
    this.basis = new Float32Array(data.size * n);
    for (let i = 0; i < data.size; i++) {
      for (let k = i * n; k < i * n + n; k++) this.basis[k] = data.scales[i] * whole[k];
    }
    this.moved = new Float32Array(n);
    this.positions = new Float32Array(3 * this.source.length);
    this.normals = new Float32Array(3 * this.source.length);
  }

  /**
   * @param {ArrayLike<number>} q (r)
   * @param {ArrayLike<number> | null} place of a free body: R (9) by rows, then p (3) [m]
   */
  move(q, place) {
    const { moved, positions, source } = this;
    this.displace(q);
    if (place) setDown(moved, place);
    for (let k = 0; k < source.length; k++) {
      const s = 3 * source[k];
      positions[3 * k] = moved[s];
      positions[3 * k + 1] = moved[s + 1];
      positions[3 * k + 2] = moved[s + 2];
    }
    vertexNormals(positions, this.triangles, this.normals);
  }

  /**
   * rest + U q, four vectors at a time.
   *
   * @param {ArrayLike<number>} q
   */
  displace(q) {
    const { moved, basis, size } = this;
    const n = moved.length;
    moved.set(this.rest);
    let i = 0;
    for (; i + 3 < size; i += 4) {
      const [a, b, c, d] = [q[i], q[i + 1], q[i + 2], q[i + 3]];
      const A = i * n;
      const B = A + n;
      const C = B + n;
      const D = C + n;
      for (let k = 0; k < n; k++) {
        moved[k] += a * basis[A + k] + b * basis[B + k] + c * basis[C + k] + d * basis[D + k];
      }
    }
    for (; i < size; i++) {
      const a = q[i];
      const A = i * n;
      for (let k = 0; k < n; k++) moved[k] += a * basis[A + k];
    }
  }

  /**
   * Where a ray meets the surface.
   *
   * @param {ArrayLike<number>} from
   * @param {ArrayLike<number>} along
   * @returns {Hit | null}
   */
  pick(from, along) {
    const found = pickTriangle(from, along, this.positions, this.triangles);
    return found && this.hit(found.corners, found.weights);
  }

  /**
   * The mean of vertices by weights.
   *
   * @param {number[]} corners
   * @param {number[]} weights
   * @returns {Hit}
   */
  hit(corners, weights) {
    const { size: r, rest, basis, positions, source } = this;
    const n = rest.length;
    const made = { phi: new Float64Array(3 * r), rest: [0, 0, 0], place: [0, 0, 0] };
    corners.forEach((corner, k) => {
      const s = 3 * source[corner];
      for (let d = 0; d < 3; d++) {
        made.rest[d] += weights[k] * rest[s + d];
        made.place[d] += weights[k] * positions[3 * corner + d];
        for (let i = 0; i < r; i++) made.phi[d * r + i] += weights[k] * basis[i * n + s + d];
      }
    });
    return made;
  }
}

/**
 * Where coordinates move a point to [m].
 *
 * @param {{phi: Float64Array, rest: ArrayLike<number>}} point
 * @param {ArrayLike<number>} q
 */
export function movedPoint({ phi, rest }, q) {
  return [0, 1, 2].map((d) => {
    let s = rest[d];
    for (let i = 0; i < q.length; i++) s += phi[d * q.length + i] * q[i];
    return s;
  });
}

/**
 * x = p + R y for all vertices.
 *
 * @param {Float32Array} vertices
 * @param {ArrayLike<number>} place
 */
function setDown(vertices, place) {
  for (let k = 0; k < vertices.length; k += 3) {
    const [a, b, c] = [vertices[k], vertices[k + 1], vertices[k + 2]];
    for (let d = 0; d < 3; d++) {
      vertices[k + d] =
        place[9 + d] + place[3 * d] * a + place[3 * d + 1] * b + place[3 * d + 2] * c;
    }
  }
}
