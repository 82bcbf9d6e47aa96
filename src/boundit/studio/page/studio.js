// @ts-check
/**
 * What the parts of the page share: the store, the editor, what the server says of the graph, and
 * how a part shows faults, runs a job and tells how to repeat itself.
 */

/** @import { Claims, Fault, Problem, Project } from "./types.js" */
/** @import { GraphEditor } from "./editor.js" */
/** @import { ProjectStore } from "./project.js" */
import { announce, element, get, redraw, wait } from "./dom.js";
import { keyOf } from "./graph.js";
import { ask, Cancelled, Refusal, run } from "./transport.js";

/** Everything that parts of the page need of each other. `claims` is told when it changed. */
export class Studio extends EventTarget {
  /** @type {Claims} */
  claims = { edges: [], missing: [], selection: null, problems: [], query: null };
  #asked = 0;

  /** @param {ProjectStore} store @param {GraphEditor} editor */
  constructor(store, editor) {
    super();
    this.store = store;
    this.editor = editor;
    const soon = wait(120, () => void this.#claim());
    store.addEventListener("change", (event) => {
      const { before } = /** @type {CustomEvent} */ (event).detail;
      if (meaning(before) !== meaning(store.project)) soon();
    });
    void this.#claim();
  }

  /** @returns {Project} */
  get project() {
    return this.store.project;
  }

  /** Tell whether arm and reward are named: then there is a question. */
  get hasQuestion() {
    const { outcome, treatments } = this.project.query;
    return outcome !== null && treatments.length > 0;
  }

  /** Light up a part of the drawing, and nothing else; null for nothing. @param {import("./types.js").Lit | null} lit */
  light(lit) {
    for (const each of document.querySelectorAll(".lights")) each.setAttribute("aria-pressed", "false");
    for (const each of document.querySelectorAll(".reason .caption")) each.textContent = "";
    this.editor.light(lit);
    showPreview(lit ? this.editor : null, lit?.caption ?? "");
  }

  async #claim() {
    this.#asked += 1;
    const asked = this.#asked;
    const { graph, query } = this.project;
    try {
      const claims = await ask("/api/graph/claims", { graph, query });
      if (asked !== this.#asked) return;
      this.claims = claims;
    } catch (error) {
      if (asked !== this.#asked) return;
      const fault = faultOf(error);
      this.claims = { ...this.claims, problems: [fault], query: null };
    }
    this.editor.markFaults(
      this.claims.problems.flatMap(({ lit }) => [...(lit?.nodes ?? []), ...(lit?.edges ?? []).map(keyOf)]),
    );
    this.dispatchEvent(new CustomEvent("claims"));
  }
}

/**
 * Show a small copy of the drawing while it is lit and out of sight, as on a phone.
 *
 * @param {GraphEditor | null} editor
 * @param {string} caption
 */
function showPreview(editor, caption) {
  const preview = get("preview");
  const box = editor?.getBoundingClientRect();
  preview.hidden = !editor || !box || (box.bottom > 120 && box.top < innerHeight - 120);
  preview.replaceChildren();
  const drawn = editor?.querySelector("svg")?.cloneNode(true);
  if (preview.hidden || !(drawn instanceof SVGElement)) return;
  drawn.removeAttribute("role");
  for (const each of drawn.querySelectorAll("[tabindex], [role]")) {
    each.removeAttribute("tabindex");
    each.removeAttribute("role");
  }
  preview.append(drawn, element("p", {}, caption));
}

/** The part of a project that claims are about: positions and settings are not. @param {Project} project */
function meaning({ graph, query }) {
  const nodes = graph.nodes.map(({ name, hidden, selection }) => [name, hidden, selection]);
  return JSON.stringify([nodes, graph.edges, graph.groups, query]);
}

/** @param {unknown} error @returns {Fault} */
export function faultOf(error) {
  if (error instanceof Refusal) return error.fault;
  const message = error instanceof Error ? error.message : String(error);
  return { code: "page", message, where: null, hint: null };
}

/** Draw a fault as a paragraph, its hint after it. @param {Problem} fault */
export function drawFault(fault) {
  return element("p", { class: "fault", role: "alert", "data-where": fault.where ?? "" },
    fault.message, fault.hint ? element("span", { class: "hint" }, ` ${fault.hint}`) : null);
}

/**
 * A job with its line of progress and its button to cancel. The line takes its room whether or
 * not something runs, so that nothing below it moves.
 */
export class JobLine {
  /** @type {import("./transport.js").Job | null} */
  #job = null;
  #bar = element("progress", { max: 1, "aria-label": "Progress" });
  #words = element("span", { class: "job-words" });
  #button = element("button", { type: "button", class: "small", "data-key": "cancel" }, "Cancel");
  #inside = element("div", { class: "job-inside", hidden: true }, this.#bar, this.#words, this.#button);
  /** What may be asked of it from outside: cancelled means that the person did not want it. */
  cancelled = false;
  root = element("div", { class: "job-line" }, this.#inside);

  /** @param {string} doing what is being done, in words */
  constructor(doing) {
    this.doing = doing;
    this.#button.addEventListener("click", () => {
      this.cancelled = true;
      this.#job?.cancel();
    });
  }

  get busy() {
    return this.#job !== null;
  }

  /** Forget what runs: something newer is asked. */
  drop() {
    this.#job?.cancel();
    this.#job = null;
  }

  /**
   * Run a job; a newer one of the same line replaces it.
   *
   * @param {string} kind
   * @param {Project} project
   * @param {(part: any) => void} [onPart] hears the result as far as it is known
   * @returns {Promise<any>} null if it was cancelled or replaced
   */
  async run(kind, project, onPart = () => {}) {
    this.drop();
    this.cancelled = false;
    const job = run(kind, project, (progress) => {
      if (this.#job !== job) return;
      this.#words.textContent = progress.words || this.doing;
      if (progress.total) this.#bar.value = progress.done / progress.total;
    }, (part) => {
      if (this.#job === job) onPart(part);
    });
    this.#job = job;
    this.#bar.removeAttribute("value");
    this.#words.textContent = this.doing;
    this.#inside.hidden = false;
    try {
      return await job.result;
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
      if (this.#job === job && this.cancelled) announce("Cancelled");
      return null;
    } finally {
      if (this.#job === job) {
        this.#job = null;
        this.#inside.hidden = true;
      }
    }
  }
}

/**
 * Draw the foot of a part: the command and the Python that repeat what it shows, asked for when
 * it is opened.
 *
 * @param {Studio} studio
 * @param {string} part
 */
export function makeRepeat(studio, part) {
  const inside = element("div", { class: "repeat-inside" });
  const details = element("details", { class: "repeat" },
    element("summary", {}, "Repeat this in a shell or in Python"), inside);
  const show = async () => {
    if (!details.open) return;
    try {
      redraw(inside, ...drawTaken(await ask("/api/take", { project: studio.project, part })));
    } catch (error) {
      redraw(inside, drawFault(faultOf(error)));
    }
  };
  details.addEventListener("toggle", () => void show());
  studio.store.addEventListener("change", wait(400, () => void show()));
  return details;
}

/** @param {{command: string | null, python: string, note?: string | null}} taken */
export function drawTaken({ command, python, note }) {
  return [
    command === null ? element("p", { class: "quiet" }, note ?? "") : drawCode("Shell, in the studio's folder", command),
    drawCode("Python", python),
  ];
}

/** @param {string} title @param {string} text */
function drawCode(title, text) {
  return element("div", { class: "code" },
    element("div", { class: "code-head" }, element("span", {}, title), makeCopy(text, title)),
    element("pre", { tabindex: "0" }, element("code", {}, text)));
}

/** Make a button that copies a text. @param {string} text @param {string} what */
export function makeCopy(text, what) {
  const button = element("button", { type: "button", class: "small", "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      announce(`${what} copied`);
    } catch {
      button.textContent = "Press Ctrl C";
      const code = button.closest(".code")?.querySelector("code, textarea");
      if (code) getSelection()?.selectAllChildren(code);
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return button;
}
