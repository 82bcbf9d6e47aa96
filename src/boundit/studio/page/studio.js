// @ts-check
/**
 * What the parts of the page share: the store, the editor, what the server says of the graph, and
 * how a part shows faults and tells how to repeat itself.
 */

/** @import { Claims, Fault, Problem, Project } from "./types.js" */
/** @import { GraphEditor } from "./editor.js" */
/** @import { ProjectStore } from "./project.js" */
import { announce, element, get, redraw, wait } from "./dom.js";
import { keyOf } from "./graph.js";
import { Latest } from "./latest.js";
import { ask, Refusal, server } from "./transport.js";
import { t } from "./words.js";

/** @type {Claims} */
const NOTHING = { edges: [], missing: [], arcs: [], selection: null, problems: [], query: null };

/**
 * Everything that parts of the page need of each other. It tells of new `claims`, and of another
 * `subject`, before any other part hears of the change that brought it.
 */
export class Studio extends EventTarget {
  claims = NOTHING;
  /** What the log holds, once it was looked at. @type {import("./types.js").DataLook | null} */
  look = null;
  #claiming = new Latest(() => this.store.document);

  /** @param {ProjectStore} store @param {GraphEditor} editor */
  constructor(store, editor) {
    super();
    this.store = store;
    this.editor = editor;
    let subject = this.subject;
    const soon = wait(120, () => this.#claim());
    store.addEventListener("change", (event) => {
      const { before, opened } = /** @type {CustomEvent} */ (event).detail;
      if (opened) this.#take(NOTHING);
      if (opened || meaning(before) !== meaning(store.project)) soon();
      if (subject === this.subject) return;
      subject = this.subject;
      this.dispatchEvent(new CustomEvent("subject"));
    });
    server.addEventListener("back", () => this.#claim());
    this.#claim();
  }

  /** What an answer is about, as text: other settings of the same answer can be compared with it. */
  get subject() {
    const { query, data } = this.project;
    return JSON.stringify([this.store.document, query.outcome, query.treatments, data.file]);
  }

  /** @returns {Project} */
  get project() {
    return this.store.project;
  }

  /** Tell whether treatment and outcome are named: then there is a question. */
  get hasQuestion() {
    const { outcome, treatments } = this.project.query;
    return outcome !== null && treatments.length > 0;
  }

  /** Light up a part of the drawing, and nothing else; null for nothing. @param {import("./types.js").Lit | null} lit */
  light(lit) {
    for (const each of document.querySelectorAll(".lights")) each.setAttribute("aria-pressed", "false");
    this.editor.light(lit);
    showPreview(lit ? this.editor : null, lit?.caption ?? "");
  }

  #claim() {
    const { graph, query } = this.project;
    void this.#claiming.run(() => ask("/api/graph/claims", { graph, query }), (claims) => this.#take(claims),
      (error) => this.#take({ ...this.claims, problems: [faultOf(error)], query: null }));
  }

  /** @param {Claims} claims */
  #take(claims) {
    this.claims = claims;
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
 * Draw the foot of a part: the command and the Python that repeat what it shows, asked for when
 * it is opened.
 *
 * @param {Studio} studio
 * @param {string} part
 */
export function makeRepeat(studio, part) {
  const inside = element("div", { class: "repeat-inside" });
  const details = element("details", { class: "repeat" },
    element("summary", {}, t("studio.repeat_this_in_a_shell_or")), inside);
  const show = makeTaken(inside, studio, part);
  const showOpen = () => {
    if (details.open) show();
  };
  details.addEventListener("toggle", showOpen);
  studio.store.addEventListener("change", wait(400, showOpen));
  return details;
}

/**
 * Make a function that shows the command and the Python of a part, as the project is then.
 *
 * @param {HTMLElement} place
 * @param {Studio} studio
 * @param {string} part
 */
export function makeTaken(place, studio, part) {
  const latest = new Latest(() => studio.project);
  return () => {
    const { project } = studio;
    void latest.run(() => ask("/api/take", { project, part }), (taken) => redraw(place, ...drawTaken(taken)),
      (error) => redraw(place, drawFault(faultOf(error))));
  };
}

/** @param {{command: string | null, python: string, note?: string | null}} taken */
function drawTaken({ command, python, note }) {
  return [
    command === null ? element("p", { class: "quiet" }, note ?? "") : drawCode(t("studio.shell_in_the_studio_s_folder"), command),
    drawCode(t("studio.python"), python),
  ];
}

/** @param {string} title @param {string} text */
function drawCode(title, text) {
  return element("div", { class: "code" },
    element("div", { class: "code-head" }, element("span", {}, title), makeCopy(text, title)),
    element("pre", { tabindex: "0" }, element("code", {}, text)));
}

/**
 * Make a button that lights up what its words speak of, and unlights it; plain words where that
 * is nothing.
 *
 * @param {Studio} studio
 * @param {import("./types.js").Highlighted} part
 * @param {string} key
 */
export function makeLight(studio, { words, lit }, key) {
  if (lit.nodes.length + lit.edges.length === 0) return element("span", {}, words);
  const caption = lit.caption || t("studio.lit_in_the_drawing");
  const button = element("button", { type: "button", class: "link lights", "aria-pressed": "false", "data-key": key, title: caption }, words);
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    studio.light(on ? lit : null);
    button.setAttribute("aria-pressed", String(on));
    announce(on ? t("studio.lit_edges", lit.edges.length, lit.caption ?? "") : t("studio.nothing_lit"));
  });
  return button;
}

/** Make a button that copies a text. @param {string} text @param {string} what */
export function makeCopy(text, what) {
  const button = element("button", { type: "button", class: "small", "aria-label": t("studio.copy", what) }, t("studio.copy_2"));
  const told = () => {
    button.textContent = "Copied";
    announce(t("studio.copied", what));
  };
  const refused = () => {
    button.textContent = t("studio.press_ctrl_c");
    const code = button.closest(".code")?.querySelector("code, textarea");
    if (code) getSelection()?.selectAllChildren(code);
  };
  const latest = new Latest(() => text);
  const again = wait(2000, () => (button.textContent = "Copy"));
  button.addEventListener("click", () => {
    void latest.run(() => navigator.clipboard.writeText(text), told, refused).then(again);
  });
  return button;
}
