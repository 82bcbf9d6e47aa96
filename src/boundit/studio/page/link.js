// @ts-check
/** A project as the text after `#` in an address: packed, and without host or token. */

const MARK = "#project=";

/** Write a project's text as what stands after an address. @param {string} text */
export async function writeLink(text) {
  const bytes = new TextEncoder().encode(text);
  const packed = await pass(bytes, new CompressionStream("deflate-raw"));
  let letters = "";
  for (const byte of packed) letters += String.fromCharCode(byte);
  return MARK + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Read the project's text out of an address, or null where there is none. @param {string} hash */
export async function readLink(hash) {
  const at = hash.indexOf(MARK);
  if (at < 0) return null;
  const letters = atob(hash.slice(at + MARK.length).replaceAll("-", "+").replaceAll("_", "/"));
  const packed = Uint8Array.from(letters, (each) => each.charCodeAt(0));
  return new TextDecoder().decode(await pass(packed, new DecompressionStream("deflate-raw")));
}

/** @param {Uint8Array<ArrayBuffer>} bytes @param {CompressionStream | DecompressionStream} through */
async function pass(bytes, through) {
  const stream = new Blob([bytes]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
