// @ts-check
/** The sliders of the panel: what a position means, and how that is told. */

/**
 * The value at a slider's position: damping grows with its square, factors are powers of ten.
 *
 * @param {string} name
 * @param {number} position
 */
export function valueOf(name, position) {
  if (name === "damping") return position * position;
  return name === "gravity" ? position : 10 ** position;
}

/**
 * @param {string} name
 * @param {number} value
 */
export function textOf(name, value) {
  if (name === "damping") return `ζ ${value.toFixed(value < 0.1 ? 3 : 2)}`;
  if (name === "gravity") return `${value.toFixed(1)} m/s²`;
  if (value < 1) return `×${value.toPrecision(2)}`;
  return `×${value.toFixed(value < 9.95 ? 1 : 0)}`;
}

/**
 * Reads every slider of the page, now and when it is moved; a double click takes it back.
 *
 * @param {(name: string, value: number, region: number | undefined) => void} set
 */
export function linkSliders(set) {
  const inputs = /** @type {NodeListOf<HTMLInputElement>} */ (
    document.querySelectorAll("input[type=range]")
  );
  for (const input of inputs) {
    const { name = "", region } = input.dataset;
    const change = () => {
      const position = Number(input.value);
      const [low, high] = [Number(input.min), Number(input.max)];
      const value = valueOf(name, position);
      const output = input.parentElement?.querySelector("output");
      if (output) output.textContent = textOf(name, value);
      input.style.setProperty("--at", `${(100 * (position - low)) / (high - low)}%`);
      set(name, value, region === undefined ? undefined : Number(region));
    };
    input.addEventListener("input", change);
    input.addEventListener("dblclick", () => {
      input.value = input.defaultValue;
      change();
    });
    change();
  }
}
