// @ts-check
/** Swings every example between −1 and +1; dragging one turns them all. */

import { decode } from "../shared/arrays.js";
import { byId, dataOf, fitPixels, prefersCalm } from "../shared/dom.js";
import { attribute, bufferOf, Program } from "../shared/gl.js";
import { OUTLINE } from "../shared/shaders.js";
import { bodyOn, dragToTurn } from "./body.js";

const PERIOD = 1900; // [ms] of a swing
const LEAST = 24; // [ms] between pictures

/**
 * @typedef {object} ExamplesData
 * @property {string} rest
 * @property {{shape: string, scale: number, colors: string}[]} examples
 * @property {number[]} ghost red, green, blue and opacity of the body without the example
 *
 * @typedef {object} Shot one example and where it is drawn
 * @property {HTMLCanvasElement} canvas
 * @property {CanvasRenderingContext2D | null} paper
 * @property {WebGLBuffer} colors
 * @property {Int16Array} shape
 * @property {number} scale
 * @property {boolean} seen
 */

/**
 * @param {HTMLElement} root
 * @param {ExamplesData} data
 * @param {import("./body.js").Body} body on one canvas, from which all pictures are copied
 */
function swing(root, data, body) {
  const { canvas: sheet, gl, position } = body;
  const outline = new Program(gl, OUTLINE);
  const rest = decode(data.rest, Float32Array);
  const still = bufferOf(gl, rest);
  const calm = prefersCalm();
  /** @type {Shot[]} */
  const shots = Array.from(root.querySelectorAll("canvas"), (canvas, i) => ({
    canvas,
    paper: canvas.getContext("2d"),
    colors: bufferOf(gl, decode(data.examples[i].colors, Uint8Array)),
    shape: decode(data.examples[i].shape, Int16Array),
    scale: data.examples[i].scale,
    seen: true,
  }));

  /**
   * @param {Shot} shot
   * @param {number} chi excitation
   */
  function draw({ canvas, paper, colors, shape, scale }, chi) {
    const [w, h] = fitPixels(canvas, sheet);
    if (!w || !h || !paper) return;
    gl.viewport(0, 0, w, h);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const view = body.view(w, h);
    outline.use();
    gl.disable(gl.DEPTH_TEST);
    attribute(gl, still, 0);
    gl.uniformMatrix4fv(outline.at("m"), false, view.m);
    gl.uniform4fv(outline.at("g"), data.ghost);
    body.surface.draw();
    const x = chi * scale;
    for (let a = 0; a < position.length; a++) position[a] = rest[a] + x * shape[a];
    body.draw(view, colors);
    paper.clearRect(0, 0, w, h);
    paper.drawImage(sheet, 0, 0);
  }
  const drawAll = () => shots.forEach((shot) => draw(shot, 1));

  let last = 0;
  /** @param {number} ms */
  function tick(ms) {
    if (ms - last > LEAST) {
      last = ms;
      const chi = Math.cos((2 * Math.PI * ms) / PERIOD);
      for (const shot of shots) if (shot.seen) draw(shot, chi);
    }
    requestAnimationFrame(tick);
  }

  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      for (const shot of shots) if (shot.canvas === target) shot.seen = isIntersecting;
    }
  });
  for (const shot of shots) {
    watch.observe(shot.canvas);
    dragToTurn(shot.canvas, body.orbit, () => calm && drawAll());
    new ResizeObserver(() => draw(shot, 1)).observe(shot.canvas);
  }
  root.classList.add("live");
  drawAll();
  if (!calm) requestAnimationFrame(tick);
}

const examples = byId("examples");
const shapes = dataOf("shapes");
const shown = bodyOn(document.createElement("canvas"), shapes);
if (shown) swing(examples, shapes, shown);
else examples.classList.add("still");
