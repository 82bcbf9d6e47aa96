// @ts-check
/** The graph as text, in step with the drawing both ways; what cannot be read is said where. */

/** @import { Graph, Query } from "./types.js" */
/** @import { Studio } from "./studio.js" */
import { announce, element, wait } from "./dom.js";
import { faultOf } from "./studio.js";
import { findNode, removeEdge, sameEdge } from "./graph.js";
import { Latest } from "./latest.js";
import { placeNodes } from "./placing.js";
import { ask } from "./transport.js";
import { t } from "./words.js";

/** What the server calls our own notation. */
const OWN = "text";
const KEPT = "boundit studio: unfinished text";

/** @param {HTMLElement} root @param {Studio} studio */
export function showText(root, studio) {
  const { store } = studio;
  const area = element("textarea", {
    id: "graph-text", rows: 9, spellcheck: "false", autocapitalize: "off", autocomplete: "off",
    "aria-describedby": "text-fault text-note", placeholder: t("text.treatment_outcome_treatment_outcome_outcome_kept"),
  });
  const lines = element("pre", { class: "line-numbers", "aria-hidden": "true" });
  const fault = element("p", { id: "text-fault", class: "fault", role: "alert" });
  const note = element("p", { id: "text-note", class: "quiet" });
  const take = element("button", { type: "button", class: "small", hidden: true }, t("text.use_the_drawing_s_text"));
  root.append(
    element("label", { for: "graph-text", class: "label" }, t("text.the_graph_as_text")),
    element("div", { class: "text-box" }, lines, area), fault, note, take);

  /** The text that says what the drawing says; the area may be ahead of it. */
  let read = "";
  let faultLine = 0;
  /** What is read or written on the server: either, never both. */
  const latest = new Latest(() => store.document);
  let reading = false;
  /** The text that is on its way to the server. @type {string | null} */
  let sent = null;

  const unfinished = () => area.value !== read;
  const number = () => {
    const rows = Math.max(1, area.value.split("\n").length);
    lines.replaceChildren(
      ...Array.from({ length: rows }, (_, i) =>
        element("span", i + 1 === faultLine ? { class: "at" } : {}, `${i + 1}\n`)));
    lines.scrollTop = area.scrollTop;
  };

  /** @param {string} text */
  const show = (text) => {
    read = text;
    if (area.value !== text) area.value = text;
    settle();
  };

  /** Open the text for typing, or not while it is fetched: the drawing would win over the letters. @param {boolean} fetching */
  const lock = (fetching) => {
    area.readOnly = fetching;
    area.setAttribute("aria-busy", String(fetching));
  };

  const settle = () => {
    reading = false;
    sent = null;
    lock(false);
    fault.textContent = "";
    area.removeAttribute("aria-invalid");
    faultLine = 0;
    take.hidden = true;
    localStorage.removeItem(KEPT);
    number();
  };

  /** @param {unknown} error */
  const complain = (error) => {
    reading = false;
    sent = null;
    lock(false);
    const { message, line, column, hint } = faultOf(error);
    faultLine = line ?? 0;
    fault.replaceChildren();
    if (line) {
      fault.append(element("button", {
        type: "button", class: "link", onclick: () => goTo(line, column ?? 1),
      }, t("text.line", line, column ? t("text.column", column) : "")), ": ");
    }
    fault.append([message, hint].filter(Boolean).join(" "));
    area.setAttribute("aria-invalid", "true");
    take.hidden = false;
    number();
  };

  /** @param {number} line @param {number} column */
  const goTo = (line, column) => {
    const start = area.value.split("\n").slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
    area.focus();
    area.setSelectionRange(start, Math.min(start + 1, area.value.length));
  };

  /** Read what was typed, now; the drawing follows. */
  const readArea = () => {
    const text = area.value;
    if (!reading || text === sent) return;
    if (text === read) {
      settle();
      return;
    }
    sent = text;
    const drawn = store.project.graph;
    const readGraph = async () => {
      const answer = await ask("/api/graph/read", { text });
      answer.graph = await placeNodes(answer.graph, drawn, studio.editor.aspect);
      // Not a blank of what is being typed changes under the hand.
      if (answer.format === OWN) answer.graph.text = text;
      return answer;
    };
    void latest.run(readGraph, (answer) => {
      const over = meaning(drawn) !== meaning(store.project.graph);
      reading = false;
      sent = null;
      read = text;
      takeGraph(studio, answer);
      note.textContent = [
        ...(answer.notes ?? []), nameFormat(answer.format), over && t("text.what_was_drawn_meanwhile_is_gone"),
      ].filter(Boolean).join(" ");
      if (answer.format === OWN) settle();
      else write();
    }, complain);
  };

  /** Write the drawing as text, unless it still is what the person wrote. */
  const write = () => {
    const { graph } = store.project;
    latest.drop();
    reading = false;
    sent = null;
    if (graph.text !== null || graph.nodes.length === 0) {
      show(graph.text ?? "");
      return;
    }
    lock(true);
    void latest.run(() => ask("/api/graph/write", { graph, format: "boundit" }), ({ text }) => {
      show(text);
      takeUp();
    }, complain);
  };

  /** Take half-typed text up again that was there before a reload, beside the same drawing. */
  const takeUp = () => {
    if (!kept || kept.beside !== meaning(store.project.graph)) return;
    area.value = kept.text;
    kept = null;
    noteUnread();
    readArea();
  };

  /** Note that the text is not read yet, here and for a reload. */
  const noteUnread = () => {
    reading = true;
    try {
      localStorage.setItem(KEPT, JSON.stringify({ text: area.value, beside: meaning(store.project.graph) }));
    } catch {
      // No room: half-typed text is lost by a reload, nothing else.
    }
  };

  const readSoon = wait(350, readArea);

  area.addEventListener("blur", readArea);
  area.addEventListener("input", () => {
    latest.drop(); // what is on its way is of an older text
    sent = null;
    faultLine = 0;
    note.textContent = "";
    number();
    noteUnread();
    readSoon();
  });
  area.addEventListener("scroll", () => (lines.scrollTop = area.scrollTop));
  area.addEventListener("keydown", (event) => {
    // The browser's own undo has the letters of an unfinished text, the page's has the rest.
    if (unfinished() && (event.ctrlKey || event.metaKey) && /^[zy]$/i.test(event.key)) event.stopPropagation();
  });
  take.addEventListener("click", () => {
    area.value = read;
    write();
    announce(t("text.the_text_is_the_drawing_s"));
  });

  store.addEventListener("change", (event) => {
    const { opened, before: { graph: before } } = /** @type {CustomEvent} */ (event).detail;
    const after = store.project.graph;
    if (opened) {
      show(""); // what was typed belongs to the project before
      note.textContent = "";
      write();
    } else if (meaning(before) === meaning(after) && before.text === after.text) {
      return;
    } else if (after.text !== null && after.text === area.value) {
      show(after.text);
    } else if (unfinished() && (reading || document.activeElement === area)) {
      note.textContent = t("text.the_drawing_has_changed_since_the");
    } else {
      if (before.text?.includes("#") && after.text === null) {
        note.textContent = t("text.drawing_by_hand_wrote_the_text");
      }
      write();
    }
  });

  let kept = findKept();
  write();
  if (!area.readOnly) takeUp();
}

