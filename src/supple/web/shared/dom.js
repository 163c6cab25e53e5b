// @ts-check
/** The page around a picture: its elements, its data, its pixels. */

/**
 * The element with this id, which the page must have.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element "${id}"`);
  return found;
}

/**
 * The first element in `root` that `selector` finds, which must be there.
 *
 * @template {Element} T
 * @param {Element} root
 * @param {string} selector
 * @param {new () => T} Kind
 * @returns {T}
 */
export function within(root, selector, Kind) {
  const found = root.querySelector(selector);
  if (!(found instanceof Kind)) throw new Error(`the page has no ${selector} of its kind`);
  return found;
}

/**
 * What the page keeps as JSON in its script element `id`.
 *
 * @param {string} id
 * @returns {any}
 */
export function dataOf(id) {
  return JSON.parse(byId(id).textContent ?? "");
}

/** Whether the person asked for less motion. */
export function prefersCalm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/**
 * Gives canvases the pixels that the first has on the screen, at most two a CSS pixel each way.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLCanvasElement[]} others of the same size
 * @returns {[number, number]} width and height
 */
export function fitPixels(canvas, ...others) {
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const w = Math.round(canvas.clientWidth * ratio);
  const h = Math.round(canvas.clientHeight * ratio);
  for (const each of [canvas, ...others]) {
    if (each.width !== w || each.height !== h) {
      each.width = w;
      each.height = h;
    }
  }
  return [w, h];
}
