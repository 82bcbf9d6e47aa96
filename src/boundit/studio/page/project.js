// @ts-check
/** The project on the page: one document, one undo history, and a draft that survives a reload. */

/** @import { Project } from "./types.js" */
import { ask } from "./transport.js";
import { wait } from "./dom.js";

const MOST_STEPS = 200;
const ONE_GESTURE = 1200;

/** @typedef {{label: string, project: Project}} Step */

/**
 * The document and its history. Whoever changes it says in words what was done, and everybody
 * who shows a part of it listens to `change`.
 */
export class ProjectStore extends EventTarget {
  /** @type {Step[]} */
  #past = [];
  /** @type {Step[]} */
  #future = [];
  #merge = "";
  #moment = 0;
  /** @type {Project} */
  #project;

  /** @param {Project} project */
  constructor(project) {
    super();
    this.#project = project;
  }

  get project() {
    return this.#project;
  }

  /** What would be undone next, in words, or null. */
  get undoable() {
    return this.#past.at(-1)?.label ?? null;
  }

  get redoable() {
    return this.#future.at(-1)?.label ?? null;
  }

  /**
   * Change the document. Changes with the same `merge` that follow each other closely are one
   * step of the history, such as a slider on its way.
   *
   * @param {string} label
   * @param {(draft: Project) => void} edit
   * @param {string} [merge]
   */
  change(label, edit, merge = "") {
    const draft = structuredClone(this.#project);
    edit(draft);
    if (JSON.stringify(draft) === JSON.stringify(this.#project)) return;
    const now = performance.now();
    const goesOn = merge !== "" && merge === this.#merge && now - this.#moment < ONE_GESTURE;
    if (!goesOn) this.#past.push({ label, project: this.#project });
    if (this.#past.length > MOST_STEPS) this.#past.shift();
    this.#merge = merge;
    this.#moment = now;
    this.#future = [];
    this.#show(draft, label);
  }

  /** Open another document; the one before can be had back. @param {string} label @param {Project} project */
  open(label, project) {
    this.#past.push({ label, project: this.#project });
    this.#future = [];
    this.#merge = "";
    this.#show(project, label);
  }

  undo() {
    this.#step(this.#past, this.#future, "Undone");
  }

  redo() {
    this.#step(this.#future, this.#past, "Done again");
  }

  /** @param {Step[]} from @param {Step[]} to @param {string} word */
  #step(from, to, word) {
    const step = from.pop();
    if (!step) return;
    to.push({ label: step.label, project: this.#project });
    this.#merge = "";
    this.#show(step.project, `${word}: ${step.label}`);
  }

  /** @param {Project} project @param {string} label */
  #show(project, label) {
    const before = this.#project;
    this.#project = project;
    this.dispatchEvent(new CustomEvent("change", { detail: { before, label } }));
  }

  /** The history as text, for a reload. */
  writeHistory() {
    return JSON.stringify({ past: this.#past.slice(-50), future: this.#future.slice(-50), now: this.#project });
  }

  /** Take a history up again if it belongs to this document. @param {string | null} text */
  readHistory(text) {
    if (!text) return;
    const kept = JSON.parse(text);
    if (JSON.stringify(kept.now) !== JSON.stringify(this.#project)) return;
    this.#past = kept.past;
    this.#future = kept.future;
  }
}

/**
 * Keeps the draft: at once in this browser, soon after on the server's disk. A change that the
 * server has not confirmed is taken from the browser after a reload.
 */
export class DraftKeeper {
  #store;
  #place;
  #tell;
  #history = "boundit studio: history";

  /**
   * @param {ProjectStore} store
   * @param {string} folder
   * @param {(words: string, failed: boolean) => void} tell
   */
  constructor(store, folder, tell) {
    this.#store = store;
    this.#place = placeOf(folder);
    this.#tell = tell;
    const soon = wait(300, () => void this.save());
    store.addEventListener("change", () => {
      keep(localStorage, this.#place, JSON.stringify(store.project));
      soon();
    });
    addEventListener("pagehide", () => {
      keep(sessionStorage, this.#history, store.writeHistory());
      if (localStorage.getItem(this.#place)) void this.save({ keepalive: true });
    });
    try {
      store.readHistory(sessionStorage.getItem(this.#history));
    } catch {
      sessionStorage.removeItem(this.#history); // of an older page
    }
  }

  /** @param {{keepalive?: boolean}} [options] */
  async save(options = {}) {
    const { project } = this.#store;
    try {
      await ask("/api/draft", { project }, options);
    } catch (error) {
      this.#tell(error instanceof Error ? error.message : String(error), true);
      return;
    }
    if (project !== this.#store.project) return;
    localStorage.removeItem(this.#place);
    this.#tell("Saved", false);
  }
}

/** Find a draft that the server did not get before the page was left. @param {string} folder */
export function findUnsaved(folder) {
  try {
    return JSON.parse(localStorage.getItem(placeOf(folder)) ?? "null");
  } catch {
    return null;
  }
}

/** @param {string} folder */
function placeOf(folder) {
  return `boundit studio: unsaved in ${folder}`;
}

/** @param {Storage} storage @param {string} name @param {string} text */
function keep(storage, name, text) {
  try {
    storage.setItem(name, text);
  } catch {
    storage.removeItem(name); // no room: the server's copy has to do
  }
}
