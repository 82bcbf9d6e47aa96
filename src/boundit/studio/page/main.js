// @ts-check
/** The page: starts its parts, keeps the draft, and answers to the keys that work everywhere. */

/** @import { Example, Project, Start } from "./types.js" */
import { announce, element, get, redraw, whenNew } from "./dom.js";
import { GraphEditor } from "./editor.js";
import { Answers, showAnswers } from "./answers.js";
import { showData } from "./data.js";
import { showInspector } from "./inspector.js";
import { Latest } from "./latest.js";
import { hasLink, readLink } from "./link.js";
import { layOut, placeNodes } from "./placing.js";
import { showPolicy } from "./policy.js";
import { DraftKeeper, findUnsaved, ProjectStore } from "./project.js";
import { showQuestion } from "./question.js";
import { faultOf, makeRepeat, Studio } from "./studio.js";
import { showStructure } from "./structure.js";
import { showTake } from "./take.js";
import { showText } from "./text.js";
import { startTour } from "./tour.js";
import { complain, showNotices } from "./notice.js";
import { ask, Refusal, unpack, watchServer } from "./transport.js";
import { showWhatIf } from "./whatif.js";
import { t } from "./words.js";

const PANELS = ["graph", "data", "ask", "whatif", "policy", "take"];
const POLICIES = [
  "Fused", ...["LinUCB", "UCB", "TS", "LinTS", "OAM"].flatMap((name) => [`${name}-PCB`, name]),
];

/** @type {Project} */
const EMPTY = {
  format: "boundit project", version: 2, name: "",
  graph: { nodes: [], edges: [], groups: [], text: null },
  query: { outcome: null, treatments: [], context: [], baseline: null, adjust_for: [], never_adjust_for: [] },
  data: { file: null, columns: {}, bins: {}, weight: null, levels: {} },
  settings: {
    confidence: 0.95, inference: "exact", goal: "max", selection_rate: null, selection_limit: null, confounding_limit: {},
    outcome_range: null, missing: "drop", external: [],
  },
  without_edges: [],
  simulate: { rounds: 5000, runs: 20, policies: ["Fused", "LinUCB-PCB", "LinUCB"] },
};

/** Give a project that came from elsewhere all its fields, and all its nodes a place. @param {any} project @returns {Promise<Project>} */
async function complete(project) {
  const whole = {
    ...EMPTY, ...project,
    graph: { ...EMPTY.graph, ...project.graph }, query: { ...EMPTY.query, ...project.query },
    data: { ...EMPTY.data, ...project.data }, settings: { ...EMPTY.settings, ...project.settings },
    simulate: { ...EMPTY.simulate, ...project.simulate },
  };
  return { ...whole, graph: await placeNodes(whole.graph, null, aspectOf()) };
}

/** How the canvas is shaped: width over height. */
function aspectOf() {
  return /** @type {GraphEditor} */ (get("editor")).aspect;
}

