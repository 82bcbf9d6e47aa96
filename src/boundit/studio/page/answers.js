// @ts-check
/** The answer: one sentence, the intervals, the reason of each with its paths lit, and the check. */

/** @import { BoundResult, BoundRow, CheckResult, Reason, RecoverResult } from "./types.js" */
/** @import { Studio } from "./studio.js" */
import { announce, count, element, redraw, wait, whenNew } from "./dom.js";
import { drawIntervals, drawTable, rowKey, sayArm, sayContext } from "./intervals.js";
import { JobLine } from "./job.js";
import { drawFault, faultOf, makeRepeat } from "./studio.js";

/** Of how many contexts it is told one by one what to use. */
const MOST_TOLD = 50;

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
  /** @type {RecoverResult | null} */
  recovery = null;
  /** Whether it is asked again by itself when something changes. */
  live = false;
  #basis = "";
  #asking = "";
  #checked = "";
  #studio;

  /** @param {Studio} studio */
  constructor(studio) {
    super();
    this.#studio = studio;
    this.line = new JobLine(studio, "Working out the intervals");
    this.aside = new JobLine(studio, "Asking the log whether it contradicts the graph");
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
    if (this.busy) return "working …";
    if (!this.#studio.hasQuestion) return "no question yet";
    if (this.stale) return "ready to ask";
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
        announce(result.answer.sentence);
        this.#askAside(project, basis);
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

  /** Ask what else the log and the graph say, once the answer is there. @param {import("./types.js").Project} project @param {string} basis */
  #askAside(project, basis) {
    /** @param {RecoverResult | null} recovery @param {CheckResult} check */
    const settle = (recovery, check) => {
      this.#checked = basis;
      this.recovery = recovery;
      this.check = check;
      this.#tell();
    };
    const fault = (/** @type {unknown} */ error) =>
      settle(null, { sentence: faultOf(error).message, contradicted: false, statements: [], caveats: [] });
    this.aside.run("identify", project, {
      fault,
      result: (/** @type {RecoverResult} */ recovery) =>
        this.aside.run("check", project, { fault, result: (/** @type {CheckResult} */ check) => settle(recovery, check) }),
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
    this.recovery = null;
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
  const button = element("button", { type: "button", class: "primary", "data-key": "ask" }, "Ask");
  const why = element("span", { class: "quiet ask-why" });
  const answer = element("div", { class: "answer", "aria-live": "polite" });
  const picture = element("div", { class: "picture" });
  const remarks = element("div", { class: "remarks" });
  const reason = element("section", { class: "reason", "aria-label": "The reason" });
  const checks = element("div", { class: "checks-list" });
  const line = answers.line;
  root.append(
    element("div", { class: "ask-line" }, button, line.root, why), answer, picture, reason, remarks, checks, answers.aside.root,
    makeRepeat(studio, "bound"));
  button.addEventListener("click", () => answers.ask());

  const show = () => {
    const { result, fault } = answers;
    button.disabled = !answers.ready || answers.busy;
    const contradicted = !answers.stale && answers.checked && answers.check?.contradicted;
    redraw(why, !answers.ready ? missing(studio) : contradicted && element("button", { type: "button", class: "link heed-check", "data-key": "contradicted", onclick: showContradiction }, "The log contradicts the graph: see where"));
    why.hidden = why.childNodes.length === 0;
    root.classList.toggle("stale", (answers.stale || fault !== null) && result !== null);
    redraw(answer, ...(fault && !answers.stale ? drawRefusal(answers, fault) : []), ...(result ? drawSentence(result) : []));
    redraw(remarks, ...(result ? drawRemarks(result) : []));
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
    redraw(picture,
      element("div", { class: "picture-head" },
        element("h3", {}, "What each arm would earn"),
        element("button", {
          type: "button", class: "small", "data-key": "table", "aria-pressed": String(asTable),
          onclick: () => {
            asTable = !asTable;
            showPicture();
          },
        }, asTable ? "Show the picture" : "Show the table")),
      asTable ? drawTable(result) : drawIntervals(result, { width, chosen, onChoose: choose }),
      asTable ? null : element("p", { class: "key quiet" },
        element("span", { class: "key-thin" }), " holds with the confidence asked for, all at once ",
        element("span", { class: "key-thick" }), " what the estimates alone would give"));
  };

  /** @param {BoundRow} row */
  const choose = (row) => {
    const key = rowKey(row);
    chosen = chosen === key ? null : key;
    showPicture();
    showReason();
    if (!chosen) return;
    reason.scrollIntoView({ block: "nearest" });
    announce(`Reason of ${sayArm(answers.result?.treatments ?? [], row.arm)}`);
  };

  const showReason = () => {
    const row = answers.result?.rows.find((each) => rowKey(each) === chosen) ?? null;
    drawRow([row?.reasons, chosen, answers.result === null], row);
  };
  const drawRow = whenNew((/** @type {BoundRow | null} */ row) => {
    studio.light(null);
    if (!row) {
      redraw(reason, answers.result ? element("p", { class: "quiet" }, "Choose an interval to read why it is where it is.") : null);
      return;
    }
    const where = sayContext(answers.result?.context ?? [], row.context);
    redraw(reason,
      element("h3", {}, `Why ${sayArm(answers.result?.treatments ?? [], row.arm)}${where ? ` (${where})` : ""} lies there`),
      element("p", {}, row.words || `${count(row.n)} rows were logged for it.`),
      ...row.reasons.map((each, i) => drawReason(studio, each, i)),
      row.widths ? element("p", { class: "quiet" }, row.widths) : null);
  });

  const showContradiction = () => {
    const details = checks.querySelector("[data-key='check']");
    details?.setAttribute("open", "");
    details?.scrollIntoView({ block: "center" });
    const first = details?.querySelector(".bad + button");
    if (first instanceof HTMLElement) first.click();
  };

  const showChecks = () => {
    const { check, recovery, result } = answers;
    checks.classList.toggle("stale-part", !answers.checked);
    studio.editor.showChecks(result && check ? check.statements : []);
    if (!result || (!check && !recovery)) {
      redraw(checks);
      return;
    }
    redraw(checks,
      recovery && element("details", { "data-key": "identify" },
        element("summary", {}, recovery.sentence),
        recovery.formula ? element("p", {}, element("code", {}, recovery.formula)) : null,
        recovery.steps.length ? element("ol", {}, ...recovery.steps.map((each) => element("li", {}, each.words))) : null),
      check && element("details", { "data-key": "check" },
        element("summary", {}, check.contradicted && element("span", { class: "tag bad" }, "contradicted"), check.contradicted && " ", check.sentence),
        element("ul", { class: "statements" }, ...check.statements.map((each) =>
          element("li", {},
            element("span", { class: each.verdict === "contradicted" ? "tag bad" : "tag good" }, each.verdict), " ",
            element("button", {
              type: "button", class: "link", "data-key": each.words, title: each.explanation,
              onclick: () => studio.editor.select({ nodes: [each.edge.tail, each.edge.head] }),
            }, each.words))))));
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

/** Say what is missing before one can ask. @param {Studio} studio */
function missing(studio) {
  if (!studio.hasQuestion) return "Choose an arm and a reward above.";
  return "Choose a log under Data.";
}

/** Say why there is no answer, and lead to where that can be mended. @param {Answers} answers @param {import("./types.js").Fault} fault */
function drawRefusal(answers, fault) {
  const elsewhere = /^(data\.|settings\.outcome_range)/.test(fault.where ?? "");
  return [
    drawFault(fault),
    elsewhere && element("button", {
      type: "button", class: "small", "data-key": "mend", onclick: () => answers.dispatchEvent(new CustomEvent("mend")),
    }, "Mend it under Data"),
  ].filter((each) => each instanceof Node);
}

/** @param {BoundResult} result */
function drawSentence(result) {
  const { sentence, use } = result.answer;
  return [
    element("p", { class: sentence.length > 90 ? "verdict long" : "verdict" }, sentence),
    use.length > 0 && element("ul", { class: "uses" }, ...use.map((each) =>
      element("li", { class: each.known ? "known" : "" },
        element("p", {}, element("strong", {}, each.use), each.where.length ? element("span", { class: "quiet" }, ` ${each.where.join("; ")}`) : null),
        ...[each.cost, each.out].filter(Boolean).map((words) => element("p", {}, words))))),
  ].filter((each) => each instanceof Node);
}

/** Say how sure it is, and what to heed. @param {BoundResult} result */
function drawRemarks({ answer, caveats }) {
  const { remarks, sure } = answer;
  const said = remarks.some((each) => each.includes("onfidence")) ? remarks : [...remarks, sure];
  return [
    ...said.filter(Boolean).map((words) => element("p", { class: "quiet" }, words)),
    answer.choice.length > 0 && element("details", { "data-key": "uses" },
      element("summary", {}, "Highest mean"),
      element("ul", { class: "heed" }, ...answer.choice.slice(0, MOST_TOLD).map((each) => element("li", {}, each.words))),
      answer.choice.length > MOST_TOLD && element("p", { class: "quiet" }, `and ${count(answer.choice.length - MOST_TOLD)} contexts more; the report has them all`)),
    caveats.length > 0 && element("details", { "data-key": "caveats" },
      element("summary", {}, caveats.length === 1 ? "One caveat" : `${caveats.length} caveats`),
      element("ul", { class: "heed" }, ...caveats.map((each) => element("li", {}, each)))),
  ];
}

/** @param {Studio} studio @param {Reason} reason @param {number} at */
function drawReason(studio, reason, at) {
  const caption = element("p", { class: "quiet caption" });
  /** @param {Reason | import("./types.js").ReasonStep} part @param {string} key */
  const makePart = (part, key) => {
    if (part.lit.nodes.length + part.lit.edges.length === 0) return element("span", {}, part.words);
    const button = element("button", { type: "button", class: "link lights", "aria-pressed": "false", "data-key": key }, part.words);
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      studio.light(on ? part.lit : null);
      button.setAttribute("aria-pressed", String(on));
      caption.textContent = on ? part.lit.caption || "Its paths are lit in the drawing." : "";
      announce(on ? `Lit: ${part.lit.edges.length} edges. ${part.lit.caption ?? ""}` : "Nothing lit");
    });
    return button;
  };
  return element("div", { class: "reason-part" },
    element("p", {}, makePart(reason, `reason ${at}`)),
    reason.numbers.length > 0 && element("ul", { class: "numbers" }, ...reason.numbers.map((each) => element("li", {}, each))),
    reason.steps.length > 0 && element("p", { class: "why-head" }, "Why it holds"),
    reason.steps.length > 0 &&
      element("ul", {}, ...reason.steps.map((step, i) => element("li", {}, makePart(step, `reason ${at} ${i}`)))),
    caption);
}
