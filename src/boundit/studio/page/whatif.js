// @ts-check
/** What if: suppositions as sliders that redraw the intervals, and what would narrow or overturn. */

/** @import { BoundResult, Edge, Project, RankedItem, RankedResult } from "./types.js" */
/** @import { Studio } from "./studio.js" */
/** @import { Answers } from "./answers.js" */
import { element, redraw, whenNew, write } from "./dom.js";
import { basisOf } from "./answers.js";
import { keyOf, sameEdge } from "./graph.js";
import { say } from "./editor.js";
import { drawIntervals } from "./intervals.js";
import { drawFault, faultOf, JobLine, makeRepeat } from "./studio.js";

/** How many entries of a ranked list are shown before one asks for more. */
const FIRST = 6;

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
    key: "rate", title: "Selection rate", words: "the share of everybody that was logged", where: "settings.selection_rate",
    low: 0.01, high: 1, step: 0.01, first: 0.5, optional: true,
    read: ({ settings }) => (Array.isArray(settings.selection_rate) ? settings.selection_rate[0] : settings.selection_rate),
    put: (draft, value) => {
      draft.settings.selection_rate = value;
    },
  },
  {
    key: "G", title: "Limit G", words: "on selection: no kind of row was logged more than G times as often as the average, or as seldom", where: "settings.sensitivity",
    low: 1, high: 5, step: 0.05, first: 2, optional: true,
    read: ({ settings }) => settings.sensitivity,
    put: (draft, value) => {
      draft.settings.sensitivity = value;
    },
  },
];

/** @type {Supposition} */
const CONFIDENCE = {
  key: "confidence", title: "Confidence", words: "the chance that all intervals hold at once", where: "settings.confidence",
  low: 0.5, high: 0.999, step: 0.001, first: 0.95, optional: false,
  read: ({ settings }) => settings.confidence,
  put: (draft, value) => {
    draft.settings.confidence = value;
  },
};

/** @param {HTMLElement} root @param {Studio} studio @param {Answers} answers */
export function showWhatIf(root, studio, answers) {
  const { store } = studio;
  const sliders = element("div", { class: "sliders" });
  const picture = element("div", { class: "picture" });
  const words = element("p", { class: "quiet" });
  const edges = element("div", { class: "edge-toggles" });
  root.append(
    element("div", { class: "whatif-top" }, sliders, element("div", {}, words, picture)), edges,
    makeRanked(studio, answers, "suggest", "What would narrow this?", "Trying what would narrow the intervals"),
    makeRanked(studio, answers, "stress", "What would overturn it?", "Adding every missing edge in turn"),
    makeRepeat(studio, "bound"));

  /** The answer with nothing supposed, to compare with. @type {{basis: string, result: BoundResult} | null} */
  let base = null;

  const drawSliders = whenNew(() => redraw(sliders, ...listSuppositions(studio).map((each) => makeSlider(studio, answers, each)), makeInference(studio)));
  const drawEdges = whenNew(() => redraw(edges, makeEdgeToggles(studio)));

  const show = () => {
    const { project } = store;
    const { settings, without_edges, graph, query } = project;
    drawSliders([settings, graph.nodes.map((node) => node.selection), studio.claims.edges, query, answers.fault]);
    drawEdges([without_edges, graph.edges]);
    const { result } = answers;
    const neutral = makeNeutral(project);
    if (result && !answers.stale && isNeutral(project)) base = { basis: basisOf(project), result };
    const before = base?.basis === basisOf(neutral) ? base.result : null;
    root.classList.toggle("stale", answers.stale && result !== null);
    words.textContent = result
      ? isNeutral(project) ? "Nothing is supposed yet: move a slider." : before ? "Dashed outlines: the answer with nothing supposed." : ""
      : "Ask first: then the intervals move with the sliders.";
    redraw(picture, result && drawIntervals(result, { width: Math.max(280, picture.clientWidth || 460), before: isNeutral(project) ? null : before }));
  };
  answers.addEventListener("bounds", show);
  store.addEventListener("change", show);
  studio.addEventListener("claims", show);
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(picture.clientWidth - width) < 2) return;
    width = picture.clientWidth;
    show();
  }).observe(picture);
  show();
}

