// @ts-check
/** Every word of the page stands in one table; a place `{0}` takes what varies. */

import TABLE from "./words.json" with { type: "json" };

/** Write the words of a key. @param {keyof typeof TABLE} key @param {...unknown} parts */
export function t(key, ...parts) {
  return TABLE[key].replace(/\{(\d)\}/g, (_, i) => String(parts[Number(i)]));
}
