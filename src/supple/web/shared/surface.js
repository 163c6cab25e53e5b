// @ts-check
/** Triangles: their normals, their box, and where a ray meets them. */

/**
 * Unit normals of vertices, the mean of those of their triangles by area.
 *
 * @param {Float32Array} positions (3 v)
 * @param {Uint32Array} triangles (3 t)
 * @param {Float32Array} normals (3 v), overwritten
 */
export function vertexNormals(positions, triangles, normals) {
  const p = positions;
  const q = normals;
  q.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    const ux = p[b] - p[a];
    const uy = p[b + 1] - p[a + 1];
    const uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a];
    const vy = p[c + 1] - p[a + 1];
    const vz = p[c + 2] - p[a + 2];
    const x = uy * vz - uz * vy;
    const y = uz * vx - ux * vz;
    const z = ux * vy - uy * vx;
    for (let k = t; k < t + 3; k++) {
      const i = 3 * triangles[k];
      q[i] += x;
      q[i + 1] += y;
      q[i + 2] += z;
    }
  }
  for (let a = 0; a < q.length; a += 3) {
    const length = Math.sqrt(q[a] * q[a] + q[a + 1] * q[a + 1] + q[a + 2] * q[a + 2]) || 1;
    q[a] /= length;
    q[a + 1] /= length;
    q[a + 2] /= length;
  }
}

/**
 * The corners of the box around vertices (3 v).
 *
 * @param {Float32Array} positions
 */
export function boxOf(positions) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let p = 0; p < positions.length; p++) {
    const k = p % 3;
    low[k] = Math.min(low[k], positions[p]);
    high[k] = Math.max(high[k], positions[p]);
  }
  return { low, high };
}

/**
 * The nearest triangle that a ray meets, by Möller and Trumbore; null where it meets none.
 *
 * @param {ArrayLike<number>} from (3)
 * @param {ArrayLike<number>} along (3)
 * @param {Float32Array} positions (3 v)
 * @param {Uint32Array} triangles (3 t)
 * @returns {{corners: number[], weights: number[]} | null} vertices, and barycentric coordinates
 */
export function pickTriangle(from, along, positions, triangles) {
  const p = positions;
  const [ox, oy, oz] = [from[0], from[1], from[2]];
  const [dx, dy, dz] = [along[0], along[1], along[2]];
  let nearest = Infinity;
  let found = null;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    const ux = p[b] - p[a];
    const uy = p[b + 1] - p[a + 1];
    const uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a];
    const vy = p[c + 1] - p[a + 1];
    const vz = p[c + 2] - p[a + 2];
    const hx = dy * vz - dz * vy;
    const hy = dz * vx - dx * vz;
    const hz = dx * vy - dy * vx;
    const det = ux * hx + uy * hy + uz * hz;
    if (Math.abs(det) < 1e-30) continue;
    const sx = ox - p[a];
    const sy = oy - p[a + 1];
    const sz = oz - p[a + 2];
    const f = (sx * hx + sy * hy + sz * hz) / det;
    if (f < 0 || f > 1) continue;
    const gx = sy * uz - sz * uy;
    const gy = sz * ux - sx * uz;
    const gz = sx * uy - sy * ux;
    const g = (dx * gx + dy * gy + dz * gz) / det;
    if (g < 0 || f + g > 1) continue;
    const depth = (vx * gx + vy * gy + vz * gz) / det;
    if (depth > 0 && depth < nearest) {
      nearest = depth;
      found = {
        corners: [triangles[t], triangles[t + 1], triangles[t + 2]],
        weights: [1 - f - g, f, g],
      };
    }
  }
  return found;
}