async function start() {
  showNotices();
  const status = get("status");
  /** @param {string} words @param {boolean} failed */
  const tell = (words, failed) => {
    status.textContent = words;
    status.classList.toggle("fault", failed && get("lost").hidden); // or it would be said twice
  };
  /** @type {Start} */
  let begun;
  try {
    begun = await ask("/api/start");
  } catch (error) {
    tell(faultOf(error).message, true);
    return;
  }
  const unsaved = findUnsaved(begun.folder);
  const draft = (unsaved && (await complete(unsaved).catch(() => null))) ?? (begun.draft && (await complete(begun.draft)));
  const store = new ProjectStore(draft ?? EMPTY);
  const keeper = new DraftKeeper(store, begun.folder, tell);
  if (unsaved) keeper.save();
  else if (draft) tell(t("main.saved"), false);
  const editor = /** @type {GraphEditor} */ (get("editor"));
  editor.start(store);
  const studio = new Studio(store, editor);
  const answers = new Answers(studio);

  watchServer((fault) => {
    const lost = get("lost");
    const words = fault ? t("main.changes_are_kept_in_this_browser", fault.message.replace(/\.?$/, ".")) : "";
    if (lost.textContent !== words) lost.textContent = words;
    lost.hidden = fault === null;
    if (fault) tell(fault.message, false);
  });

  const opening = new Opening(store, keeper, (project, label) => {
    store.open(label, project);
    get("panels").scrollTop = 0;
    editor.select({});
    editor.fit();
    announce(t("main.done", label));
  });
  /** @param {() => Promise<string>} text @param {string} label @param {(error: unknown) => void} refuse @param {() => void} [keep] */
  const openText = (text, label, refuse, keep) =>
    opening.open(async () => (await ask("/api/project/read", { text: await text() })).project, label, refuse, keep);

  showToolbar(studio);
  showInspector(get("inspector"), studio);
  showText(get("text-part"), studio);
  get("graph-part").append(makeRepeat(studio, "graph"));
  showData(get("data-body"), studio, answers, begun.limits.upload);
  showQuestion(get("question"), studio, answers);
  showAnswers(get("answers"), studio, answers);
  showStructure(get("structure"), studio);
  showWhatIf(get("whatif-body"), studio, answers);
  showPolicy(get("policy-body"), studio, answers, POLICIES);
  const files = new ProjectFiles(studio, opening, openText);
  showTake(get("take-body"), studio, answers, files);
  const goTo = showNavigation(studio, answers);
  answers.addEventListener("go", (event) => {
    const { part, focus } = /** @type {CustomEvent} */ (event).detail;
    goTo(part);
    if (!focus) return;
    const place = document.querySelector(`[data-key="${CSS.escape(focus)}"]`);
    place?.closest("details")?.setAttribute("open", "");
    if (place instanceof HTMLElement) place.focus();
    place?.scrollIntoView({ block: "center" });
  });
  showHeader(studio);
  showStart(begun.examples, store, opening, files, () => goTo(whereToBegin(store.project)), () => startTour(goTo));
  get("preview").addEventListener("click", () => studio.light(null));
  get("tour-button").addEventListener("click", () => startTour(goTo));
  listenToKeys(studio, files);

  /** Open the project in the address. It stays there until it is shown: a reload before that begins again. */
  const follow = () => {
    const { hash } = location;
    const clear = () => history.replaceState(null, "", location.pathname);
    return openText(() => readLink(hash), t("main.open_a_link"), (error) => {
      if (!(error instanceof Refusal) || error.fault.code !== "unreachable") clear();
      tell(error instanceof Refusal ? faultOf(error).message : t("main.this_link_holds_no_project_that"), true);
    }, clear).then((opened) => {
      if (!opened) return;
      clear();
      closeStart();
    });
  };
  addEventListener("hashchange", () => {
    if (hasLink(location.hash)) void follow();
  });
  const linked = hasLink(location.hash);
  if (!draft && !linked) openStart();
  document.body.dataset.ready = "yes";
  if (linked) await follow();
}

/** Where one goes on with a project: to its answer, to what its graph says, or to the drawing. @param {Project} project */
function whereToBegin({ data, graph }) {
  if (data.file) return "ask";
  return graph.nodes.length > 0 ? "graph" : "draw";
}

/**
 * Opening another project: the newest that was asked for wins, and nothing can be changed on the
 * page until it is there, or what was typed meanwhile would be of neither. Work is replaced only
 * by somebody who says so; an example as it was opened is no work.
 */
class Opening {
  #latest = new Latest(() => document);
  #store;
  #keeper;
  #show;
  /** @type {Project | null} */
  #untouched = null;

  /** @param {ProjectStore} store @param {DraftKeeper} keeper @param {(project: Project, label: string) => void} show */
  constructor(store, keeper, show) {
    this.#store = store;
    this.#keeper = keeper;
    this.#show = show;
  }

  /** @param {() => Promise<any>} fetch @param {string} label @param {(error: unknown) => void} refuse @param {() => void} keep */
  async openExample(fetch, label, refuse, keep) {
    const opened = await this.open(fetch, label, refuse, keep);
    if (opened) this.#untouched = this.#store.project;
    return opened;
  }

