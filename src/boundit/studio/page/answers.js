// @ts-check
/** The answer: the effects, the choice, the intervals, the reason of each with its paths lit, and the check. */

/** @import { BoundResult, BoundRow, CheckResult } from "./types.js" */
/** @import { Studio } from "./studio.js" */
import { announce, count, element, get, redraw, wait, whenNew, write } from "./dom.js";
import { putLimit } from "./graph.js";
import { drawEffects, drawIntervals, drawTable, rowKey, sayArm, sayContext } from "./intervals.js";
import { JobLine } from "./job.js";
import { drawFault, faultOf, makeLight, makeRepeat } from "./studio.js";
import { t } from "./words.js";

/** @type {[string, string][]} */
const SORTS = [["subgroup", "subgroup"], ["lower", t("answers.lower_bound")], ["upper", t("answers.upper_bound")], ["width", "width"]];
/** Of how many contexts it is told one by one what to use. */
const MOST_TOLD = 50;
/** How many effects are told in sentences. */
const MOST_EFFECTS = 4;

/** What the answer depends on: not where nodes stand, nor what the simulation plays. @param {import("./types.js").Project} project */
export function basisOf({ graph, query, data, settings, without_edges }) {
  const nodes = graph.nodes.map(({ name, hidden, selection }) => [name, hidden, selection]);
  return JSON.stringify([nodes, graph.edges, graph.groups, query, data, settings, without_edges]);
}

/**
 * The bounds of the present project, asked for again when it changes; `bounds` tells of news.
 * The panels Ask and What if show the same answer.
 */
export class Answers extends EventTarget {
  /** @type {BoundResult | null} */
  result = null;
  /** @type {import("./types.js").Fault | null} */
  fault = null;
  /** @type {CheckResult | null} */
  check = null;
  /** Whether it is asked again by itself when something changes. */
  live = false;
  /** What would narrow the answer. @type {import("./types.js").HelpResult | null} */
  help = null;
  #basis = "";
  #asking = "";
  #checked = "";
  #studio;

  /** @param {Studio} studio */
  constructor(studio) {
    super();
    this.#studio = studio;
    this.line = new JobLine(studio, t("answers.working_out_the_intervals"));
    this.aside = new JobLine(studio, t("answers.asking_the_log_whether_it_contradicts"));
    this.helpLine = new JobLine(studio, t("answers.trying_what_would_narrow_the_bounds"));
    const soon = wait(150, () => {
      if (this.live && this.ready) this.ask();
    });
    studio.addEventListener("subject", () => this.#forget());
    studio.store.addEventListener("change", (event) => {
      if (/** @type {CustomEvent} */ (event).detail.opened) this.live = false;
      if (!this.stale) return;
      this.#tell();
      soon();
    });
  }

  /** Whether there is enough to ask. */
  get ready() {
    return this.#studio.hasQuestion && Boolean(this.#studio.project.data.file);
  }

  /** Whether what is shown belongs to an older state of the project. */
  get stale() {
    return this.#basis !== basisOf(this.#studio.project);
  }

  /** Whether what the log was asked aside belongs to the answer that is shown. */
  get checked() {
    return this.check !== null && this.#checked === this.#basis;
  }

  get busy() {
    return this.line.busy;
  }

  /** How far the question has come, in a word or two. */
  get standing() {
    if (this.busy) return t("answers.working");
    if (!this.#studio.hasQuestion) return t("answers.no_question_yet");
    if (this.stale) return t("answers.ready_to_ask");
    return this.fault ? "refused" : "answered";
  }

  ask() {
    const { project } = this.#studio;
    const basis = basisOf(project);
    if (basis === this.#asking || (basis === this.#basis && this.result && !this.fault)) return;
    this.live = true;
    this.#asking = basis;
    /** @param {BoundResult | null} result @param {import("./types.js").Fault | null} fault */
    const settle = (result, fault) => {
      this.#asking = "";
      this.#basis = basis;
      this.result = result;
      this.fault = fault;
      this.#tell();
    };
    this.line.run("bound", project, {
      result: (/** @type {BoundResult} */ result) => {
        settle(result, null);
        announce(result.effects?.summary[0] ?? result.summary);
        this.help = null;
        this.helpLine.drop();
        this.#askAside(project, basis);
        if (isOpen(result)) this.askHelp();
      },
      fault: (error) => settle(this.result, faultOf(error)),
      cancelled: () => {
        this.#asking = "";
        this.live = false;
        this.#tell();
      },
    });
    this.#tell();
  }

  /** Ask what would narrow the answer. */
  askHelp() {
    this.helpLine.run("help", this.#studio.project, {
      result: (/** @type {import("./types.js").HelpResult} */ help) => {
        this.help = help;
        this.#tell();
      },
      fault: (error) => {
        this.help = { width: 0, steps: [] };
        announce(faultOf(error).message);
        this.#tell();
      },
    });
  }

  /** Ask whether the log contradicts the graph, once the answer is there. @param {import("./types.js").Project} project @param {string} basis */
  #askAside(project, basis) {
    /** @param {CheckResult} check */
    const settle = (check) => {
      this.#checked = basis;
      this.check = check;
      this.#tell();
    };
    this.aside.run("check", project, {
      fault: (error) => settle({ verdict: faultOf(error).message, contradicted: false, findings: [], caveats: [] }),
      result: settle,
    });
  }

  /** Forget an answer to another question: dimmed, it would still be taken for this one's. */
  #forget() {
    this.#asking = "";
    this.#basis = "";
    this.#checked = "";
    this.result = null;
    this.fault = null;
    this.check = null;
    this.help = null;
    this.#tell();
  }

