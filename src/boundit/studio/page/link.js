// @ts-check
/** A project as the text after `#` in an address: packed, and without host or token. */

const MARK = "#project=";

/** Tell whether an address has a project in it. @param {string} hash */
export function hasLink(hash) {
  return hash.startsWith(MARK);
}

/** Write a project's text as what stands after an address. @param {string} text */
export async function writeLink(text) {
  const bytes = new TextEncoder().encode(text);
  const packed = await pass(bytes, new CompressionStream("deflate-raw"));
  let letters = "";
  for (const byte of packed) letters += String.fromCharCode(byte);
  return MARK + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Read the project's text out of an address that has one. @param {string} hash */
export async function readLink(hash) {
  const letters = atob(hash.slice(MARK.length).replaceAll("-", "+").replaceAll("_", "/"));
  const packed = Uint8Array.from(letters, (each) => each.charCodeAt(0));
  return new TextDecoder().decode(await pass(packed, new DecompressionStream("deflate-raw")));
}

/** @param {Uint8Array<ArrayBuffer>} bytes @param {CompressionStream | DecompressionStream} through */
async function pass(bytes, through) {
  const stream = new Blob([bytes]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