  /**
   * @param {() => Promise<any>} fetch gets a project that may lack fields
   * @param {string} label
   * @param {(error: unknown) => void} refuse
   * @param {() => void} keep is called when the person would rather keep what is here
   * @returns {Promise<boolean>} whether it is shown
   */
  async open(fetch, label, refuse, keep = () => {}) {
    const focused = document.activeElement;
    this.#hold(true);
    let found = /** @type {Project | null} */ (null);
    await this.#latest.run(async () => complete(await fetch()), (project) => {
      this.#hold(false);
      found = project;
    }, (error) => {
      this.#hold(false);
      refuse(error);
    });
    if (document.activeElement === document.body && focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    if (!found) return false;
    const work = this.#describeWork(found);
    if (work && !(await mayReplace(work, label))) {
      keep();
      return false;
    }
    this.#show(found, label);
    return true;
  }

  /** Say what a project would take the place of; nothing, where nobody would miss it. @param {Project} next */
  #describeWork(next) {
    const { project } = this.#store;
    if (this.#keeper.elsewhere) return t("main.what_another_window_drew_and_saved");
    if (!hasWork(project) || project === this.#untouched || JSON.stringify(project) === JSON.stringify(next)) return "";
    const nodes = project.graph.nodes.length === 1 ? t("main.1_node") : t("main.nodes", project.graph.nodes.length);
    return t("main.undo_brings_it_back_while_this", project.name ? `“${project.name}”` : t("main.your_drawing"), nodes);
  }

  /** Do not open what is on its way. */
  drop() {
    this.#latest.drop();
    this.#hold(false);
  }

  /** @param {boolean} held */
  #hold(held) {
    document.body.setAttribute("aria-busy", String(held));
    for (const each of document.querySelectorAll("header, .work")) each.toggleAttribute("inert", held);
  }
}

/** Projects as files of the studio's folder. */
export class ProjectFiles {
  /** The file that the project was saved as or opened from. @type {string | null} */
  file = null;
  #studio;
  #opening;
  #openText;
  #saving;

  /** @param {Studio} studio @param {Opening} opening @param {(text: () => Promise<string>, label: string, refuse: (error: unknown) => void) => Promise<boolean>} openText */
  constructor(studio, opening, openText) {
    this.#studio = studio;
    this.#opening = opening;
    this.#openText = openText;
    this.#saving = new Latest(() => studio.project);
  }

  /** Save the project as a file, the one that it came from if there is one. */
  save() {
    const { project } = this.#studio;
    return this.#saving.run(() => ask("/api/projects/save", { project, file: this.file }), ({ file }) => {
      this.file = file;
      get("status").textContent = t("main.saved_as", file);
      announce(t("main.saved_as", file));
    }, (error) => complain(faultOf(error).message));
  }

  /** Open a file of the folder. @param {string} file @param {(error: unknown) => void} refuse */
  async open(file, refuse) {
    const opened = await this.#opening.open(async () => (await ask("/api/projects/open", { file })).project, t("main.open", file), refuse);
    if (opened) this.file = file;
    return opened;
  }

  /** Read a project file, a report, or an export that holds data too. @param {File} chosen @param {(error: unknown) => void} refuse */
  async read(chosen, refuse) {
    const opened = chosen.name.endsWith(".boundit")
      ? await this.#opening.open(async () => (await unpack(chosen)).project, t("main.open", chosen.name), refuse)
      : await this.#openText(() => chosen.text(), t("main.open", chosen.name), refuse);
    if (opened) this.file = null;
    return opened;
  }
}

/** Tell whether somebody would miss a project. @param {Project} project */
function hasWork({ graph, data }) {
  return graph.nodes.length > 0 || data.file !== null || Boolean(graph.text);
}

/** Ask whether another project may take the place of what is here. @param {string} work @param {string} label @returns {Promise<boolean>} */
function mayReplace(work, label) {
  const dialog = /** @type {HTMLDialogElement} */ (get("replace"));
  get("replace-words").textContent = t("main.you_are_about_to_it_takes", label, work);
  return new Promise((resolve) => {
    dialog.returnValue = "";
    dialog.onclose = () => resolve(dialog.returnValue === "replace");
    get("replace-keep").onclick = () => dialog.close();
    get("replace-go").onclick = () => dialog.close("replace");
    if (!dialog.open) dialog.showModal(); // else for an older one, which is not waited for any more
  });
}