  #tell() {
    this.dispatchEvent(new CustomEvent("bounds"));
  }
}

/** @param {HTMLElement} root @param {Studio} studio @param {Answers} answers */
export function showAnswers(root, studio, answers) {
  /** @type {string | null} */
  let chosen = null;
  let asTable = false;
  let sort = /** @type {import("./intervals.js").Sort} */ ("subgroup");
  const button = element("button", { type: "button", class: "primary", "data-key": "ask" }, t("answers.ask"));
  const why = element("span", { class: "quiet ask-why" });
  const answer = element("div", { class: "answer", "aria-live": "polite" });
  const help = element("section", { class: "next-steps", "aria-label": t("answers.what_would_make_this_surer") });
  const picture = element("div", { class: "picture" });
  const remarks = element("div", { class: "remarks" });
  const reason = element("section", { class: "reason", "aria-label": t("answers.the_reason") });
  const checks = element("div", { class: "checks-list" });
  const line = answers.line;
  root.append(
    element("div", { class: "ask-line" }, button, line.root, why), answer, help, answers.helpLine.root, picture, reason, remarks, checks, answers.aside.root,
    makeRepeat(studio, "bound"));
  button.addEventListener("click", () => answers.ask());

  const show = () => {
    const { result, fault } = answers;
    button.disabled = !answers.ready || answers.busy;
    const contradicted = !answers.stale && answers.checked && answers.check?.contradicted;
    redraw(why, !answers.ready ? missing(studio) : contradicted && element("button", { type: "button", class: "link heed-check", "data-key": "contradicted", onclick: showContradiction }, t("answers.the_log_contradicts_the_graph_see")));
    why.hidden = why.childNodes.length === 0;
    root.classList.toggle("stale", (answers.stale || fault !== null) && result !== null);
    redraw(answer, ...(fault && !answers.stale ? drawRefusal(answers, fault) : []), ...(result ? drawSentence(result) : []));
    redraw(remarks, ...(result ? drawRemarks(result) : []));
    redraw(help, ...(result && !answers.stale ? drawHelp(studio, answers, result) : []));
    showPicture();
    showReason();
    showChecks();
  };

  const showPicture = () => {
    const { result } = answers;
    if (!result) {
      redraw(picture);
      return;
    }
    const width = Math.max(280, picture.clientWidth || 560);
    redraw(picture, ...(result.effects ? drawEffectPart(result, width, sort, makeSort()) : []),
      element("div", { class: "picture-head" },
        element("h3", {}, t("answers.mean_under_each_arm", result.outcome)),
        element("button", {
          type: "button", class: "small", "data-key": "table", "aria-pressed": String(asTable),
          onclick: () => {
            asTable = !asTable;
            showPicture();
          },
        }, asTable ? t("answers.show_the_picture") : t("answers.show_the_table"))),
      asTable ? drawTable(result) : drawIntervals(result, { width, sort, chosen, onChoose: choose }),
      element("p", { class: "key quiet" },
        element("span", { class: "key-thin" }), t("answers.with_sampling_error"),
        element("span", { class: "key-thick" }), t("answers.what_remains_with_infinite_data")));
  };

  const makeSort = () => {
    const select = element("select", { id: "sort", "data-key": "sort" }, ...SORTS.map(([value, words]) => element("option", { value }, words)));
    select.value = sort;
    select.addEventListener("change", () => {
      sort = /** @type {import("./intervals.js").Sort} */ (select.value);
      showPicture();
    });
    return element("label", { for: "sort", class: "quiet" }, t("answers.sorted_by"), select);
  };

  /** @param {BoundRow} row */
  const choose = (row) => {
    const key = rowKey(row);
    chosen = chosen === key ? null : key;
    showPicture();
    showReason();
    if (!chosen) return;
    reason.scrollIntoView({ block: "nearest" });
    announce(t("answers.reason_of", sayArm(answers.result?.treatments ?? [], row.arm)));
  };

  const showReason = () => {
    const row = answers.result?.rows.find((each) => rowKey(each) === chosen) ?? null;
    drawRow([row?.reasons, chosen, answers.result === null], row);
  };
  const drawRow = whenNew((/** @type {BoundRow | null} */ row) => {
    studio.light(null);
    if (!row) {
      redraw(reason, answers.result ? element("p", { class: "quiet" }, t("answers.choose_an_interval_to_read_why")) : null);
      return;
    }
    const { result } = answers;
    const where = sayContext(result?.context ?? [], row.context);
    redraw(reason,
      element("h3", {}, t("answers.why_lies_there", sayArm(result?.treatments ?? [], row.arm), where ? ` (${where})` : "")),
      element("p", {}, row.title || t("answers.rows_were_logged_for_it", count(row.n))),
      ...row.reasons.map((each, i) => drawReason(studio, each, result?.rules[each.rule] ?? null, i)),
      ...["width", "note", t("answers.ruled_out")].flatMap((part) => (row.explanation?.[part] ?? []).map((/** @type {string} */ words) =>
        element("p", { class: "quiet" }, part === "note" ? words : `${part[0].toUpperCase()}${part.slice(1)} ${words}`))));
  });

  const showContradiction = () => {
    const details = checks.querySelector("[data-key='check']");
    details?.setAttribute("open", "");
    details?.scrollIntoView({ block: "center" });
    const first = details?.querySelector(".bad + button");
    if (first instanceof HTMLElement) first.click();
  };

  const showChecks = () => {
    const { check, result } = answers;
    get("tool-tests").hidden = !check?.findings.length;
    checks.classList.toggle("stale-part", !answers.checked);
    studio.editor.showChecks(result && check ? check.findings : []);
    if (!result || !check) {
      redraw(checks);
      return;
    }
    redraw(checks,
      element("details", { "data-key": "check" },
        element("summary", {}, check.contradicted && element("span", { class: "tag bad" }, t("answers.contradicted")), check.contradicted && " ", check.verdict),
        element("ul", { class: "statements" }, ...contradictedFirst(check.findings).map((each) =>
          element("li", {},
            element("span", { class: each.status === "contradicted" ? "tag bad" : "tag good" }, each.status), " ",
            element("button", {
              type: "button", class: "link", "data-key": each.statement, title: each.explanation,
              onclick: () => studio.editor.select({ nodes: [each.edge.tail, each.edge.head] }),
            }, each.statement))))));
  };

  studio.addEventListener("subject", () => {
    chosen = null;
  });
  answers.addEventListener("bounds", show);
  studio.store.addEventListener("change", show);
  studio.addEventListener("claims", show);
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(picture.clientWidth - width) < 2) return;
    width = picture.clientWidth;
    showPicture();
  }).observe(picture);
  show();
}