/** The project with nothing supposed. @param {Project} project @returns {Project} */
function makeNeutral(project) {
  return {
    ...project, without_edges: [],
    settings: { ...project.settings, selection_rate: null, sensitivity: null, confounding: {}, confidence: 0.95, inference: "exact" },
  };
}

/** @param {Project} project */
function isNeutral(project) {
  return basisOf(makeNeutral(project)) === basisOf(project);
}

/** List the sliders that this graph has a use for. @param {Studio} studio @returns {Supposition[]} */
function listSuppositions({ project, claims }) {
  const selected = project.graph.nodes.some((node) => node.selection);
  const arms = new Set(project.query.treatments);
  const hidden = claims.edges.filter((edge) => edge.kind === "<->" && (arms.has(edge.tail) || arms.has(edge.head)));
  return [
    ...(selected ? SUPPOSITIONS : []),
    ...hidden.map((edge) => makeLimit(edge)),
    CONFIDENCE,
  ];
}

/** @param {Edge & {text: string}} edge @returns {Supposition} */
function makeLimit(edge) {
  return {
    key: `limit ${edge.text}`, title: `Limit on ${say(edge)}`, words: "the unseen cause moves the odds of the arm by at most this factor",
    where: `settings.confounding.${edge.text}`, low: 1, high: 10, step: 0.1, first: 2, optional: true,
    read: ({ settings }) => settings.confounding[edge.text] ?? null,
    put: (draft, value) => {
      if (value === null) delete draft.settings.confounding[edge.text];
      else draft.settings.confounding[edge.text] = value;
    },
  };
}

/** @param {Studio} studio @param {Answers} answers @param {Supposition} supposition */
function makeSlider(studio, answers, supposition) {
  const { key, title, words, low, high, step, first, optional, where } = supposition;
  const value = supposition.read(studio.project);
  const on = value !== null;
  /** @param {number | null} next */
  const put = (next) =>
    studio.store.change(next === null ? `suppose no ${title}` : `${title} ${next}`, (draft) => supposition.put(draft, next), `slider ${key}`);
  /** @param {Event} event */
  const slide = (event) => {
    const typed = /** @type {HTMLInputElement} */ (event.target).valueAsNumber;
    if (Number.isFinite(typed)) put(typed);
  };
  const id = `suppose ${key}`;
  const faults = answers.fault?.where?.startsWith(where) ? [drawFault(answers.fault)] : [];
  return element("div", { class: on ? "supposition" : "supposition off", "data-where": where },
    element("div", { class: "supposition-head" },
      optional
        ? element("label", {}, element("input", { type: "checkbox", "data-key": `${key} on`, ...(on ? { checked: true } : {}), onchange: () => put(on ? null : first) }), ` ${title}`)
        : element("label", { for: id }, title),
      element("input", {
        type: "number", step: "any", min: low, "data-key": `${key} number`, "aria-label": `${title} as a number`,
        value: on ? write(value) : "", ...(on ? {} : { disabled: true }), onchange: slide,
      })),
    element("input", {
      type: "range", id, min: low, max: high, step, "data-key": `${key} range`, "aria-label": title,
      value: value ?? first, ...(on ? {} : { disabled: true }), oninput: slide,
    }),
    element("p", { class: "quiet" }, words), ...faults);
}

/** @param {Studio} studio */
function makeInference(studio) {
  const select = element("select", { id: "inference", "data-key": "inference" },
    element("option", { value: "exact" }, "at every size of log (exact)"),
    element("option", { value: "approximate" }, "nearly, on large logs (approximate)"));
  select.value = studio.project.settings.inference;
  select.addEventListener("change", () =>
    studio.store.change(`${select.value} inference`, (draft) => {
      draft.settings.inference = select.value;
    }));
  return element("div", { class: "field" }, element("label", { for: "inference" }, "The confidence holds"), select);
}

