// @ts-check
/** What the graph alone tells of the question: identified or not, adjustment sets, paths, implications. */

/** @import { Highlighted, StructureResult } from "./types.js" */
/** @import { Studio } from "./studio.js" */
import { element, redraw, wait } from "./dom.js";
import { JobLine } from "./job.js";
import { drawFault, faultOf, makeLight, makeRepeat } from "./studio.js";

/** How many entries of a list are shown before one asks for more. */
const FIRST = 8;

/** @param {HTMLElement} root @param {Studio} studio */
export function showStructure(root, studio) {
  const line = new JobLine(studio, "Asking the graph");
  const body = element("div", { class: "structure" });
  root.append(body, line.root, makeRepeat(studio, "identify"));
  /** @type {StructureResult | null} */
  let result = null;
  let asked = "";

  const ask = () => {
    const { project, claims } = studio;
    const { graph, query, settings, without_edges } = project;
    const nodes = graph.nodes.map(({ name, hidden, selection }) => [name, hidden, selection]);
    const basis = JSON.stringify([nodes, graph.edges, graph.groups, query, settings.external, without_edges]);
    if (basis === asked) return;
    asked = basis;
    if (!studio.hasQuestion || claims.problems.length > 0) {
      line.drop();
      result = null;
      redraw(body);
      show();
      return;
    }
    line.run("identify", project, {
      result: (/** @type {StructureResult} */ found) => {
        result = found;
        redraw(body, ...draw(studio, found));
        show();
      },
      fault: (error) => {
        result = null;
        redraw(body, drawFault(faultOf(error)));
      },
    });
  };
  const show = () => {
    root.hidden = result === null && !line.busy;
  };
  const soon = wait(250, ask);
  studio.addEventListener("subject", () => {
    asked = ""; // what was asked is not heard any more
    soon();
  });
  studio.addEventListener("claims", soon);
  studio.store.addEventListener("change", soon);
  soon();
  show();
}

/** @param {Studio} studio @param {StructureResult} result */
function draw(studio, result) {
  const words = result.identified
    ? "Identified: by the graph, the distribution of the log determines the effect."
    : "Not identified: the log does not determine the effect. Bounds say what it tells.";
  return [
    element("h3", {}, "What the graph alone says"),
    element("p", {}, element("span", { class: result.identified ? "tag good" : "tag" }, result.identified ? "identified" : "not identified"), ` ${words}`),
    result.formula && element("p", {}, element("code", {}, result.formula)),
    list(studio, "why", "Why", "", result.steps),
    list(studio, "sets", "Minimal adjustment sets", "None: no set of measured covariates removes all bias.", result.adjustment_sets),
    list(studio, "causal", "Causal paths", "None: by the graph the treatment does not affect the outcome.", result.causal_paths),
    list(studio, "biasing", "Biasing paths", "None is open.", result.biasing_paths),
    list(studio, "implications", "Testable implications", "None: the graph implies no independence of measured variables.", result.implications),
  ].filter((each) => each instanceof Node);
}

/** @param {Studio} studio @param {string} key @param {string} title @param {string} none @param {Highlighted[]} entries */
function list(studio, key, title, none, entries) {
  if (entries.length === 0) return none && element("p", { class: "quiet" }, element("strong", {}, `${title}. `), none);
  const [first, more] = [entries.slice(0, FIRST), entries.slice(FIRST)];
  /** @param {Highlighted} each @param {number} i */
  const entry = (each, i) => element("li", {}, makeLight(studio, each, `${key} ${i}`));
  return element("details", { "data-key": `structure ${key}` },
    element("summary", {}, `${title}: ${entries.length}`),
    element("ul", {}, ...first.map(entry)),
    more.length > 0 && element("details", { "data-key": `structure more ${key}` }, element("summary", {}, `${more.length} more`),
      element("ul", {}, ...more.map((each, i) => entry(each, i + FIRST)))));
}