/** @param {import("./types.js").Statement[]} findings */
function contradictedFirst(findings) {
  return [...findings].sort((a, b) => Number(b.status === "contradicted") - Number(a.status === "contradicted"));
}

/** Say what is missing before one can ask. @param {Studio} studio */
function missing(studio) {
  if (!studio.hasQuestion) return t("answers.choose_an_outcome_and_a_treatment");
  return t("answers.choose_a_log_under_data");
}

/** Whether no effect has a sign: then one asks what would help. @param {BoundResult} result */
function isOpen({ effects, silence }) {
  return silence.length > 0 || (effects !== null && effects.rows.every(({ direction }) => direction === "inconclusive"));
}

/** Lead to another part, and to a place in it. @param {Answers} answers @param {string} part @param {string} [focus] */
function go(answers, part, focus = "") {
  answers.dispatchEvent(new CustomEvent("go", { detail: { part, focus } }));
}

/** @param {Studio} studio @param {Answers} answers @param {BoundResult} result */
function drawHelp(studio, answers, result) {
  const { help } = answers;
  const title = element("h3", {}, t("answers.what_would_make_this_surer_2"));
  if (!help) {
    return [!answers.helpLine.busy && element("button", { type: "button", "data-key": "help", onclick: () => answers.askHelp() }, t("answers.what_would_make_this_surer_2")),
      answers.helpLine.busy && title].filter((each) => each instanceof Node);
  }
  if (help.steps.length === 0) return [title, element("p", { class: "quiet" }, t("answers.nothing_that_was_tried_narrows_the"))];
  const span = result.outcome_range[1] - result.outcome_range[0];
  return [title, element("p", { class: "quiet" }, t("answers.the_mean_width_of_the_bounds", write(help.width))),
    element("ul", { class: "steps" }, ...help.steps.slice(0, 6).map((step) => {
      const { words, act } = describeStep(studio, answers, step);
      const inside = [element("strong", {}, write(step.width)), element("meter", { max: span, value: step.width, "aria-hidden": "true" }), element("span", {}, words, step.range ? element("span", { class: "quiet" }, t("answers.depending_on_what_is_found", step.range)) : null)];
      return element("li", {}, act ? element("button", { type: "button", "data-key": `step ${step.kind} ${step.words}`, onclick: act }, ...inside) : element("div", { class: "step" }, ...inside));
    }))];
}

