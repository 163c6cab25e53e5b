// @ts-check
/** The stage of a page that runs a reduced model: the ground, the body and its shadow; z is up. */

import { decode } from "../shared/arrays.js";
import { Orbit } from "../shared/camera.js";
import { byId, fitPixels } from "../shared/dom.js";
import { bufferOf, drawSquare, MovingTriangles, Program, SQUARE } from "../shared/gl.js";
import { GRID, STAGE_BODY } from "../shared/shaders.js";
import { movedPoint, Shape } from "./shape.js";
import { Sight } from "./sight.js";

const LIGHT = [0.3, -0.42, 0.86];

/** @type {import("../shared/camera.js").Limits} */
const LIMITS = { elevation: [-8, 88], zoom: [0.15, 4], speed: [0.4, 0.3] };

/**
 * @typedef {object} StageData
 * @property {string} colors of the surface's vertices
 * @property {[number, number, number]} target [m]
 * @property {number} radius of the body [m]
 * @property {number} azimuth [degrees]
 * @property {number} elevation [degrees]
 * @property {number} floor level of the ground [m]
 * @property {number} grid spacing [m]
 * @property {[number, number, number]} [centre] of mass of a free body [m]
 */

/** Draws on a canvas that fills the window; throws where the driver refuses. */
export class Stage {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {StageData & import("./shape.js").ShapeData} data
   */
  constructor(canvas, data) {
    const gl = canvas.getContext("webgl2", { stencil: true });
    if (!gl) throw new Error("no WebGL");
    const shape = new Shape(data);
    this.canvas = canvas;
    this.data = data;
    this.gl = gl;
    this.shape = shape;
    this.body = new Program(gl, STAGE_BODY);
    this.ground = new Program(gl, GRID);
    this.surface = new MovingTriangles(gl, shape.triangles);
    this.colors = bufferOf(gl, spread(decode(data.colors, Uint8Array), shape.source));
    this.square = bufferOf(gl, SQUARE);
    this.orbit = new Orbit(data, LIMITS);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.sight = this.look(null);
  }

  /**
   * What the camera sees now; it follows a free body.
   *
   * @param {ArrayLike<number> | null} place
   */
  look(place) {
    const { target, radius, centre } = this.data;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const panel = byId("panel").getBoundingClientRect();
    const beside = panel.width < 0.6 * width;
    const covered = beside
      ? { right: panel.width + 24, bottom: 0 }
      : { right: 0, bottom: Math.min(panel.height, 0.5 * height) };
    const aim = target.map((x, d) => (place && centre ? x + place[9 + d] - centre[d] : x));
    return new Sight(this.orbit, aim, radius, { width, height, ...covered });
  }

  /**
   * @param {ArrayLike<number>} q
   * @param {ArrayLike<number> | null} place of a free body
   */
  draw(q, place) {
    const { gl } = this;
    const [w, h] = fitPixels(this.canvas);
    this.sight = this.look(place);
    this.shape.move(q, place);
    gl.viewport(0, 0, w, h);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.disable(gl.DEPTH_TEST);
    this.drawGround();
    this.drawBody();
  }

  drawGround() {
    const { gl, ground, data } = this;
    const [x, y] = data.target;
    const wide = 9 * data.radius;
    const ink = this.dark.matches ? [0.93, 0.89, 0.84] : [0.25, 0.2, 0.17];
    ground.use();
    gl.uniform1f(ground.at("step"), data.grid);
    gl.uniform1f(ground.at("far"), wide);
    gl.uniform2f(ground.at("shift"), x, y);
    gl.uniform4fv(ground.at("ink"), [...ink, 0.26]);
    drawSquare(ground, this.square, this.sight.matrix, [x, y, data.floor, wide]);
  }

  drawBody() {
    const { gl, body, data, sight, shape, surface } = this;
    body.use();
    surface.send(shape.positions, shape.normals, this.colors);
    gl.uniformMatrix4fv(body.at("m"), false, sight.matrix);
    gl.uniform3fv(body.at("eye"), sight.eye);
    gl.uniform3fv(body.at("light"), LIGHT);
    gl.uniform1f(body.at("ground"), data.floor);
    if (sight.eye[2] > data.floor) {
      // The shadow on the ground, each pixel once.
      gl.enable(gl.STENCIL_TEST);
      gl.stencilFunc(gl.EQUAL, 0, 255);
      gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
      gl.uniform3f(body.at("thrown"), LIGHT[0] / LIGHT[2], LIGHT[1] / LIGHT[2], 1);
      surface.draw();
      gl.disable(gl.STENCIL_TEST);
    }
    gl.disable(gl.BLEND);
    gl.enable(gl.DEPTH_TEST);
    gl.uniform3f(body.at("thrown"), 0, 0, 0);
    surface.draw();
  }

  /**
   * The point of the body under a pixel, or near it.
   *
   * @param {number} px
   * @param {number} py
   * @param {number} slack pixels
   */
  pick(px, py, slack) {
    return this.sight.pick(this.shape, px, py, slack);
  }

  /**
   * Draws a spring from the body to what pulls it, or none.
   *
   * @param {import("./stepper.js").Spring | null} spring
   * @param {ArrayLike<number>} q
   */
  drawSpring(spring, q) {
    const overlay = byId("pull");
    overlay.classList.toggle("on", spring !== null);
    if (!spring) return;
    const [line, from, to] = overlay.children;
    const a = this.sight.project(movedPoint(spring, q));
    const b = this.sight.project(spring.target);
    attributes(line, { x1: a[0], y1: a[1], x2: b[0], y2: b[1] });
    attributes(from, { cx: a[0], cy: a[1] });
    attributes(to, { cx: b[0], cy: b[1] });
  }
}

/**
 * @param {Element} element
 * @param {Record<string, number>} values
 */
function attributes(element, values) {
  for (const [name, value] of Object.entries(values)) element.setAttribute(name, String(value));
}

/**
 * Colours of the vertices that are drawn.
 *
 * @param {Uint8Array} values (3 s)
 * @param {Uint32Array} source (v)
 */
function spread(values, source) {
  const made = new Uint8Array(3 * source.length);
  for (let i = 0; i < source.length; i++) {
    for (let d = 0; d < 3; d++) made[3 * i + d] = values[3 * source[i] + d];
  }
  return made;
}