/** @param {Studio} studio */
function makeEdgeToggles(studio) {
  const { project, store, editor } = studio;
  const gone = project.without_edges.length;
  return element("details", { class: "rest", "data-key": "edges", ...(gone ? { open: true } : {}) },
    element("summary", {}, gone ? `What if an edge were absent? ${gone} left out` : "What if an edge were absent?"),
    element("p", { class: "quiet" }, "An edge says that something may be; leaving it out claims more, so the intervals can only narrow. It stays in the drawing."),
    element("div", { class: "toggles" }, ...project.graph.edges.map((edge) => {
      const without = project.without_edges.some((each) => sameEdge(each, edge));
      return element("label", { class: "check-line" },
        element("input", {
          type: "checkbox", "data-key": keyOf(edge), ...(without ? {} : { checked: true }),
          onfocus: () => editor.select({ edge }),
          onchange: () =>
            store.change(without ? `suppose ${say(edge)} again` : `suppose no ${say(edge)}`, (draft) => {
              draft.without_edges = without
                ? draft.without_edges.filter((each) => !sameEdge(each, edge))
                : [...draft.without_edges, edge];
            }),
        }), ` ${say(edge)}`);
    })));
}

/**
 * A ranked list that is asked for with a button: what would narrow the answer, what overturn it.
 *
 * @param {Studio} studio
 * @param {Answers} answers
 * @param {string} kind
 * @param {string} title
 * @param {string} doing
 */
function makeRanked(studio, answers, kind, title, doing) {
  const line = new JobLine(doing);
  const list = element("div", { class: "ranked", "aria-live": "polite" });
  const button = element("button", { type: "button", "data-key": kind }, title);
  /** The state of the project that the list is of. */
  let basis = "";
  button.addEventListener("click", async () => {
    const { project } = studio;
    try {
      const running = line.run(kind, project);
      const result = /** @type {RankedResult | null} */ (await running);
      if (!result) {
        if (line.cancelled) redraw(list, element("p", { class: "quiet" }, "Cancelled. Ask again when you like."));
        return;
      }
      basis = basisOf(project);
      redraw(list, ...drawRanked(studio, result));
    } catch (error) {
      redraw(list, drawFault(faultOf(error)));
    }
    show();
  });
  const show = () => {
    button.disabled = !answers.ready;
    list.classList.toggle("stale-part", basis !== "" && basis !== basisOf(studio.project));
  };
  studio.store.addEventListener("change", show);
  answers.addEventListener("bounds", show);
  show();
  return element("section", { class: "ranked-part" }, element("div", { class: "ask-line" }, button, line.root), list, makeRepeat(studio, kind));
}

/** @param {Studio} studio @param {RankedResult} result */
function drawRanked(studio, result) {
  const widest = Math.max(...result.items.flatMap((each) => [each.width_before, each.width_after ?? 0]), 1e-9);
  const aside = [...(result.apart ?? []), ...(result.useless ?? []), ...result.caveats];
  return [
    element("p", { class: "lead" }, result.sentence),
    element("ol", { class: "ranked-list" }, ...result.items.slice(0, FIRST).map((item) => drawItem(studio, item, widest))),
    result.items.length > FIRST &&
      element("details", { "data-key": "more" }, element("summary", {}, `${result.items.length - FIRST} more`),
        element("ol", { class: "ranked-list", start: FIRST + 1 }, ...result.items.slice(FIRST).map((item) => drawItem(studio, item, widest)))),
    aside.length > 0 &&
      element("details", { "data-key": "aside" }, element("summary", {}, "Also"),
        element("ul", {}, ...aside.map((each) => element("li", {}, each)))),
  ];
}

/** @param {Studio} studio @param {RankedItem} item @param {number} widest */
function drawItem(studio, item, widest) {
  const { edge, survives, width_before: before, width_after: after } = item;
  return element("li", {},
    edge
      ? element("button", {
        type: "button", class: "link", "data-key": item.sentence,
        onclick: () => studio.editor.select({ nodes: [edge.tail, edge.head] }),
      }, item.sentence)
      : element("span", {}, item.sentence),
    survives === undefined ? null : element("span", { class: survives ? "tag good" : "tag bad" }, survives ? "holds" : "falls"),
    item.cost ? element("p", { class: "quiet" }, item.cost) : null,
    after === null
      ? null
      : element("span", { class: "widths" },
        element("meter", { max: widest, value: after, "aria-hidden": "true" }),
        element("span", { class: "quiet" }, `mean width ${write(before)} → ${write(after)}`)));
}