/** Find the text that was being typed when the page was left. @returns {{text: string, beside: string} | null} */
function findKept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "null");
  } catch {
    return null;
  }
}

/** What a graph says, without where it is drawn. @param {Graph} graph */
function meaning(graph) {
  return JSON.stringify([graph.nodes.map(({ name, hidden, selection }) => [name, hidden, selection]), graph.edges, graph.groups ?? []]);
}

/**
 * Take what was read into the project. Roles of nodes that are gone go, and roles that came with
 * the text are taken where there were none.
 *
 * @param {Studio} studio
 * @param {{graph: Graph, query?: Query | null}} answer
 */
function takeGraph(studio, answer) {
  studio.store.change(t("text.type_the_graph"), (draft) => {
    const gone = draft.graph.edges.filter((edge) => !answer.graph.edges.some((each) => sameEdge(each, edge)));
    for (const edge of gone) removeEdge(draft, edge); // with what was supposed of it
    draft.graph = answer.graph;
    /** @param {string} name */
    const measured = (name) => {
      const node = findNode(draft.graph, name);
      return node !== undefined && !node.hidden && !node.selection;
    };
    const { query } = draft;
    query.treatments = query.treatments.filter(measured);
    query.context = query.context.filter(measured);
    query.adjust_for = query.adjust_for.filter(measured);
    query.never_adjust_for = query.never_adjust_for.filter(measured);
    if (query.outcome !== null && !measured(query.outcome)) query.outcome = null;
    if (answer.query && query.outcome === null && query.treatments.length === 0) draft.query = { ...query, ...answer.query };
  }, "type the graph");
}

/** @param {string} format */
function nameFormat(format) {
  return format === OWN ? "" : t("text.read_as", format);
}
