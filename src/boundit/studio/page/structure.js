// @ts-check
/** What the graph alone says: identified or not, adjustment sets, paths, roles, implications. */

/** @import { Highlighted, StructureResult } from "./types.js" */
/** @import { Studio } from "./studio.js" */
import { count, element, get, redraw, wait } from "./dom.js";
import { JobLine } from "./job.js";
import { makeNames } from "./question.js";
import { drawFault, faultOf, makeLight, makeRepeat } from "./studio.js";

/** How many entries of a list are shown before one asks for more. */
const FIRST = 12;

/** @param {HTMLElement} root @param {Studio} studio */
export function showStructure(root, studio) {
  const line = new JobLine(studio, "Reading the graph");
  const body = element("div", { class: "structure", "aria-live": "polite" });
  root.append(line.root, body, makeRepeat(studio, "identify"));
  /** @type {StructureResult | null} */
  let result = null;
  let asked = "";

  const ask = () => {
    const { project, claims } = studio;
    const { graph, query, settings, without_edges } = project;
    const nodes = graph.nodes.map(({ name, hidden, selection }) => [name, hidden, selection]);
    const basis = JSON.stringify([nodes, graph.edges, graph.groups, query, settings.external, without_edges, claims.problems]);
    if (basis === asked) return;
    asked = basis;
    const faults = claims.problems;
    if (graph.nodes.length === 0 || faults.length > 0) {
      line.drop();
      result = null;
      redraw(body, ...faults.map(drawFault), graph.nodes.length === 0 && element("p", { class: "quiet" }, "Draw a graph or paste one as text."));
      tell();
      return;
    }
    line.run("identify", project, {
      result: (/** @type {StructureResult} */ found) => {
        result = found;
        redraw(body, ...draw(studio, found));
        tell();
      },
      fault: (error) => {
        result = null;
        redraw(body, drawFault(faultOf(error)));
        tell();
      },
    });
  };
  const tell = () => {
    get("say-graph").textContent = !result || result.identified === null ? "without data" : result.identified ? "identified" : "not identified";
  };
  const soon = wait(250, ask);
  studio.addEventListener("subject", () => {
    asked = ""; // what was asked is not heard any more
    soon();
  });
  studio.addEventListener("claims", soon);
  studio.store.addEventListener("change", soon);
  soon();
}

/** @param {Studio} studio @param {StructureResult} result */
function draw(studio, result) {
  const { identified } = result;
  return [
    ...(identified === null
      ? [element("p", {}, "Choose an outcome and a treatment above: then identification, adjustment sets and paths stand here.")]
      : [
        element("p", { class: "verdict long" }, element("span", { class: identified ? "tag good" : "tag" }, identified ? "identified" : "not identified"),
          identified ? " The graph and the distribution of the log determine the effect." : " The log does not determine the effect, at any size. With data, the answer is an interval."),
        result.formula && element("p", {}, element("code", {}, result.formula)),
        list(studio, "why", "Why", "", result.steps),
        drawSets(studio, result),
        list(studio, "causal", "Causal paths", "None: by the graph the treatment does not affect the outcome.", result.causal_paths, true),
        list(studio, "biasing", "Biasing paths", "None is open.", result.biasing_paths, true),
      ]),
    list(studio, "roles", "Roles of nodes", "", result.roles),
    list(studio, "implications", "Testable implications", "None: the graph implies no independence of measured variables.", result.implications),
  ].filter((each) => each instanceof Node);
}

/** @param {Studio} studio @param {StructureResult} result */
function drawSets(studio, { adjustment_sets: sets, more_sets: more, candidates }) {
  const { query } = studio.project;
  /** @param {"adjust_for" | "never_adjust_for"} part @param {string} title @param {string} words */
  const names = (part, title, words) => makeNames(studio, {
    key: part, title, words, names: candidates, chosen: query[part],
    toggle: (name) => studio.store.change(`${title} ${name}`, (draft) => {
      const had = draft.query[part].includes(name);
      for (const each of /** @type {const} */ (["adjust_for", "never_adjust_for"])) draft.query[each] = draft.query[each].filter((other) => other !== name);
      if (!had) draft.query[part].push(name);
    }),
  });
  const limited = query.adjust_for.length + query.never_adjust_for.length > 0;
  return element("section", { class: "sets" },
    list(studio, "sets", "Minimal adjustment sets", limited ? "None within these limits." : "None: no set of measured covariates removes all bias.", sets, true),
    more && element("p", { class: "quiet" }, `The first ${count(sets.length)} are listed.`),
    candidates.length > 0 && element("details", { "data-key": "structure limits", ...(limited ? { open: true } : {}) },
      element("summary", {}, "Force variables in or out"),
      names("adjust_for", "In every set", "measured and always adjusted for"),
      names("never_adjust_for", "In no set", "unmeasured, or not to be used")));
}

/** @param {Studio} studio @param {string} key @param {string} title @param {string} none @param {Highlighted[]} entries @param {boolean} [open] */
function list(studio, key, title, none, entries, open = false) {
  if (entries.length === 0) return none && element("p", { class: "quiet" }, element("strong", {}, `${title}. `), none);
  const [first, more] = [entries.slice(0, FIRST), entries.slice(FIRST)];
  /** @param {Highlighted} each @param {number} i */
  const entry = (each, i) => element("li", {}, makeLight(studio, each, `${key} ${i}`));
  return element("details", { "data-key": `structure ${key}`, ...(open ? { open: true } : {}) },
    element("summary", {}, `${title}: ${entries.length}`),
    element("ul", {}, ...first.map(entry)),
    more.length > 0 && element("details", { "data-key": `structure more ${key}` }, element("summary", {}, `${more.length} more`),
      element("ul", {}, ...more.map((each, i) => entry(each, i + FIRST)))));
}