/** @param {Studio} studio @param {Answers} answers @param {import("./types.js").NextStep} step @returns {{words: string, act: (() => void) | null}} */
function describeStep(studio, answers, step) {
  /** @param {string} words @param {(draft: import("./types.js").Project) => void} edit @param {string} focus */
  const state = (words, edit, focus) => ({ words, act: () => {
    studio.store.change(words, edit);
    go(answers, "whatif", focus);
  } });
  switch (step.kind) {
    case "value":
      return { words: t("answers.declare_a_value_of_that_the", step.variable), act: () => go(answers, "data", `further ${step.variable}`) };
    case "selection_limit":
      return state(t("answers.state_a_selection_limit_here_2"), (draft) => {
        draft.settings.selection_limit = 2;
      }, "G range");
    case "rate":
      return state(t("answers.state_the_selection_rate_here_0"), (draft) => {
        draft.settings.selection_rate = 0.5;
      }, "rate range");
    case "confounding_limit": {
      const edge = /** @type {import("./types.js").Edge} */ (step.edge);
      return state(t("answers.state_a_confounding_limit_on_here", edge.tail, edge.head), (draft) => putLimit(draft, edge, 2), `limit ${edge.tail} <-> ${edge.head} range`);
    }
    case "table":
      return { words: t("answers.add_a_table", step.words), act: () => go(answers, "data", "external file") };
    default:
      return { words: step.words[0].toUpperCase() + step.words.slice(1), act: null };
  }
}

