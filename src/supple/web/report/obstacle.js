// @ts-check
/** Obstacles in the player of a report. */

import { decode } from "../shared/arrays.js";
import { product } from "../shared/camera.js";
import { attribute, bufferOf } from "../shared/gl.js";
import { placeOf } from "./tracks.js";

/**
 * @typedef {object} ObstacleData
 * @property {string} vertices
 * @property {string} normals
 * @property {string} triangles
 * @property {[number, number, number]} color
 * @property {string} [poses]
 */

/** A surface that stays or moves as one piece, drawn like the body. */
export class Obstacle {
  /**
   * @param {import("./body.js").Body} body
   * @param {ObstacleData} data
   */
  constructor(body, data) {
    const triangles = decode(data.triangles, Uint32Array);
    this.body = body;
    this.color = data.color;
    this.poses = data.poses === undefined ? null : decode(data.poses, Float32Array);
    this.vertices = bufferOf(body.gl, decode(data.vertices, Float32Array));
    this.normals = bufferOf(body.gl, decode(data.normals, Float32Array));
    this.indices = bufferOf(body.gl, triangles);
    this.count = triangles.length;
  }

  /**
   * @param {import("./body.js").View} view
   * @param {ArrayLike<number>} times of the poses [s]
   * @param {number} time [s]
   */
  draw({ m, v }, times, time) {
    const { gl, program } = this.body;
    if (this.poses) {
      const { place, rotation } = placeOf(this.poses, times, time);
      m = product(m, place, 4, 4);
      v = product(v, rotation, 3, 3);
    }
    program.use();
    gl.enable(gl.DEPTH_TEST);
    attribute(gl, this.vertices, 0);
    attribute(gl, this.normals, 1);
    gl.disableVertexAttribArray(2);
    gl.vertexAttrib3f(2, ...this.color);
    gl.uniformMatrix4fv(program.at("m"), false, m);
    gl.uniformMatrix3fv(program.at("v"), false, v);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.indices);
    gl.drawElements(gl.TRIANGLES, this.count, gl.UNSIGNED_INT, 0);
  }
}