/** @param {Studio} studio */
function showToolbar({ editor, store }) {
  /** @type {[string, () => void][]} */
  const actions = [
    ["add", () => editor.addNode()],
    ["connect", () => editor.connect("->")],
    ["connect-both", () => editor.connect("<->")],
    ["fit", () => editor.fit()],
    ["closer", () => editor.zoom(1.25)],
    ["farther", () => editor.zoom(0.8)],
    ["layout", () => arrange()],
    ["tests", () => showTests(get("tool-tests").getAttribute("aria-pressed") !== "true")],
  ];
  /** @param {boolean} shown */
  const showTests = (shown) => {
    get("tool-tests").setAttribute("aria-pressed", String(shown));
    editor.showTests(shown);
  };
  const find = /** @type {HTMLInputElement} */ (get("find-node"));
  const listNames = whenNew((/** @type {string[]} */ names) =>
    redraw(get("node-names"), ...names.map((name) => element("option", { value: name }))));
  const search = () => {
    const typed = find.value.trim().toLowerCase();
    const names = store.project.graph.nodes.map(({ name }) => name);
    const near = names.find((name) => name.toLowerCase() === typed) ?? names.find((name) => name.toLowerCase().startsWith(typed)) ?? names.find((name) => name.toLowerCase().includes(typed));
    if (!typed) return;
    if (near === undefined) complain(t("main.there_is_no_node", find.value.trim()));
    else editor.find(near);
  };
  find.addEventListener("change", search);
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter") search();
  });
  const showNames = () => {
    const names = store.project.graph.nodes.map(({ name }) => name);
    listNames(names, names);
  };
  store.addEventListener("change", showNames);
  showNames();
  const latest = new Latest(() => store.document);
  const arrange = () =>
    void latest.run(() => layOut(store.project.graph, aspectOf()), (graph) => {
      store.change(t("main.lay_out"), (draft) => {
        for (const node of draft.graph.nodes) Object.assign(node, pick(graph.nodes.find((each) => each.name === node.name)));
      });
      editor.fit();
    }, (error) => complain(faultOf(error).message));
  for (const [id, act] of actions) get(`tool-${id}`).addEventListener("click", act);
  editor.addEventListener("layout", arrange);
  const help = /** @type {HTMLDialogElement} */ (get("keys"));
  get("tool-keys").addEventListener("click", () => help.showModal());
  get("keys-close").addEventListener("click", () => help.close());
}

/** @param {{x: number, y: number} | undefined} node */
function pick(node) {
  return node ? { x: node.x, y: node.y } : {};
}

/** @param {Studio} studio @param {Answers} answers @returns {(panel: string) => void} */
function showNavigation(studio, answers) {
  const narrow = matchMedia("(max-width: 900px)");
  const parts = ["draw", ...PANELS];
  /** @param {string} part */
  const show = (part) => {
    document.body.dataset.mode = part === "draw" ? "draw" : "read";
    get("panels").dataset.part = part;
    for (const each of parts) {
      if (each !== "draw") get(`panel-${each}`).classList.toggle("current", each === part);
      if (each === part) get(`go-${each}`).setAttribute("aria-current", "step");
      else get(`go-${each}`).removeAttribute("aria-current");
    }
    studio.light(null);
  };
  /** @param {string} part */
  const goTo = (part) => {
    show(part);
    if (!narrow.matches) return;
    const place = part === "draw" ? "graph-part" : part === "ask" && !studio.hasQuestion ? "question-part" : `panel-${part}`;
    get(place).scrollIntoView({ block: "start" });
  };
  for (const each of parts) get(`go-${each}`).addEventListener("click", () => goTo(each));
  const tell = () => {
    const { data, graph } = studio.project;
    get("say-draw").textContent = graph.nodes.length === 1 ? t("main.1_node") : t("main.nodes", graph.nodes.length);
    get("say-data").textContent = data.file?.split("/").at(-1) ?? t("main.no_log_yet");
    get("say-ask").textContent = answers.standing;
  };
  studio.store.addEventListener("change", tell);
  answers.addEventListener("bounds", tell);
  tell();
  show(whereToBegin(studio.project));
  return goTo;
}

/** @param {Studio} studio */
function showHeader({ store }) {
  const name = /** @type {HTMLInputElement} */ (get("project-name"));
  const undo = /** @type {HTMLButtonElement} */ (get("undo"));
  const redo = /** @type {HTMLButtonElement} */ (get("redo"));
  name.addEventListener("change", () =>
    store.change(t("main.name_the_project"), (draft) => {
      draft.name = name.value;
    }));
  undo.addEventListener("click", () => store.undo());
  redo.addEventListener("click", () => store.redo());
  const showName = whenNew(() => {
    name.value = store.project.name; // not while another one is being typed
  });
  const show = () => {
    showName([store.document, store.project.name]);
    undo.disabled = store.undoable === null;
    redo.disabled = store.redoable === null;
    undo.title = store.undoable === null ? t("main.nothing_to_undo") : t("main.undo_ctrl_z", store.undoable);
    redo.title = store.redoable === null ? t("main.nothing_to_do_again") : t("main.do_again_ctrl_shift_z", store.redoable);
  };
  store.addEventListener("change", (event) => {
    show();
    get("status").textContent = t("main.saving");
    const { label } = /** @type {CustomEvent} */ (event).detail;
    if (/^(Undone|Done again)/.test(label)) announce(label);
  });
  show();
}

