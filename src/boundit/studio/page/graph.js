// @ts-check
/**
 * Edits of a project's graph and of what names its nodes: pure bookkeeping on the document.
 * Every function changes the draft that it is given; the store keeps the one before.
 */

/** @import { Edge, EdgeKind, Graph, GraphNode, Pair, Project } from "./types.js" */

/** @typedef {"treatment" | "outcome" | "context" | "hidden" | "selection" | "none"} Role */

/** @param {Graph} graph @param {string} name @returns {GraphNode | undefined} */
export function findNode(graph, name) {
  return graph.nodes.find((node) => node.name === name);
}

/** Tell whether two edges join the same nodes in the same way. @param {Pair} a @param {Pair} b */
export function sameEdge(a, b) {
  if (a.kind !== b.kind) return false;
  if (a.tail === b.tail && a.head === b.head) return true;
  return a.kind !== "->" && a.tail === b.head && a.head === b.tail;
}

/**
 * @typedef {{edge: Edge, edges: Edge[], tail: string | null, head: string | null}} Bundle  One line of
 * the drawing: an edge, or all that join a group as a whole, drawn at the group named.
 */

/** Gather the edges that all members of a group have: a group is one box. @param {Graph} graph @returns {Bundle[]} */
export function bundleEdges(graph) {
  const groups = (graph.groups ?? []).filter(({ members }) => members.length > 0);
  if (groups.length === 0) return graph.edges.map((edge) => ({ edge, edges: [edge], tail: null, head: null }));
  const keys = new Map(graph.edges.map((edge) => [keyOf(edge), edge]));
  /** @param {string} name */
  const around = (name) => [null, ...groups.filter(({ members }) => members.includes(name))];
  const taken = new Set();
  /** @type {Bundle[]} */
  const found = [];
  for (const edge of graph.edges) {
    if (taken.has(keyOf(edge))) continue;
    /** @type {Bundle} */
    let best = { edge, edges: [edge], tail: null, head: null };
    for (const tail of around(edge.tail)) {
      for (const head of around(edge.head)) {
        if (tail && tail === head) continue;
        const edges = (tail?.members ?? [edge.tail]).flatMap((a) => (head?.members ?? [edge.head]).map((b) => keys.get(keyOf({ tail: a, head: b, kind: edge.kind }))));
        if (edges.length > best.edges.length && edges.every((each) => each !== undefined && !taken.has(keyOf(each)))) {
          best = { edge, edges: /** @type {Edge[]} */ (edges), tail: tail?.name ?? null, head: head?.name ?? null };
        }
      }
    }
    for (const each of best.edges) taken.add(keyOf(each));
    found.push(best);
  }
  return found;
}

/** Name an edge, the same for both ways of writing `<->`. @param {Pair} edge */
export function keyOf(edge) {
  const [a, b] = edge.kind === "->" ? [edge.tail, edge.head] : [edge.tail, edge.head].sort();
  return JSON.stringify([edge.kind, a, b]);
}

/** List the edges between two nodes. @param {Graph} graph @param {string} a @param {string} b */
export function listBetween(graph, a, b) {
  return graph.edges.filter(
    (edge) => (edge.tail === a && edge.head === b) || (edge.tail === b && edge.head === a),
  );
}

/** Find a name that no node has: A, B, ..., Z, A1. @param {Graph} graph */
export function makeName(graph) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (let round = 0; ; round += 1) {
    for (const letter of letters) {
      const name = round ? `${letter}${round}` : letter;
      if (!findNode(graph, name)) return name;
    }
  }
}

/** @param {Project} draft @param {string} name @param {number} x @param {number} y */
export function addNode(draft, name, x, y) {
  draft.graph.nodes.push({ name, hidden: false, selection: false, x, y });
  draft.graph.text = null;
}

/** Remove a node and all that names it. @param {Project} draft @param {string} name */
export function removeNode(draft, name) {
  const { graph } = draft;
  graph.nodes = graph.nodes.filter((node) => node.name !== name);
  for (const edge of graph.edges.filter((each) => each.tail === name || each.head === name)) {
    removeEdge(draft, edge);
  }
  for (const group of graph.groups ?? []) {
    group.members = group.members.filter((member) => member !== name);
  }
  graph.groups = (graph.groups ?? []).filter((group) => group.members.length > 1);
  dropRoles(draft, name);
  for (const part of /** @type {const} */ (["adjust_for", "never_adjust_for"])) draft.query[part] = draft.query[part].filter((each) => each !== name);
  delete draft.data.columns[name];
  delete draft.data.bins[name];
  delete draft.data.levels[name];
  graph.text = null;
}

/**
 * Rename a node wherever the project names it. Its column stays the one it had; where that had
 * the node's own name, a column of the new name is taken before it.
 *
 * @param {Project} draft
 * @param {string} before
 * @param {string} after
 * @param {string[]} columns that the log has
 */
export function renameNode(draft, before, after, columns) {
  /** @param {string} name */
  const swap = (name) => (name === before ? after : name);
  const { graph, query, data } = draft;
  const node = findNode(graph, before);
  const own = columns.includes(before) && !columns.includes(after) && !node?.hidden && !node?.selection;
  const held = data.columns[before] ?? (own ? before : after);
  delete data.columns[before];
  if (held !== after) data.columns[after] = held;
  for (const each of graph.nodes) each.name = swap(each.name);
  for (const edge of [...graph.edges, ...draft.without_edges]) {
    edge.tail = swap(edge.tail);
    edge.head = swap(edge.head);
  }
  for (const group of graph.groups ?? []) group.members = group.members.map(swap);
  query.outcome = query.outcome === null ? null : swap(query.outcome);
  query.treatments = query.treatments.map(swap);
  query.context = query.context.map(swap);
  query.adjust_for = query.adjust_for.map(swap);
  query.never_adjust_for = query.never_adjust_for.map(swap);
  for (const record of [data.bins, data.levels]) renameKey(record, before, after);
  draft.settings.confounding_limit = Object.fromEntries(
    Object.entries(draft.settings.confounding_limit).map(([text, limit]) => [writeEnds(readEnds(text).map(swap)), limit]),
  );
  graph.text = null;
}

