// @ts-check
/** Plots over the time of a run: their cursor shows the moment, a click chooses one. */

import { clamp } from "../shared/camera.js";

const WIDTH = 480; // of every plot, in its own units

/**
 * @typedef {object} Axis ends of the time axis [s], and where they are across the plot
 * @property {number} t0
 * @property {number} t1
 * @property {number} x0
 * @property {number} x1
 */

/**
 * What `supple.io.report.plots` wrote into the plot.
 *
 * @param {DOMStringMap} dataset
 * @returns {Axis}
 */
export function axisOf({ t0, t1, x0, x1 }) {
  return { t0: Number(t0), t1: Number(t1), x0: Number(x0), x1: Number(x1) };
}

/**
 * Where a moment stands across the plot.
 *
 * @param {Axis} axis
 * @param {number} time [s]
 */
export function acrossAt({ t0, t1, x0, x1 }, time) {
  return x0 + clamp((time - t0) / (t1 - t0), [0, 1]) * (x1 - x0);
}

/**
 * The moment [s] at a share of the plot's width; it may be beyond the axis.
 *
 * @param {Axis} axis
 * @param {number} share 0…1
 */
export function timeAt({ t0, t1, x0, x1 }, share) {
  return t0 + ((share * WIDTH - x0) / (x1 - x0)) * (t1 - t0);
}

/**
 * Links the page's plots of a run.
 *
 * @param {(time: number) => void} choose told of the moment that is clicked [s]
 * @returns {(time: number) => void} shows a moment in all of them
 */
export function linkPlots(choose) {
  const plots = Array.from(document.querySelectorAll("svg.plot[data-t0]"), (svg) => ({
    cursor: svg.querySelector(".cursor"),
    axis: axisOf(/** @type {SVGElement} */ (svg).dataset),
    svg: /** @type {SVGElement} */ (svg),
  }));
  for (const { svg, axis } of plots) {
    svg.addEventListener("pointerdown", (e) => {
      const box = svg.getBoundingClientRect();
      choose(timeAt(axis, (e.clientX - box.left) / box.width));
    });
  }
  return (time) => {
    for (const { cursor, axis } of plots) {
      const x = String(acrossAt(axis, time));
      cursor?.setAttribute("x1", x);
      cursor?.setAttribute("x2", x);
    }
  };
}
