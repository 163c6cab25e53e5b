// @ts-check
/** Arrays of numbers as a page holds them: their bytes, little endian, in base64. */

/**
 * The numbers that `supple.web.pages.encoded` wrote.
 *
 * @template T
 * @param {string} text
 * @param {new (buffer: ArrayBuffer) => T} Kind the typed array to read them as
 * @returns {T}
 */
export function decode(text, Kind) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Kind(bytes.buffer);
}
