// @ts-check
/** Beside the drawing: what the selected part is, what it claims, and what can be done with it. */

/** @import { Edge, EdgeKind, Pair } from "./types.js" */
/** @import { Studio } from "./studio.js" */
import { element, redraw, whenNew } from "./dom.js";
import { findNode, listBetween, listRoles, sameEdge } from "./graph.js";
import { say } from "./editor.js";
import { t } from "./words.js";

/** @type {[import("./graph.js").Role, string, string, string][]} */
const ROLES = [
  ["treatment", t("inspector.treatment"), "1", t("inspector.what_is_done")],
  ["outcome", t("inspector.outcome"), "2", t("inspector.what_is_to_change")],
  ["context", t("inspector.subgroup"), "3", t("inspector.known_before_effects_are_told_for")],
  ["hidden", t("inspector.hidden"), "4", t("inspector.never_written_down")],
  ["selection", t("inspector.selection"), "5", t("inspector.decides_which_rows_were_kept")],
];

/** @param {HTMLElement} root @param {Studio} studio */
export function showInspector(root, studio) {
  const { editor, store } = studio;
  const draw = whenNew(() => redraw(root, ...describe(studio)));
  const show = () => {
    const { graph, query, without_edges } = studio.project;
    const nodes = graph.nodes.map(({ name, hidden, selection }) => [name, hidden, selection]);
    draw([editor.selected, editor.connecting, nodes, graph.edges, query, without_edges, studio.claims]);
  };
  editor.addEventListener("selection", show);
  studio.addEventListener("claims", show);
  store.addEventListener("change", show);
  show();
}

/** @param {Studio} studio @returns {Node[]} */
function describe(studio) {
  const { nodes, edge } = studio.editor.selected;
  if (studio.editor.connecting) return describeConnecting(studio);
  if (edge) return describeEdge(studio, edge);
  if (nodes.length >= 2) return describePair(studio, nodes[0], nodes[1]);
  if (nodes.length === 1 && findNode(studio.project.graph, nodes[0])) return describeNode(studio, nodes[0]);
  return describeGraph(studio);
}

/** @param {Studio} studio */
function describeConnecting({ editor }) {
  const { from, kind } = /** @type {{from: string, kind: EdgeKind}} */ (editor.connecting);
  return [
    element("p", {}, element("strong", {}, `${from} ${kind === "->" ? "→" : "↔"} …`),
      t("inspector.choose_the_other_node_click_it")),
    makeButton(t("inspector.give_up"), "giveup", () => editor.stopConnecting()),
  ];
}

/** @param {Studio} studio */
function describeGraph({ claims, project }) {
  if (project.graph.nodes.length === 0) return [];
  const faults = claims.problems.filter(({ where }) => where === null || where.startsWith("graph"));
  return [
    ...faults.map(({ message }) => element("p", { class: "fault", role: "alert" }, message)),
    element("p", { class: "quiet" },
      t("inspector.select_a_node_or_an_edge")),
    claims.selection ? element("p", {}, claims.selection) : element("span", {}),
  ];
}

/** @param {Studio} studio @param {string} name */
function describeNode(studio, name) {
  const { editor, project, claims } = studio;
  const roles = listRoles(project, name);
  const edges = project.graph.edges.filter((edge) => edge.tail === name || edge.head === name);
  const faults = claims.problems.filter(({ lit }) => lit?.nodes.includes(name));
  return [
    element("div", { class: "row" },
      element("strong", { class: "what" }, name),
      makeButton(t("inspector.rename"), "rename", () => editor.rename(name), "Enter"),
      makeButton(t("inspector.connect"), "connect", () => editor.connect("->"), "C"),
      makeButton(t("inspector.connect_2"), "both", () => editor.connect("<->"), "B"),
      makeButton(t("inspector.delete"), "delete", () => editor.remove(), "Delete")),
    element("div", { class: "row roles", role: "group", "aria-label": t("inspector.role_of", name) },
      ...ROLES.map(([role, label, key, words]) =>
        element("button", {
          type: "button", class: `chip ${role}`, "aria-pressed": String(roles.includes(role)),
          "data-key": `role ${role}`, title: t("inspector.key", words, key), onclick: () => editor.toggleRole(role),
        }, label))),
    ...faults.map(({ message }) => element("p", { class: "fault", role: "alert" }, message)),
    edges.length > 0
      ? element("ul", { class: "claims" }, ...edges.map((edge) => element("li", {}, makeEdgeLink(studio, edge), ` ${findClaim(studio, edge)}`)))
      : element("p", { class: "quiet" }, t("inspector.no_edge_joins_it_yet_it")),
    listMissing(studio, name),
  ];
}

