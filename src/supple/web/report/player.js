// @ts-check
/** Plays the motions of a report: drag to look around, scrub; plots show the same moment. */

import { decode } from "../shared/arrays.js";
import { clamp } from "../shared/camera.js";
import { byId, dataOf, fitPixels, prefersCalm, within } from "../shared/dom.js";
import { bufferOf } from "../shared/gl.js";
import { bodyOn, dragToTurn } from "./body.js";
import { Obstacle } from "./obstacle.js";
import { linkPlots } from "./plots.js";
import { Track } from "./tracks.js";

const PAUSE = 0.6; // [s] at the end, before it starts again

/**
 * @typedef {object} PlayerData
 * @property {import("./tracks.js").TrackData[]} tracks
 * @property {string} colors
 * @property {import("./obstacle.js").ObstacleData[]} obstacles
 */

/**
 * @param {HTMLElement} root
 * @param {PlayerData} data
 * @param {import("./body.js").Body} body
 */
function play(root, data, body) {
  const { canvas } = body;
  const slider = within(root, "input", HTMLInputElement);
  const button = within(root, "button", HTMLButtonElement);
  const clock = within(root, "output", HTMLOutputElement);
  const { gl } = body;
  const paint = bufferOf(gl, decode(data.colors, Uint8Array));
  const tracks = data.tracks.map((track) => new Track(track));
  const obstacles = data.obstacles.map((each) => new Obstacle(body, each));
  const start = tracks[0].times[0];
  const end = Math.max(...tracks.map((track) => track.end));
  let now = start;
  let playing = !prefersCalm();
  let before = 0;
  const showInPlots = linkPlots((time) => stopAt(clamp(time, [start, end])));

  function draw() {
    const time = Math.min(now, end);
    const [w, h] = fitPixels(canvas);
    const width = w / tracks.length;
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    tracks.forEach((track, i) => {
      gl.viewport(Math.round(i * width), 0, Math.round(width), h);
      const view = body.view(width, h);
      for (const obstacle of obstacles) obstacle.draw(view, tracks[0].times, time);
      track.pose(time, body.position);
      body.draw(view, paint);
    });
    slider.value = String(((time - start) / (end - start || 1)) * 1000);
    clock.textContent = `${time.toFixed(2)} s`;
    button.textContent = playing ? "Pause" : "Play";
    showInPlots(time);
  }

  /** @param {number} ms */
  function tick(ms) {
    if (playing) {
      now += clamp((ms - before) / 1000, [0, 0.1]);
      if (now > end + PAUSE) now = start;
      draw();
      requestAnimationFrame(tick);
    }
    before = ms;
  }

  /** @param {boolean} on */
  function go(on) {
    playing = on;
    if (on) {
      if (now >= end) now = start;
      before = performance.now();
      requestAnimationFrame(tick);
    }
    draw();
  }

  /** @param {number} time [s] */
  function stopAt(time) {
    now = time;
    playing = false;
    draw();
  }

  button.onclick = () => go(!playing);
  slider.oninput = () => stopAt(start + (Number(slider.value) / 1000) * (end - start));
  dragToTurn(canvas, body.orbit, () => playing || draw());
  canvas.addEventListener("webglcontextlost", () => root.classList.add("still"));
  new ResizeObserver(() => draw()).observe(canvas);
  root.classList.add("live");
  document.body.classList.add("playing");
  go(playing);
}

const player = byId("player");
const motion = dataOf("motion");
const shown = bodyOn(within(player, "canvas", HTMLCanvasElement), motion);
if (shown) play(player, motion, shown);
else player.classList.add("still");
