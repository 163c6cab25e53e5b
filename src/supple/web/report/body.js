// @ts-check
/** A body in a report: how it is framed, lit and drawn, with its shadow. */

import { decode } from "../shared/arrays.js";
import { Orbit, perspective, turned } from "../shared/camera.js";
import { bufferOf, drawSquare, MovingTriangles, Program, SQUARE } from "../shared/gl.js";
import { DISC, REPORT_BODY } from "../shared/shaders.js";
import { boxOf, vertexNormals } from "../shared/surface.js";

/**
 * @typedef {object} ViewData what `supple.io.report.player.view_data` tells
 * @property {number} vertices how many
 * @property {boolean} wide whether triangles have four bytes a corner, else two
 * @property {string} triangles
 * @property {[number, number, number]} target that the camera looks at [m]
 * @property {number} height of what it frames there [m]
 * @property {number} width [m]
 * @property {number} azimuth [degrees]
 * @property {number} elevation [degrees]
 * @property {number | null} floor level that shadows fall on [m]
 *
 * @typedef {object} View matrices for the shaders: to the screen (4 × 4), to the viewer (3 × 3)
 * @property {Float32Array} m
 * @property {Float32Array} v
 */

/** @type {import("../shared/camera.js").Limits} */
const LIMITS = { elevation: [-20, 85], zoom: [0.3, 3], speed: [0.45, 0.35] };

/** A body of which the page sets `position`; throws where the driver refuses the shaders. */
export class Body {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {WebGL2RenderingContext} gl
   * @param {ViewData} data
   */
  constructor(canvas, gl, data) {
    const corners = data.wide
      ? decode(data.triangles, Uint32Array)
      : Uint32Array.from(decode(data.triangles, Uint16Array));
    this.canvas = canvas;
    this.gl = gl;
    this.data = data;
    this.triangles = corners;
    this.position = new Float32Array(3 * data.vertices);
    this.normal = new Float32Array(3 * data.vertices);
    this.program = new Program(gl, REPORT_BODY);
    this.disc = new Program(gl, DISC);
    this.square = bufferOf(gl, SQUARE);
    this.surface = new MovingTriangles(gl, corners);
    this.orbit = new Orbit(data, LIMITS);
  }

  /**
   * What a picture of this size sees.
   *
   * @param {number} width
   * @param {number} height
   * @returns {View}
   */
  view(width, height) {
    const { target } = this.data;
    const { axes, zoom } = this.orbit;
    const aspect = width / height;
    const tall = Math.max(this.data.height, this.data.width / aspect) * zoom * 1.08;
    const far = 3.4 * tall;
    const eye = target.map((x, d) => x + far * axes.z[d]);
    const lens = { focal: (2 * far) / tall, aspect, near: 0.15 * far, far: 4 * far };
    return { m: perspective(axes, eye, lens), v: turned(axes) };
  }

  /**
   * Draws the body as it stands in `position`.
   *
   * @param {View} view
   * @param {WebGLBuffer} paint colours, three bytes a vertex
   */
  draw({ m, v }, paint) {
    const { gl, program } = this;
    if (this.data.floor !== null) this.drawShadow(m, this.data.floor);
    vertexNormals(this.position, this.triangles, this.normal);
    program.use();
    gl.enable(gl.DEPTH_TEST);
    this.surface.send(this.position, this.normal, paint);
    gl.uniformMatrix4fv(program.at("m"), false, m);
    gl.uniformMatrix3fv(program.at("v"), false, v);
    this.surface.draw();
  }

  /**
   * @param {Float32Array} m
   * @param {number} floor
   */
  drawShadow(m, floor) {
    const { gl, disc } = this;
    const { low, high } = boxOf(this.position);
    const size = 0.62 * Math.max(high[0] - low[0], high[1] - low[1]);
    disc.use();
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(-2, -4);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const [x, y] = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
    drawSquare(disc, this.square, m, [x, y, floor, size]);
    gl.disable(gl.BLEND);
    gl.depthMask(true);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }
}

/**
 * A body drawn with WebGL on a canvas; null where that cannot be had.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {ViewData} data
 */
export function bodyOn(canvas, data) {
  const gl = canvas.getContext("webgl2");
  if (!gl) return null;
  try {
    return new Body(canvas, gl, data);
  } catch (error) {
    console.warn(error);
    return null;
  }
}

/**
 * Lets a drag on the canvas turn the orbit, and a pinch approach it.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Orbit} orbit
 * @param {() => void} redraw
 */
export function dragToTurn(canvas, orbit, redraw) {
  /** @type {Map<number, PointerEvent>} */
  const held = new Map();
  canvas.addEventListener("pointerdown", (e) => {
    held.set(e.pointerId, e);
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener("pointerup", (e) => held.delete(e.pointerId));
  canvas.addEventListener("pointercancel", (e) => held.delete(e.pointerId));
  canvas.addEventListener("pointermove", (e) => {
    const past = held.get(e.pointerId);
    if (!past || held.size > 1) return;
    orbit.turn(e.clientX - past.clientX, e.clientY - past.clientY);
    held.set(e.pointerId, e);
    redraw();
  });
  const zoom = (/** @type {WheelEvent} */ e) => {
    if (!e.ctrlKey) return; // a wheel without it scrolls the page
    e.preventDefault();
    orbit.approach(Math.exp(e.deltaY * 0.002));
    redraw();
  };
  canvas.addEventListener("wheel", zoom, { passive: false });
}
