// @ts-check
/** What mouse, pen and fingers do on the stage: pull the body, look around, zoom. */

import { byId } from "../shared/dom.js";

/**
 * @param {import("./stage.js").Stage} stage
 * @param {import("./live.js").Live | null} live null where nothing can be pulled
 * @param {{release: () => void, resume: () => void}} tell
 */
export function followPointers(stage, live, tell) {
  const { canvas, orbit } = stage;
  /** @type {Map<number, PointerEvent>} */
  const held = new Map();
  let mode = ""; // "pull", "turn" or "pinch"
  let spread = 0; // pixels between two fingers
  let depth = 0; // [m] of the point that is pulled

  /** @param {PointerEvent} e */
  function takeHold(e) {
    const slack = e.pointerType === "touch" ? 26 : 12;
    const hit = live && stage.pick(e.offsetX, e.offsetY, slack);
    if (!hit) return false;
    live.hold(hit);
    depth = stage.sight.depth(hit.place);
    byId("hint").classList.add("gone");
    return true;
  }

  /** @param {PointerEvent} e */
  function pinch(e, /** @type {PointerEvent} */ past) {
    const [a, b] = held.values();
    const apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    if (spread) orbit.approach(spread / apart);
    spread = apart;
    orbit.turn((e.clientX - past.clientX) / 2, (e.clientY - past.clientY) / 2);
  }

  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("pointerdown", (e) => {
    if (e.isTrusted) canvas.setPointerCapture(e.pointerId);
    held.set(e.pointerId, e);
    if (held.size === 1) {
      mode = e.button === 0 && takeHold(e) ? "pull" : "turn";
      if (mode === "pull") tell.resume();
    } else {
      if (mode === "pull") tell.release();
      mode = "pinch";
      spread = 0;
    }
    canvas.dataset.mode = mode;
  });
  canvas.addEventListener("pointermove", (e) => {
    const past = held.get(e.pointerId);
    if (!past) {
      if (e.pointerType === "mouse" && live) {
        canvas.dataset.mode = stage.pick(e.offsetX, e.offsetY, 12) ? "over" : "";
      }
      return;
    }
    held.set(e.pointerId, e);
    if (mode === "pull") live?.lead(stage.sight.at(e.offsetX, e.offsetY, depth));
    if (mode === "turn") orbit.turn(e.clientX - past.clientX, e.clientY - past.clientY);
    if (mode === "pinch" && held.size === 2) pinch(e, past);
  });
  const letGo = (/** @type {PointerEvent} */ e) => {
    if (!held.delete(e.pointerId)) return;
    const keep = document.getElementById("keep");
    const kept = e.shiftKey || (keep instanceof HTMLInputElement && keep.checked);
    if (mode === "pull" && !kept) tell.release();
    if (!held.size) canvas.dataset.mode = mode = "";
  };
  canvas.addEventListener("pointerup", letGo);
  canvas.addEventListener("pointercancel", letGo);
  const zoom = (/** @type {WheelEvent} */ e) => {
    e.preventDefault();
    orbit.approach(Math.exp(Math.sign(e.deltaY) * Math.min(0.2, Math.abs(e.deltaY) * 0.0015)));
  };
  canvas.addEventListener("wheel", zoom, { passive: false });
}