/**
 * @param {Example[]} examples
 * @param {ProjectStore} store
 * @param {Opening} opening
 * @param {ProjectFiles} files
 * @param {() => void} go goes to where one begins with a project
 * @param {() => void} tour
 */
function showStart(examples, store, opening, files, go, tour) {
  const dialog = /** @type {HTMLDialogElement} */ (get("start"));
  const fault = get("start-fault");
  let waiting = false;
  /** @param {Example} example */
  const open = async ({ name, title }) => {
    waiting = true;
    fault.textContent = "";
    const fetch = async () => (await ask("/api/examples/open", { name })).project;
    const opened = await opening.openExample(fetch, t("main.open_2", title), (error) => {
      waiting = false;
      fault.textContent = faultOf(error).message;
    }, () => {
      waiting = false;
    });
    if (!opened) return;
    waiting = false;
    files.file = null; // a copy: saving it does not touch the example
    go();
    dialog.close();
  };
  dialog.addEventListener("close", () => {
    if (waiting) opening.drop(); // closed before it came: the person goes on with what is here
    waiting = false;
  });
  redraw(get("examples"), ...examples.map((example) =>
    element("li", {}, element("button", {
      type: "button", class: "example", "data-example": example.name,
      onclick: () => void open(example),
    }, element("strong", {}, example.title), element("span", {}, example.words)))));
  const opened = (/** @type {boolean} */ done) => {
    if (!done) return;
    go();
    dialog.close();
  };
  const listing = new Latest(() => dialog);
  const showRecent = () =>
    void listing.run(() => ask("/api/projects"), ({ projects }) => redraw(get("recent"), ...drawRecent(projects)), () => redraw(get("recent")));
  /** @param {{file: string, name: string, modified: string}[]} projects */
  const drawRecent = (projects) => projects.length === 0 ? [] : [
    element("h3", {}, t("main.recent")),
    element("ul", { class: "recent" }, ...projects.slice(0, 8).map(({ file, name, modified }) =>
      element("li", {}, element("button", {
        type: "button", class: "link", "data-key": `project ${file}`,
        onclick: () => void files.open(file, (error) => (fault.textContent = faultOf(error).message)).then(opened),
      }, name || file), element("span", { class: "quiet" }, ` ${file}, ${new Date(modified).toLocaleString()}`)))),
  ];
  const chooser = /** @type {HTMLInputElement} */ (get("project-file"));
  chooser.addEventListener("change", () => {
    const [chosen] = chooser.files ?? [];
    fault.textContent = "";
    if (chosen) void files.read(chosen, (error) => (fault.textContent = faultOf(error).message)).then(opened);
    chooser.value = "";
  });
  showRecent();
  get("start-button").addEventListener("click", () => {
    sayClose();
    showRecent();
    openStart();
  });
  get("start-close").addEventListener("click", () => dialog.close());
  const sayClose = () => {
    get("start-close").textContent = hasWork(store.project) ? t("main.continue_with_this_graph") : t("main.start_with_an_empty_graph");
  };
  sayClose();
  get("start-tour").addEventListener("click", () => {
    dialog.close();
    tour();
  });
}

function openStart() {
  const dialog = /** @type {HTMLDialogElement} */ (get("start"));
  if (!dialog.open) dialog.showModal();
}

function closeStart() {
  /** @type {HTMLDialogElement} */ (get("start")).close();
}

/** @param {Studio} studio @param {ProjectFiles} files */
function listenToKeys({ store, editor }, files) {
  get("save-button").addEventListener("click", () => void files.save());
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement && /^(text|number)$/.test(event.target.type);
    if ((event.ctrlKey || event.metaKey) && !event.altKey && /^[zy]$/i.test(event.key)) {
      if (typing && event.target instanceof HTMLInputElement && event.target.matches(".rename")) return;
      event.preventDefault();
      if (event.key.toLowerCase() === "y" || event.shiftKey) store.redo();
      else store.undo();
    } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      event.preventDefault();
      void files.save();
    } else if (event.key === "?" && !typing && !(event.target instanceof HTMLTextAreaElement)) {
      /** @type {HTMLDialogElement} */ (get("keys")).showModal();
    } else if (event.key === "F6") {
      event.preventDefault();
      editor.focusCurrent();
    }
  });
}

void start();
