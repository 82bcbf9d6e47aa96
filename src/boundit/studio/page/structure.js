// @ts-check
/** What the graph alone says: identified or not, adjustment sets, paths, roles, implications. */

/** @import { Highlighted, StructureResult } from "./types.js" */
/** @import { Studio } from "./studio.js" */
import { count, element, get, redraw, wait } from "./dom.js";
import { JobLine } from "./job.js";
import { makeNames } from "./question.js";
import { drawFault, faultOf, makeLight, makeRepeat } from "./studio.js";
import { t } from "./words.js";

/** How many entries of a list are shown before one asks for more. */
const FIRST = 12;

/** @param {HTMLElement} root @param {Studio} studio */
export function showStructure(root, studio) {
  const line = new JobLine(studio, t("structure.reading_the_graph"));
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
      redraw(body, ...faults.map(drawFault), graph.nodes.length === 0 && element("p", { class: "quiet" }, t("structure.draw_a_graph_or_paste_one")));
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
    get("say-graph").textContent = !result || result.identified === null ? t("structure.without_data") : result.identified ? "identified" : t("structure.not_identified");
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
      ? [element("p", {}, t("structure.choose_an_outcome_and_a_treatment"))]
      : [
        element("p", { class: "verdict long" }, element("span", { class: identified ? "tag good" : "tag" }, identified ? t("structure.identified") : t("structure.not_identified")),
          identified ? t("structure.the_graph_and_the_distribution_of") : t("structure.the_log_does_not_determine_the")),
        result.formula && element("p", {}, element("code", {}, result.formula)),
        list(studio, "why", t("answers.why"), "", result.steps),
        drawSets(studio, result),
        list(studio, "causal", t("structure.causal_paths"), t("structure.none_by_the_graph_the_treatment"), result.causal_paths, true),
        list(studio, "biasing", t("structure.biasing_paths"), t("structure.none_is_open"), result.biasing_paths, true),
      ]),
    list(studio, "roles", t("structure.roles_of_nodes"), "", result.roles),
    list(studio, "implications", t("structure.testable_implications"), t("structure.none_the_graph_implies_no_independence"), result.implications),
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
    list(studio, "sets", t("structure.minimal_adjustment_sets"), limited ? t("structure.none_within_these_limits") : t("structure.none_no_set_of_measured_covariates"), sets, true),
    more && element("p", { class: "quiet" }, t("structure.the_first_are_listed", count(sets.length))),
    candidates.length > 0 && element("details", { "data-key": "structure limits", ...(limited ? { open: true } : {}) },
      element("summary", {}, t("structure.force_variables_in_or_out")),
      names("adjust_for", t("structure.in_every_set"), t("structure.measured_and_always_adjusted_for")),
      names("never_adjust_for", t("structure.in_no_set"), t("structure.unmeasured_or_not_to_be_used"))));
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
    more.length > 0 && element("details", { "data-key": `structure more ${key}` }, element("summary", {}, t("structure.more", more.length)),
      element("ul", {}, ...more.map((each, i) => entry(each, i + FIRST)))));
}
