// @ts-check
/** Where the lines of the drawing run: from rim to rim, past other nodes, with heads at the ends. */

/** @import { Edge, GraphNode } from "./types.js" */

export const NODE_HEIGHT = 40;
const HEAD = 10;
const HALF = 4.5;
/** @type {CanvasRenderingContext2D | null} */
let pen = null;
/** @type {Map<string, number>} */
const widths = new Map();

/** Measure how wide the box of a node is. @param {string} name @param {boolean} selection */
export function boxWidth(name, selection) {
  const key = `${selection}${name}`;
  const known = widths.get(key);
  if (known) return known;
  const width = Math.max(58, Math.round(measure(name) + (selection ? 34 : 28)));
  widths.set(key, width);
  return width;
}

/** Find the box around nodes. @param {GraphNode[]} nodes @param {number} margin */
export function frameNodes(nodes, margin) {
  const halves = nodes.map((node) => (node.width ?? boxWidth(node.name, node.selection)) / 2);
  return {
    left: Math.min(...nodes.map((node, i) => node.x - halves[i])) - margin,
    right: Math.max(...nodes.map((node, i) => node.x + halves[i])) + margin,
    top: Math.min(...nodes.map((node) => node.y)) - NODE_HEIGHT / 2 - margin,
    bottom: Math.max(...nodes.map((node) => node.y)) + NODE_HEIGHT / 2 + margin,
  };
}

/** Break words into lines that fit into a width; a word that is too long is cut. @param {string} words @param {number} width */
export function wrap(words, width) {
  const lines = [""];
  for (let word of words.split(/(?<=[ ,_/-])/u)) {
    if (lines[lines.length - 1] && widthOf(lines[lines.length - 1] + word.trimEnd()) > width) lines.push("");
    while (widthOf(word.trimEnd()) > width && word.length > 1) {
      let length = word.length - 1;
      while (length > 1 && widthOf(word.slice(0, length)) > width) length -= 1;
      lines[lines.length - 1] += word.slice(0, length);
      word = word.slice(length);
      lines.push("");
    }
    lines[lines.length - 1] += word;
  }
  return lines.map((line) => line.trim()).filter(Boolean);
}

/** How wide a text is in a picture. @param {string} text */
export function widthOf(text) {
  return measure(text) * 0.89;
}

/** @param {string} text */
function measure(text) {
  pen ??= document.createElement("canvas").getContext("2d");
  if (pen) pen.font = "15px system-ui, sans-serif";
  return pen ? pen.measureText(text).width : text.length * 8;
}

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{line: string, heads: string, middle: Point}} Stroke */

/**
 * Draw one edge as paths: its line, its heads, and the point where it can be taken hold of.
 * Lines keep clear of the nodes in `others`.
 *
 * @param {Edge} edge
 * @param {GraphNode} tail
 * @param {GraphNode} head
 * @param {GraphNode[]} others
 * @returns {Stroke}
 */
export function drawStroke(edge, tail, head, others) {
  const bends = edge.kind === "<->" ? [34, -34, 66, -66, 100] : [0, 18, -18, 36, -36, 60, -60, 100, -100];
  const near = others.filter((node) => node !== tail && node !== head && isNear(node, tail, head));
  const bend = findFreest(bends, (each) => countHits(curve(tail, head, each), near));
  const handle = curve(tail, head, bend).handle;
  const start = leave(tail, handle);
  const end = leave(head, handle);
  const from = edge.kind === "<->" ? back(start, handle, HEAD - 2) : start;
  const to = back(end, handle, HEAD - 2);
  const heads = [drawHead(end, handle), edge.kind === "<->" ? drawHead(start, handle) : ""];
  return {
    line: `M${point(from)}Q${point(handle)} ${point(to)}`,
    heads: heads.join(""),
    middle: at(start, handle, end, 0.5),
  };
}

/** @param {Point} tail @param {Point} head @param {number} bend */
function curve(tail, head, bend) {
  const dx = head.x - tail.x;
  const dy = head.y - tail.y;
  const length = Math.hypot(dx, dy) || 1;
  // The same side whichever end is the tail, so that a turned arrow stays where it was.
  const side = dx > 0 || (dx === 0 && dy > 0) ? 1 : -1;
  const handle = {
    x: (tail.x + head.x) / 2 + (side * 2 * bend * dy) / length,
    y: (tail.y + head.y) / 2 - (side * 2 * bend * dx) / length,
  };
  return { tail, handle, head };
}

/** @param {GraphNode} node @param {Point} a @param {Point} b */
function isNear(node, a, b) {
  const reach = 140;
  return (
    node.x > Math.min(a.x, b.x) - reach &&
    node.x < Math.max(a.x, b.x) + reach &&
    node.y > Math.min(a.y, b.y) - reach &&
    node.y < Math.max(a.y, b.y) + reach
  );
}

/** Find the first bend that hits nothing, or the one that hits least. @param {number[]} bends @param {(bend: number) => number} count */
function findFreest(bends, count) {
  let best = bends[0];
  let least = Infinity;
  for (const bend of bends) {
    const hits = count(bend);
    if (hits < least) [best, least] = [bend, hits];
    if (hits === 0) break;
  }
  return best;
}

/** Count how often a line runs over nodes. @param {{tail: Point, handle: Point, head: Point}} way @param {GraphNode[]} nodes */
function countHits({ tail, handle, head }, nodes) {
  let hits = 0;
  for (const node of nodes) {
    const wide = boxWidth(node.name, node.selection) / 2 + 6;
    for (let share = 0.06; share < 0.95; share += 0.06) {
      const { x, y } = at(tail, handle, head, share);
      if (Math.abs(x - node.x) < wide && Math.abs(y - node.y) < NODE_HEIGHT / 2 + 6) hits += 1;
    }
  }
  return hits;
}

/** @param {Point} a @param {Point} handle @param {Point} b @param {number} share */
function at(a, handle, b, share) {
  const rest = 1 - share;
  return {
    x: rest * rest * a.x + 2 * rest * share * handle.x + share * share * b.x,
    y: rest * rest * a.y + 2 * rest * share * handle.y + share * share * b.y,
  };
}

/** Find where a line to `towards` leaves the box of a node. @param {GraphNode} node @param {Point} towards */
function leave(node, towards) {
  const dx = towards.x - node.x;
  const dy = towards.y - node.y;
  const wide = (node.width ?? boxWidth(node.name, node.selection)) / 2 + 2;
  const high = (node.height ?? NODE_HEIGHT) / 2 + 2;
  const scale = Math.min(wide / (Math.abs(dx) || 1e-9), high / (Math.abs(dy) || 1e-9));
  return { x: node.x + dx * scale, y: node.y + dy * scale };
}

/** @param {Point} tip @param {Point} from @param {number} size */
function back(tip, from, size) {
  const length = Math.hypot(tip.x - from.x, tip.y - from.y) || 1;
  return { x: tip.x - (size * (tip.x - from.x)) / length, y: tip.y - (size * (tip.y - from.y)) / length };
}

/** @param {Point} tip @param {Point} from */
function drawHead(tip, from) {
  const foot = back(tip, from, HEAD);
  const across = { x: ((tip.x - foot.x) * HALF) / HEAD, y: ((tip.y - foot.y) * HALF) / HEAD };
  const left = { x: foot.x - across.y, y: foot.y + across.x };
  const right = { x: foot.x + across.y, y: foot.y - across.x };
  return `M${point(tip)}L${point(left)} ${point(right)}Z`;
}

/** @param {Point} each */
function point(each) {
  return `${each.x.toFixed(1)} ${each.y.toFixed(1)}`;
}
