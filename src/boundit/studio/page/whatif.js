// @ts-check
/** What if: suppositions as sliders that redraw the intervals, and what would narrow or overturn. */

/** @import { BoundResult, Project, RankedItem, RankedResult } from "./types.js" */
/** @import { Studio } from "./studio.js" */
/** @import { Answers } from "./answers.js" */
import { element, redraw, whenNew, write } from "./dom.js";
import { basisOf } from "./answers.js";
import { keyOf, sameEdge } from "./graph.js";
import { say } from "./editor.js";
import { drawIntervals } from "./intervals.js";
import { showSliders } from "./sliders.js";
import { JobLine } from "./job.js";
import { drawFault, faultOf, makeRepeat } from "./studio.js";
import { t } from "./words.js";

/** How many entries of a ranked list are shown before one asks for more. */
const FIRST = 6;

/** @param {HTMLElement} root @param {Studio} studio @param {Answers} answers */
export function showWhatIf(root, studio, answers) {
  const { store } = studio;
  const sliders = element("div", { class: "sliders" });
  const picture = element("div", { class: "picture" });
  const words = element("p", { class: "quiet" });
  const edges = element("div", { class: "edge-toggles" });
  root.append(
    element("div", { class: "whatif-top" }, sliders, element("div", {}, words, picture)), edges,
    makeRanked(studio, answers, "suggest", t("whatif.what_would_narrow_this"), t("whatif.trying_what_would_narrow_the_intervals")),
    makeRanked(studio, answers, "stress", t("whatif.what_would_overturn_it"), t("whatif.adding_every_missing_edge_in_turn")),
    makeRepeat(studio, "bound"));

  /** The answer with nothing supposed, to compare with. @type {{basis: string, result: BoundResult} | null} */
  let base = null;

  const drawSliders = showSliders(sliders, studio, answers);
  const drawEdges = whenNew(() => redraw(edges, makeEdgeToggles(studio)));

  const show = () => {
    const { project } = store;
    const { without_edges, graph } = project;
    drawSliders();
    drawEdges([without_edges, graph.edges]);
    const { result } = answers;
    const neutral = makeNeutral(project);
    if (result && !answers.stale && isNeutral(project)) base = { basis: basisOf(project), result };
    const before = base?.basis === basisOf(neutral) ? base.result : null;
    root.classList.toggle("stale", answers.stale && result !== null);
    words.textContent = result
      ? isNeutral(project) ? t("whatif.nothing_is_supposed_yet_move_a") : before ? t("whatif.dashed_outlines_the_answer_with_nothing") : ""
      : t("whatif.ask_first_then_the_intervals_move");
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
    settings: { ...project.settings, selection_rate: null, selection_limit: null, confounding_limit: {}, confidence: 0.95, inference: "exact" },
  };
}

/** @param {Project} project */
function isNeutral(project) {
  return basisOf(makeNeutral(project)) === basisOf(project);
}

/** @param {Studio} studio */
function makeEdgeToggles(studio) {
  const { project, store, editor } = studio;
  const gone = project.without_edges.length;
  return element("details", { class: "rest", "data-key": "edges", ...(gone ? { open: true } : {}) },
    element("summary", {}, gone ? t("whatif.what_if_an_edge_were_absent", gone) : t("whatif.what_if_an_edge_were_absent_2")),
    element("p", { class: "quiet" }, t("whatif.an_edge_says_that_something_may")),
    element("div", { class: "toggles" }, ...project.graph.edges.map((edge) => {
      const without = project.without_edges.some((each) => sameEdge(each, edge));
      return element("label", { class: "check-line" },
        element("input", {
          type: "checkbox", "data-key": keyOf(edge), ...(without ? {} : { checked: true }),
          onfocus: () => editor.select({ edge }),
          onchange: () =>
            store.change(without ? t("inspector.suppose_again", say(edge)) : t("inspector.suppose_no", say(edge)), (draft) => {
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
  const line = new JobLine(studio, doing);
  const list = element("div", { class: "ranked", "aria-live": "polite" });
  const button = element("button", { type: "button", "data-key": kind }, title);
  /** The state of the project that the list is of. */
  let basis = "";
  button.addEventListener("click", () => {
    const { project } = studio;
    let begun = false;
    /** @param {RankedResult} result @param {string} [words] */
    const draw = (result, words = "") => {
      begun = true;
      basis = basisOf(project);
      redraw(list, words && element("p", { class: "quiet" }, words), ...drawRanked(studio, result));
      show();
    };
    list.setAttribute("aria-busy", "true"); // it is read aloud once it is whole
    line.run(kind, project, {
      part: (part) => draw(part, t("whatif.so_far_more_is_being_tried")),
      result: (result) => {
        draw(result);
        list.removeAttribute("aria-busy");
      },
      fault: (error) => settle(drawFault(faultOf(error))),
      cancelled: () => {
        const told = t("whatif.cancelled_ask_again_when_you_like");
        if (!begun) {
          settle(element("p", { class: "quiet" }, told));
          return;
        }
        list.firstElementChild?.replaceWith(element("p", { class: "quiet" }, t("whatif.this_was_found_until_then", told)));
        list.removeAttribute("aria-busy");
      },
    });
  });
  /** Show something else than a list. @param {Node} [instead] */
  const settle = (instead) => {
    basis = "";
    redraw(list, instead);
    list.removeAttribute("aria-busy");
    show();
  };
  const show = () => {
    button.disabled = !answers.ready;
    list.classList.toggle("stale-part", basis !== "" && basis !== basisOf(studio.project));
  };
  studio.addEventListener("subject", () => settle());
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
    element("p", { class: "lead" }, result.summary),
    element("ol", { class: "ranked-list" }, ...result.items.slice(0, FIRST).map((item) => drawItem(studio, item, widest))),
    result.items.length > FIRST &&
      element("details", { "data-key": "more" }, element("summary", {}, t("structure.more", result.items.length - FIRST)),
        element("ol", { class: "ranked-list", start: FIRST + 1 }, ...result.items.slice(FIRST).map((item) => drawItem(studio, item, widest)))),
    aside.length > 0 &&
      element("details", { "data-key": "aside" }, element("summary", {}, t("whatif.also")),
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
    survives === undefined ? null : element("span", { class: survives ? "tag good" : "tag bad" }, survives ? t("whatif.holds") : t("whatif.falls")),
    item.cost ? element("p", { class: "quiet" }, item.cost) : null,
    after === null
      ? null
      : element("span", { class: "widths" },
        element("meter", { max: widest, value: after, "aria-hidden": "true" }),
        element("span", { class: "quiet" }, t("whatif.mean_width", write(before), write(after)))));
}
