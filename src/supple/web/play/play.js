// @ts-check
/** A page that runs a reduced model, or shows a recorded run: controls, pointers and frames. */

import { byId, dataOf, prefersCalm } from "../shared/dom.js";
import { Live } from "./live.js";
import { followPointers } from "./pointers.js";
import { Recording } from "./recording.js";
import { linkSliders } from "./sliders.js";
import { Stage } from "./stage.js";

const KEYS = new Map([
  [" ", "pause"],
  ["Escape", "release"],
  ["r", "reset"],
  ["p", "poke"],
]);

/**
 * @param {any} data
 * @param {Stage} stage
 */
function run(data, stage) {
  const live = data.record ? null : new Live(data);
  const recording = data.record ? new Recording(data.record, data.size) : null;
  const shown = live ?? recording;
  if (!shown) return;
  let paused = false;
  let speed = 1; // seconds of the model a second
  linkSliders((name, value, region) => {
    if (name === "time") speed = value;
    else if (name === "damping") live?.setDamping(value);
    else if (name === "gravity") live?.setGravity(value);
    else live?.setStiffness(value, region);
  });

  /** @param {boolean} on */
  function pause(on) {
    paused = on;
    byId("pause").textContent = on ? "Go on" : "Pause";
  }
  function release() {
    if (live) live.grab = null;
    showGrab();
  }
  function showGrab() {
    const held = live?.grab ?? null;
    const button = document.getElementById("release");
    if (button instanceof HTMLButtonElement) button.disabled = !held;
    stage.drawSpring(held, shown?.q ?? []);
  }
  /** @type {Record<string, () => void>} */
  const actions = {
    release,
    poke: () => {
      release();
      pause(false);
      shown.poke();
    },
    reset: () => {
      release();
      live?.reset();
    },
    pause: () => pause(!paused),
  };
  for (const [name, action] of Object.entries(actions)) {
    document.getElementById(name)?.addEventListener("click", action);
  }
  addEventListener("keydown", (e) => {
    if (e.target instanceof Element && e.target.closest("input, button, summary")) return;
    const name = KEYS.get(e.key);
    if (!name || !document.getElementById(name)) return;
    e.preventDefault();
    actions[name]();
  });
  followPointers(stage, live, { release, resume: () => paused && pause(false) });

  let before = 0; // [ms]
  let told = 0; // [ms]
  let rate = 60; // frames a second
  /** @param {number} time [ms] */
  function frame(time) {
    const wall = before ? Math.min(0.05, (time - before) / 1000) : 1 / 60;
    if (before && time > before) rate = 0.95 * rate + (0.05 * 1000) / (time - before);
    before = time;
    if (!paused) shown?.advance(wall * speed);
    stage.draw(shown?.q ?? [], recording?.place ?? null);
    showGrab();
    if (time - told > 400) {
      told = time;
      byId("stats").textContent = statistics(data.size, live, rate);
    }
    requestAnimationFrame(frame);
  }
  if (live && !prefersCalm()) live.poke();
  requestAnimationFrame(frame);
}

/**
 * @param {number} size
 * @param {Live | null} live
 * @param {number} rate
 */
function statistics(size, live, rate) {
  const words = [`${size} coordinates`];
  if (live) {
    words.push(
      `${(1000 * live.cost).toFixed(live.cost < 0.01 ? 1 : 0)} µs a step`,
      `${live.taken.toFixed(0)} steps a frame`,
    );
  }
  return [...words, `${rate.toFixed(0)} frames a second`].join(" · ");
}

/** The stage; null, and the page told why, where it cannot be drawn. */
function stageOf(/** @type {any} */ data) {
  const root = document.documentElement;
  const canvas = /** @type {HTMLCanvasElement} */ (byId("stage"));
  canvas.addEventListener("webglcontextlost", () => root.classList.add("blind"));
  try {
    return new Stage(canvas, data);
  } catch (error) {
    root.classList.add("blind");
    root.dataset.why = error instanceof Error ? error.message : String(error);
    return null;
  }
}

const model = dataOf("model");
const made = stageOf(model);
if (matchMedia("(max-width: 680px)").matches) byId("panel").removeAttribute("open");
if (made) run(model, made);