/** Say why there is no answer, and lead to where that can be mended. @param {Answers} answers @param {import("./types.js").Fault} fault */
function drawRefusal(answers, fault) {
  const elsewhere = /^(data\.|settings\.outcome_range)/.test(fault.where ?? "");
  return [
    drawFault(fault),
    elsewhere && element("button", {
      type: "button", class: "small", "data-key": "mend", onclick: () => go(answers, "data"),
    }, t("answers.mend_it_under_data")),
  ].filter((each) => each instanceof Node);
}

/** @param {BoundResult} result */
function drawSentence({ effects, summary, silence }) {
  if (silence.length > 0) {
    const [head, ...rest] = silence;
    return [
      element("p", { class: "verdict" }, t("answers.the_data_do_not_narrow_the", head[0].toUpperCase(), head.slice(1))),
      ...rest.map((words) => element("p", {}, words)),
    ].filter((each) => each instanceof Node);
  }
  const [first, ...others] = summary.split("\n");
  const said = effects?.summary ?? [];
  const left = said.length - MOST_EFFECTS;
  return [
    ...said.slice(0, MOST_EFFECTS).map((words, i) => element("p", { class: i ? "verdict long" : "verdict" }, words)),
    left > 0 && element("p", { class: "quiet" }, t("answers.and_more_arms_below", count(left))),
    element("p", { class: said.length ? "choice" : "verdict long" }, first),
    ...others.map((words) => element("p", { class: "quiet" }, words)),
  ].filter((each) => each instanceof Node);
}

/** Draw the effects. @param {BoundResult} result @param {number} width @param {import("./intervals.js").Sort} sort @param {Node} sorter */
function drawEffectPart(result, width, sort, sorter) {
  if (!result.effects) return [];
  return [
    element("div", { class: "picture-head" },
      element("h3", {}, t("answers.effect_of_on_mean_compared_with", result.treatments.join(" and "), result.outcome, result.effects.baseline_name)), sorter),
    drawEffects(result, result.effects.rows, width, sort),
    element("p", { class: "quiet" }, result.effects.confidence),
  ];
}

/** Say what to choose and what to heed. @param {BoundResult} result */
function drawRemarks({ choice, caveats }) {
  return [
    choice.length > 0 && element("details", { "data-key": "uses" },
      element("summary", {}, t("answers.which_arm_to_choose")),
      element("ul", { class: "heed" }, ...choice.slice(0, MOST_TOLD).map((words) => element("li", {}, words))),
      choice.length > MOST_TOLD && element("p", { class: "quiet" }, t("answers.and_contexts_more_the_report_has", count(choice.length - MOST_TOLD)))),
    caveats.length > 0 && element("details", { "data-key": "caveats" },
      element("summary", {}, caveats.length === 1 ? t("answers.one_caveat") : t("answers.caveats", caveats.length)),
      element("ul", { class: "heed" }, ...caveats.map((each) => element("li", {}, each)))),
  ];
}

/** @param {Studio} studio @param {import("./types.js").Reason} reason @param {import("./types.js").Rule | null} rule @param {number} at */
function drawReason(studio, { title, data }, rule, at) {
  const steps = rule?.steps ?? [];
  return element("div", { class: "reason-part" },
    element("p", {}, rule ? makeLight(studio, { words: title, lit: rule.lit }, `reason ${at}`)
      : t("answers.under_this_graph_the_log_leaves", title)),
    rule?.claim ? element("p", {}, rule.claim) : null,
    data.length > 0 && element("ul", { class: "numbers" }, ...data.map((each) => element("li", {}, each))),
    steps.length > 0 && element("p", { class: "why-head" }, t("answers.derivation")),
    steps.length > 0 && element("ul", {}, ...steps.map((step, i) => element("li", {}, makeLight(studio, step, `reason ${at} ${i}`)))));
}
