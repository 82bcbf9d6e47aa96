// @ts-check
/** Sliders for what is supposed: the selection rate, limits, and how sure the answer is to be. */

/** @import { Edge, Project } from "./types.js" */
/** @import { Studio } from "./studio.js" */
/** @import { Answers } from "./answers.js" */
import { element, redraw, whenNew, write } from "./dom.js";
import { say } from "./editor.js";
import { findLimit, putLimit } from "./graph.js";
import { drawFault } from "./studio.js";
import { t } from "./words.js";

/**
 * @typedef {{
 *   key: string, title: string, words: string, where: string, low: number, high: number, step: number,
 *   first: number, optional: boolean, read: (project: Project) => number | null,
 *   put: (draft: Project, value: number | null) => void,
 * }} Supposition
 */

/** @type {Supposition[]} */
const SUPPOSITIONS = [
  {
    key: "rate", title: t("sliders.selection_rate"), words: t("sliders.the_share_of_the_population_that"), where: "settings.selection_rate",
    low: 0.01, high: 1, step: 0.01, first: 0.5, optional: true,
    read: ({ settings }) => (Array.isArray(settings.selection_rate) ? settings.selection_rate[0] : settings.selection_rate),
    put: (draft, value) => {
      draft.settings.selection_rate = value;
    },
  },
  {
    key: "G", title: t("sliders.selection_limit_g"), words: t("sliders.every_stratum_was_logged_between_1"), where: "settings.selection_limit",
    low: 1, high: 5, step: 0.05, first: 2, optional: true,
    read: ({ settings }) => settings.selection_limit,
    put: (draft, value) => {
      draft.settings.selection_limit = value;
    },
  },
];

/** @type {Supposition} */
const CONFIDENCE = {
  key: "confidence", title: t("sliders.confidence"), words: t("sliders.probability_over_repeated_samples_that_all"), where: "settings.confidence",
  low: 0.5, high: 0.999, step: 0.001, first: 0.95, optional: false,
  read: ({ settings }) => settings.confidence,
  put: (draft, value) => {
    draft.settings.confidence = value;
  },
};

/**
 * Show the sliders that the graph has a use for. They stay the same elements while their values
 * change, or a hand that drags one would lose it.
 *
 * @param {HTMLElement} root @param {Studio} studio @param {Answers} answers
 * @returns {() => void} shows the project as it is now
 */
export function showSliders(root, studio, answers) {
  /** @type {(() => void)[]} */
  let parts = [];
  const rebuild = whenNew(() => {
    const sliders = listSuppositions(studio).map((each) => makeSlider(studio, answers, each));
    const inference = makeInference(studio);
    parts = [...sliders, inference].map((each) => each.show);
    redraw(root, ...[...sliders, inference].map((each) => each.root));
  });
  return () => {
    rebuild(listSuppositions(studio).map(({ key, title }) => [key, title]));
    for (const show of parts) show();
  };
}

/** List the sliders that this graph has a use for. @param {Studio} studio @returns {Supposition[]} */
function listSuppositions({ project, claims }) {
  const selected = project.graph.nodes.some((node) => node.selection);
  const arms = new Set(project.query.treatments);
  const hidden = claims.arcs.filter((edge) => arms.has(edge.tail) || arms.has(edge.head));
  return [
    ...(selected ? SUPPOSITIONS : []),
    ...hidden.map((edge) => makeLimit(edge)),
    CONFIDENCE,
  ];
}

/** @param {Edge} edge @returns {Supposition} */
function makeLimit(edge) {
  return {
    key: `limit ${edge.tail} <-> ${edge.head}`, title: t("sliders.confounding_limit_on", say(edge)), words: t("sliders.the_hidden_cause_changes_the_odds"),
    where: "settings.confounding_limit", low: 1, high: 10, step: 0.1, first: 2, optional: true,
    read: (project) => project.settings.confounding_limit[findLimit(project, edge) ?? ""] ?? null,
    put: (draft, value) => putLimit(draft, edge, value),
  };
}

/** @param {Studio} studio @param {Answers} answers @param {Supposition} supposition */
function makeSlider(studio, answers, supposition) {
  const { key, title, words, low, high, step, first, optional, where } = supposition;
  /** @param {number | null} next */
  const put = (next) =>
    studio.store.change(next === null ? t("inspector.suppose_no", title) : `${title} ${next}`, (draft) => supposition.put(draft, next), `slider ${key}`);
  /** @param {Event} event */
  const slide = (event) => {
    const typed = /** @type {HTMLInputElement} */ (event.target).valueAsNumber;
    if (Number.isFinite(typed)) put(typed);
    else if (optional) put(null);
    else number.value = String(supposition.read(studio.project) ?? first);
  };
  const id = t("sliders.suppose", key);
  const box = element("input", { type: "checkbox", "data-key": `${key} on`, onchange: () => put(box.checked ? range.valueAsNumber : null) });
  const number = element("input", { type: "number", step: "any", min: low, "data-key": `${key} number`, "aria-label": t("sliders.as_a_number", title), onchange: slide });
  const range = element("input", { type: "range", id, min: low, max: high, step, "data-key": `${key} range`, "aria-label": title, oninput: slide });
  const faults = element("div", {});
  const root = element("div", { "data-where": where },
    element("div", { class: "supposition-head" },
      optional ? element("label", {}, box, ` ${title}`) : element("label", { for: id }, title), number),
    range, element("p", { class: "quiet" }, words), faults);
  range.value = String(first);
  const writeNumber = whenNew((/** @type {number | null} */ value) => {
    number.value = value === null ? "" : String(value); // not while something else is being typed
  });
  const show = () => {
    const value = supposition.read(studio.project);
    root.className = value === null ? "supposition off" : "supposition";
    box.checked = value !== null;
    writeNumber([value], value);
    range.setAttribute("aria-valuetext", value === null ? "not supposed" : write(value));
    if (value !== null && range.valueAsNumber !== value) range.value = String(value);
    redraw(faults, !answers.stale && answers.fault?.where?.startsWith(where) && drawFault(answers.fault));
  };
  return { root, show };
}

/** @param {Studio} studio */
function makeInference(studio) {
  const select = element("select", { id: "inference", "data-key": "inference" },
    element("option", { value: "exact" }, t("sliders.at_every_size_of_log_exact")),
    element("option", { value: "approximate" }, t("sliders.nearly_on_large_logs_approximate")));
  select.addEventListener("change", () =>
    studio.store.change(t("sliders.inference", select.value), (draft) => {
      draft.settings.inference = select.value;
    }));
  return {
    root: element("div", { class: "field" }, element("label", { for: "inference" }, t("sliders.the_confidence_holds")), select),
    show: () => {
      select.value = studio.project.settings.inference;
    },
  };
}
