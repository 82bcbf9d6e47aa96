// @ts-check
/** The project on the page: one document, one undo history, and a draft that survives a reload. */

/** @import { Project } from "./types.js" */
import { ask, server } from "./transport.js";
import { wait } from "./dom.js";
import { t } from "./words.js";

const MOST_STEPS = 200;
const ONE_GESTURE = 1200;
const ELSEWHERE = t("project.another_window_changed_its_copy_which");

/** @typedef {{label: string, project: Project, document: number}} Step */

/**
 * The document and its history. Whoever changes it says in words what was done, and everybody
 * who shows a part of it listens to `change`, which also tells whether another document is there
 * now (`opened`): one was opened, or that was undone.
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
  #document = 0;
  #documents = 0;

  /** @param {Project} project */
  constructor(project) {
    super();
    this.#project = project;
  }

  get project() {
    return this.#project;
  }

  /** The number of the document: changes leave it, opening another one does not. */
  get document() {
    return this.#document;
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
    if (!goesOn) this.#past.push(this.#note(label));
    if (this.#past.length > MOST_STEPS) this.#past.shift();
    this.#merge = merge;
    this.#moment = now;
    this.#future = [];
    this.#show(draft, this.#document, label);
  }

  /** Open another document; the one before can be had back. @param {string} label @param {Project} project */
  open(label, project) {
    this.#past.push(this.#note(label));
    this.#future = [];
    this.#merge = "";
    this.#documents += 1;
    this.#show(project, this.#documents, label);
  }

  undo() {
    this.#step(this.#past, this.#future, "Undone");
  }

  redo() {
    this.#step(this.#future, this.#past, t("project.done_again"));
  }

  /** @param {Step[]} from @param {Step[]} to @param {string} word */
  #step(from, to, word) {
    const step = from.pop();
    if (!step) return;
    to.push(this.#note(step.label));
    this.#merge = "";
    this.#show(step.project, step.document, `${word}: ${step.label}`);
  }

  /** The state as it is now, as a step that leads back to it. @param {string} label @returns {Step} */
  #note(label) {
    return { label, project: this.#project, document: this.#document };
  }

  /** @param {Project} project @param {number} document @param {string} label */
  #show(project, document, label) {
    const before = this.#project;
    const opened = document !== this.#document;
    this.#project = project;
    this.#document = document;
    this.dispatchEvent(new CustomEvent("change", { detail: { before, label, opened } }));
  }

  /** The history as text, for a reload. */
  writeHistory() {
    const past = this.#past.slice(-50);
    const future = this.#future.slice(-50);
    return JSON.stringify({ past, future, now: this.#project, document: this.#document });
  }

  /** Take a history up again if it belongs to this document. @param {string | null} text */
  readHistory(text) {
    if (!text) return;
    const kept = JSON.parse(text);
    if (JSON.stringify(kept.now) !== JSON.stringify(this.#project)) return;
    this.#past = kept.past;
    this.#future = kept.future;
    this.#document = kept.document;
    this.#documents = Math.max(kept.document, ...[...kept.past, ...kept.future].map((/** @type {Step} */ each) => each.document));
  }
}

/**
 * Keeps the draft: at once in this browser, soon after on the server's disk, one state after the
 * other. A change that the server has not confirmed is taken from the browser after a reload.
 * Windows on the same folder share one draft, and tell each other when they wrote it.
 */
export class DraftKeeper {
  #store;
  #place;
  #tell;
  #history = "boundit studio: history";
  /** @type {Promise<void>} */
  #last = Promise.resolve();
  #changed = false;
  #windows;
  /** Whether what is kept is another window's, which is not here. */
  elsewhere = false;

  /**
   * @param {ProjectStore} store
   * @param {string} folder
   * @param {(words: string, failed: boolean) => void} tell
   */
  constructor(store, folder, tell) {
    this.#store = store;
    this.#place = placeOf(folder);
    this.#tell = tell;
    this.#windows = new BroadcastChannel(this.#place);
    this.#windows.addEventListener("message", () => {
      this.elsewhere = true;
      tell(ELSEWHERE, true);
    });
    const soon = wait(300, () => void this.save());
    store.addEventListener("change", (event) => {
      this.#changed = true;
      keep(localStorage, this.#place, JSON.stringify(store.project));
      // A crash tells nobody: the drawing that was replaced must be there before it.
      if (/** @type {CustomEvent} */ (event).detail.opened) keep(sessionStorage, this.#history, store.writeHistory());
      soon();
    });
    // Only a change of one's own: another window may have saved a newer state.
    server.addEventListener("back", () => (this.#changed ? this.save() : tell(this.elsewhere ? ELSEWHERE : t("main.saved"), this.elsewhere)));
    addEventListener("pagehide", () => {
      keep(sessionStorage, this.#history, store.writeHistory());
      if (!localStorage.getItem(this.#place)) return;
      this.#windows.postMessage("saved"); // nobody is here any more when it is
      void this.#send({ keepalive: true });
    });
    try {
      store.readHistory(sessionStorage.getItem(this.#history));
    } catch {
      sessionStorage.removeItem(this.#history); // of an older page
    }
  }

  /** Save what is there once what was sent before has come: an older state never comes last. */
  save() {
    this.#changed = true;
    this.#last = this.#last.then(() => this.#send({}));
  }

  /** @param {{keepalive?: boolean}} options */
  async #send(options) {
    const { project } = this.#store;
    try {
      await ask("/api/draft", { project }, options);
    } catch (error) {
      this.#tell(error instanceof Error ? error.message : String(error), true);
      return;
    }
    this.#windows.postMessage("saved");
    if (project !== this.#store.project) return;
    this.#changed = false;
    this.elsewhere = false;
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