/**
 * Read which nodes a limit on hidden causes is about, as it is written: `X <-> "time of day"`.
 *
 * @param {string} text
 */
function readEnds(text) {
  const parts = text.match(/"(?:\\.|[^"\\])*"|[^\s"]+/gu) ?? [];
  return parts
    .filter((part) => part !== "<->")
    .map((part) => (part.startsWith('"') ? part.slice(1, -1).replace(/\\(.)/gu, "$1") : part));
}

/**
 * Write the nodes of a limit, quoted unless they are plain words that mean nothing in a graph's text.
 *
 * @param {string[]} ends
 */
function writeEnds(ends) {
  const isPlain = (/** @type {string} */ name) => /^[A-Za-z]\w*$/u.test(name) && !["do", "hidden"].includes(name);
  return ends.map((name) => (isPlain(name) ? name : `"${name.replace(/["\\]/gu, "\\$&")}"`)).join(" <-> ");
}

/**
 * Find the limit on the hidden causes of an edge, whichever of its nodes is written first.
 *
 * @param {Project} project
 * @param {Pair} edge
 * @returns {string | undefined} the edge as the limit has it
 */
export function findLimit(project, edge) {
  const wanted = [edge.tail, edge.head].sort().join("\n");
  return Object.keys(project.settings.confounding_limit).find((text) => readEnds(text).sort().join("\n") === wanted);
}

/**
 * Limit the hidden causes of an edge, or take the limit away.
 *
 * @param {Project} draft
 * @param {Pair} edge
 * @param {number | null} limit
 */
export function putLimit(draft, edge, limit) {
  const known = findLimit(draft, edge);
  if (limit !== null) draft.settings.confounding_limit[known ?? writeEnds([edge.tail, edge.head])] = limit;
  else if (known !== undefined) delete draft.settings.confounding_limit[known];
}

/** @param {Record<string, any>} record @param {string} before @param {string} after */
function renameKey(record, before, after) {
  if (!(before in record)) return;
  record[after] = record[before];
  delete record[before];
}

/** @param {Project} draft @param {string} tail @param {string} head @param {EdgeKind} kind */
export function addEdge(draft, tail, head, kind) {
  draft.graph.edges.push({ tail, head, kind });
  draft.graph.text = null;
}

/** Remove an edge, and what was supposed of it. @param {Project} draft @param {Edge} edge */
export function removeEdge(draft, edge) {
  draft.graph.edges = draft.graph.edges.filter((each) => !sameEdge(each, edge));
  draft.without_edges = draft.without_edges.filter((each) => !sameEdge(each, edge));
  if (edge.kind === "<->") putLimit(draft, edge, null);
  draft.graph.text = null;
}

/** Turn an arrow round, or make it `<->`. @param {Project} draft @param {Edge} edge @param {Edge} into */
export function replaceEdge(draft, edge, into) {
  if (edge.kind === "<->" && into.kind !== "<->") putLimit(draft, edge, null);
  draft.without_edges = draft.without_edges.filter((each) => !sameEdge(each, edge));
  draft.graph.edges = draft.graph.edges
    .filter((each) => !sameEdge(each, into) || sameEdge(each, edge))
    .map((each) => (sameEdge(each, edge) ? into : each));
  draft.graph.text = null;
}

/** Find what a node is in the question and the log. @param {Project} project @param {string} name */
export function listRoles(project, name) {
  const { query } = project;
  const node = findNode(project.graph, name);
  /** @type {Role[]} */
  const roles = [];
  if (query.treatments.includes(name)) roles.push("treatment");
  if (query.outcome === name) roles.push("outcome");
  if (query.context.includes(name)) roles.push("context");
  if (node?.hidden) roles.push("hidden");
  if (node?.selection) roles.push("selection");
  return roles;
}

/**
 * Give a node a role, or take it away where it has it. A node has one role at most, and one node
 * at most decides selection.
 *
 * @param {Project} draft
 * @param {string} name
 * @param {Role} role
 */
export function toggleRole(draft, name, role) {
  const node = findNode(draft.graph, name);
  if (!node) return;
  const had = listRoles(draft, name).includes(role);
  if (node.hidden || node.selection || role === "hidden" || role === "selection") {
    draft.graph.text = null; // brackets and hidden nodes are written in the text
  }
  dropRoles(draft, name);
  node.hidden = false;
  node.selection = false;
  if (had) return;
  if (role === "treatment") {
    draft.query.treatments.push(name);
    draft.query.baseline = null;
  }
  for (const part of /** @type {const} */ (["adjust_for", "never_adjust_for"])) draft.query[part] = draft.query[part].filter((each) => each !== name);
  if (role === "outcome") draft.query.outcome = name;
  if (role === "context") draft.query.context.push(name);
  if (role === "hidden") node.hidden = true;
  if (role === "selection") {
    for (const each of draft.graph.nodes) each.selection = each === node;
  }
}

/** @param {Project} draft @param {string} name */
function dropRoles(draft, name) {
  const { query } = draft;
  if (query.treatments.includes(name)) query.baseline = null;
  query.treatments = query.treatments.filter((each) => each !== name);
  query.context = query.context.filter((each) => each !== name);
  if (query.outcome === name) query.outcome = null;
}