/** List what a node claims by the edges that it lacks, for hands without a Shift key too. @param {Studio} studio @param {string} name */
function listMissing({ claims, editor }, name) {
  const missing = claims.missing.filter((each) => each.tail === name || each.head === name);
  if (missing.length === 0) return element("span", {});
  return element("details", { "data-key": "missing" },
    element("summary", {}, missing.length === 1 ? t("inspector.one_missing_edge_and_what_that") : t("inspector.missing_edges_and_what_they_claim", missing.length)),
    element("ul", { class: "lacking" }, ...missing.map((pair) =>
      element("li", {}, element("button", {
        type: "button", class: "link", "data-key": `no ${say(pair)}`, onclick: () => editor.select({ nodes: [pair.tail, pair.head] }),
      }, t("inspector.no", say(pair))), ` ${pair.claim}`))));
}

/** @param {Studio} studio @param {Edge} edge */
function describeEdge(studio, edge) {
  const { editor, project, store } = studio;
  const { tail, head } = edge;
  const without = project.without_edges.some((each) => sameEdge(each, edge));
  /** @type {[Edge, string][]} */
  const ways = [
    [{ tail, head, kind: "->" }, `${tail} → ${head}`],
    [{ tail: head, head: tail, kind: "->" }, `${head} → ${tail}`],
    [{ tail, head, kind: "<->" }, `${tail} ↔ ${head}`],
  ];
  const faults = studio.claims.problems.filter(({ lit }) => lit?.edges.some((each) => sameEdge(each, edge)));
  return [
    element("div", { class: "row", role: "group", "aria-label": t("inspector.kind_of_edge") },
      ...ways.map(([into, label], i) =>
        element("button", {
          type: "button", class: "chip", "aria-pressed": String(sameEdge(into, edge)), "data-key": `way ${i}`,
          onclick: () => editor.turn(into),
        }, label)),
      makeButton(t("inspector.delete"), "delete", () => editor.remove(), "Delete")),
    ...faults.map(({ message }) => element("p", { class: "fault", role: "alert" }, message)),
    element("p", {}, findClaim(studio, edge)),
    element("label", { class: "check-line" },
      element("input", {
        type: "checkbox", ...(without ? { checked: true } : {}), "data-key": "without",
        onchange: () =>
          store.change(without ? t("inspector.suppose_again", say(edge)) : t("inspector.suppose_no", say(edge)), (draft) => {
            draft.without_edges = without
              ? draft.without_edges.filter((each) => !sameEdge(each, edge))
              : [...draft.without_edges, edge];
          }),
      }),
      t("inspector.what_if_it_were_absent_leave")),
  ];
}

/** @param {Studio} studio @param {string} a @param {string} b */
function describePair(studio, a, b) {
  const { project, claims, editor } = studio;
  const drawn = listBetween(project.graph, a, b);
  const missing = claims.missing.filter((each) => (each.tail === a && each.head === b) || (each.tail === b && each.head === a));
  return [
    element("p", {}, element("strong", { class: "what" }, t("inspector.and", a, b))),
    element("ul", { class: "claims" },
      ...drawn.map((edge) => element("li", {}, makeEdgeLink(studio, edge), ` ${findClaim(studio, edge)}`)),
      ...missing.map((pair, i) =>
        element("li", { class: "missing" },
          element("span", { class: "absent" }, t("inspector.no", say(pair))), ` ${pair.claim} `,
          makeButton(t("inspector.add_it"), `add ${i}`, () => {
            editor.select({ nodes: [pair.tail, pair.head] });
            editor.connect(pair.kind);
          })))),
    drawn.length + missing.length === 0
      ? element("p", { class: "quiet" }, t("inspector.nothing_can_be_said_of_these"))
      : element("span", {}),
    makeButton(t("inspector.remove_both_nodes"), "delete", () => editor.remove(), "Delete"),
  ];
}

/** @param {Studio} studio @param {Pair} edge */
function findClaim({ claims }, edge) {
  return claims.edges.find((each) => sameEdge(each, edge))?.claim ?? "";
}

/** @param {Studio} studio @param {Edge} edge */
function makeEdgeLink({ editor }, edge) {
  return element("button", {
    type: "button", class: "link", "data-key": say(edge),
    onclick: () => editor.select({ edge }),
  }, say(edge));
}

/** @param {string} label @param {string} key @param {() => void} act @param {string} [shortcut] */
function makeButton(label, key, act, shortcut) {
  return element("button", {
    type: "button", class: "small", "data-key": key, onclick: act,
    ...(shortcut ? { title: `${label} (${shortcut})` } : {}),
  }, label);
}
