// @ts-check
/** The page: starts its parts, keeps the draft, and answers to the keys that work everywhere. */

/** @import { Example, Project, Start } from "./types.js" */
import { announce, element, get, redraw } from "./dom.js";
import { GraphEditor } from "./editor.js";
import { Answers, showAnswers } from "./answers.js";
import { showData } from "./data.js";
import { showInspector } from "./inspector.js";
import { layOut, placeNodes } from "./placing.js";
import { showPolicy } from "./policy.js";
import { DraftKeeper, findUnsaved, ProjectStore } from "./project.js";
import { showQuestion } from "./question.js";
import { faultOf, makeRepeat, Studio } from "./studio.js";
import { openLink, showTake } from "./take.js";
import { showText } from "./text.js";
import { startTour } from "./tour.js";
import { ask } from "./transport.js";
import { showWhatIf } from "./whatif.js";

const PANELS = ["data", "ask", "whatif", "policy", "take"];
const POLICIES = [
  "Fused", ...["LinUCB", "UCB", "KL-UCB", "TS", "LinTS", "OAM"].flatMap((name) => [`${name}-PCB`, name]),
];

/** @type {Project} */
const EMPTY = {
  format: "boundit project", version: 1, name: "",
  graph: { nodes: [], edges: [], groups: [], text: null },
  query: { outcome: null, treatments: [], context: [] },
  data: { file: null, columns: {}, bins: {}, weight: null, levels: {} },
  settings: {
    confidence: 0.95, inference: "exact", selection_rate: null, sensitivity: null, confounding: {},
    reward_range: null, missing: "drop", external: [],
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
  return { ...whole, graph: await placeNodes(whole.graph, null) };
}

async function start() {
  const status = get("status");
  /** @param {string} words @param {boolean} failed */
  const tell = (words, failed) => {
    status.textContent = words;
    status.classList.toggle("fault", failed);
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
  const draft = unsaved ?? begun.draft;
  const store = new ProjectStore(draft ? await complete(draft) : EMPTY);
  const keeper = new DraftKeeper(store, begun.folder, tell);
  if (unsaved) void keeper.save();
  const editor = /** @type {GraphEditor} */ (get("editor"));
  editor.start(store);
  const studio = new Studio(store, editor);
  const answers = new Answers(studio);

  /** @param {string} text @param {string} label */
  const open = async (text, label) => {
    const { project } = await ask("/api/project/read", { text });
    show(await complete(project), label);
  };
  /** @param {Project} project @param {string} label */
  const show = (project, label) => {
    store.open(label, project);
    for (const each of PANELS) get(`panel-${each}`).scrollTop = 0;
    editor.select({});
    editor.fit();
    announce(`${label}: done`);
  };

  showToolbar(studio);
  showInspector(get("inspector"), studio);
  showText(get("text-part"), studio);
  get("graph-part").append(makeRepeat(studio, "graph"));
  showData(get("data-body"), studio, answers, begun.limits.upload);
  showQuestion(get("question"), studio);
  showAnswers(get("answers"), studio, answers);
  showWhatIf(get("whatif-body"), studio, answers);
  showPolicy(get("policy-body"), studio, answers, POLICIES);
  showTake(get("take-body"), studio, answers, open);
  const goTo = showNavigation(studio, answers);
  answers.addEventListener("mend", () => goTo("data"));
  showHeader(studio);
  showStart(begun.examples, store, async (example) => {
    const { project } = await ask("/api/examples/open", { name: example.name });
    show(await complete(project), `open ${example.title}`);
    goTo(project.data?.file ? "ask" : "data");
  }, () => startTour(goTo));
  get("preview").addEventListener("click", () => studio.light(null));
  get("tour-button").addEventListener("click", () => startTour(goTo));
  listenToKeys(studio);

  const follow = () =>
    openLink(open).then(() => store.project !== draft && closeStart(), (error) => tell(faultOf(error).message, true));
  addEventListener("hashchange", () => void follow());
  const linked = location.hash.includes("project=");
  if (linked) await follow();
  if (!draft && !linked) openStart();
  document.body.dataset.ready = "yes";
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
    ["layout", () => void arrange()],
  ];
  const arrange = async () => {
    try {
      const graph = await layOut(store.project.graph);
      store.change("lay out", (draft) => {
        for (const node of draft.graph.nodes) Object.assign(node, pick(graph.nodes.find((each) => each.name === node.name)));
      });
      editor.fit();
    } catch (error) {
      announce(faultOf(error).message);
    }
  };
  for (const [id, act] of actions) get(`tool-${id}`).addEventListener("click", act);
  editor.addEventListener("layout", () => void arrange());
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
  /** @param {string} panel */
  const show = (panel) => {
    for (const each of PANELS) {
      const now = each === panel;
      get(`panel-${each}`).classList.toggle("current", now);
      if (now) get(`go-${each}`).setAttribute("aria-current", "step");
      else get(`go-${each}`).removeAttribute("aria-current");
    }
    studio.light(null);
  };
  /** @param {string} panel */
  const goTo = (panel) => {
    show(panel);
    if (narrow.matches) get(`panel-${panel}`).scrollIntoView({ block: "start" });
  };
  for (const each of PANELS) get(`go-${each}`).addEventListener("click", () => goTo(each));
  const tell = () => {
    const { data } = studio.project;
    get("say-data").textContent = data.file ?? "no log yet";
    get("say-ask").textContent = answers.standing;
  };
  studio.store.addEventListener("change", tell);
  answers.addEventListener("bounds", tell);
  tell();
  show(studio.project.data.file ? "ask" : "data");
  return goTo;
}

/** @param {Studio} studio */
function showHeader({ store }) {
  const name = /** @type {HTMLInputElement} */ (get("project-name"));
  const undo = /** @type {HTMLButtonElement} */ (get("undo"));
  const redo = /** @type {HTMLButtonElement} */ (get("redo"));
  name.addEventListener("change", () =>
    store.change("name the project", (draft) => {
      draft.name = name.value;
    }));
  undo.addEventListener("click", () => store.undo());
  redo.addEventListener("click", () => store.redo());
  const show = () => {
    name.value = store.project.name;
    undo.disabled = store.undoable === null;
    redo.disabled = store.redoable === null;
    undo.title = store.undoable === null ? "Nothing to undo" : `Undo: ${store.undoable} (Ctrl Z)`;
    redo.title = store.redoable === null ? "Nothing to do again" : `Do again: ${store.redoable} (Ctrl Shift Z)`;
  };
  store.addEventListener("change", (event) => {
    show();
    get("status").textContent = "Saving …";
    const { label } = /** @type {CustomEvent} */ (event).detail;
    if (/^(Undone|Done again)/.test(label)) announce(label);
  });
  show();
}

/**
 * @param {Example[]} examples
 * @param {ProjectStore} store
 * @param {(example: Example) => Promise<void>} open
 * @param {() => void} tour
 */
function showStart(examples, store, open, tour) {
  const dialog = /** @type {HTMLDialogElement} */ (get("start"));
  const fault = get("start-fault");
  redraw(get("examples"), ...examples.map((example) =>
    element("li", {}, element("button", {
      type: "button", class: "example", "data-example": example.name,
      onclick: async () => {
        try {
          await open(example);
          dialog.close();
        } catch (error) {
          fault.textContent = faultOf(error).message;
        }
      },
    }, element("strong", {}, example.title), element("span", {}, example.words)))));
  get("start-button").addEventListener("click", () => {
    sayClose();
    openStart();
  });
  get("start-close").addEventListener("click", () => dialog.close());
  const sayClose = () => {
    const { graph, data } = store.project;
    get("start-close").textContent = graph.nodes.length || data.file ? "Go on with what is here" : "Begin with an empty sheet";
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

/** @param {Studio} studio */
function listenToKeys({ store, editor }) {
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement && /^(text|number)$/.test(event.target.type);
    if ((event.ctrlKey || event.metaKey) && !event.altKey && /^[zy]$/i.test(event.key)) {
      if (typing && event.target instanceof HTMLInputElement && event.target.matches(".rename")) return;
      event.preventDefault();
      if (event.key.toLowerCase() === "y" || event.shiftKey) store.redo();
      else store.undo();
    } else if (event.key === "?" && !typing && !(event.target instanceof HTMLTextAreaElement)) {
      /** @type {HTMLDialogElement} */ (get("keys")).showModal();
    } else if (event.key === "F6") {
      event.preventDefault();
      editor.focusCurrent();
    }
  });
}

void start();
