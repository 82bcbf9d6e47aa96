// @ts-check
/** Where nodes without a place go: laid out by the server, or beside those a hand has arranged. */

/** @import { Graph, GraphNode } from "./types.js" */
import { findNode } from "./graph.js";
import { ask } from "./transport.js";

/**
 * Give every node a place. Nodes that are drawn already stay where they are; if none is, the
 * whole graph is laid out.
 *
 * @param {Graph} graph
 * @param {Graph | null} drawn
 * @param {number} aspect width over height of the canvas
 * @returns {Promise<Graph>}
 */
export async function placeNodes(graph, drawn, aspect) {
  const nodes = graph.nodes.map((node) => {
    const old = drawn && findNode(drawn, node.name);
    return isPlaced(node) || !old ? { ...node } : { ...node, x: old.x, y: old.y };
  });
  const placed = { ...graph, groups: graph.groups ?? [], nodes };
  const missing = nodes.filter((node) => !isPlaced(node));
  if (missing.length === 0) return placed;
  if (missing.length === nodes.length) return layOut(placed, aspect);
  for (const node of missing) placeFree(node, nodes.filter(isPlaced));
  return placed;
}

/** Lay the whole graph out anew. @param {Graph} graph @param {number} aspect @returns {Promise<Graph>} */
export async function layOut(graph, aspect) {
  const { positions } = await ask("/api/graph/layout", { graph, aspect: Math.max(0.1, Math.min(10, aspect)) });
  return { ...graph, nodes: graph.nodes.map((node) => ({ ...node, ...positions[node.name] })) };
}

/** @param {GraphNode} node */
function isPlaced(node) {
  return Number.isFinite(node.x) && Number.isFinite(node.y);
}

/** Put a node into the first free place below the others. @param {GraphNode} node @param {GraphNode[]} others */
function placeFree(node, others) {
  const left = Math.min(...others.map((each) => each.x));
  const bottom = Math.max(...others.map((each) => each.y));
  for (let i = 0; ; i += 1) {
    node.x = left + (i % 6) * 110;
    node.y = bottom + 70 + Math.floor(i / 6) * 70;
    if (others.every((each) => Math.abs(each.x - node.x) > 90 || Math.abs(each.y - node.y) > 50)) return;
  }
}
