// @ts-check
/** The question: outcome, treatment, subgroups, what is better and the baseline; clicked, typed, or written as text. */

/** @import { Level, Query } from "./types.js" */
/** @import { Studio } from "./studio.js" */
/** @import { Answers } from "./answers.js" */
import { announce, element, redraw, whenNew } from "./dom.js";
import { listRoles, toggleRole } from "./graph.js";
import { sayArm } from "./intervals.js";
import { Latest } from "./latest.js";
import { drawFault, faultOf } from "./studio.js";
import { ask } from "./transport.js";
import { t } from "./words.js";

/** @type {[import("./graph.js").Role, string, string][]} */
const PARTS = [
  ["outcome", t("inspector.outcome"), t("question.its_mean_is_asked_about")],
  ["treatment", t("inspector.treatment"), t("question.its_effect_is_asked_about")],
  ["context", t("question.subgroups"), t("question.known_before_the_treatment")],
];

/** @param {HTMLElement} root @param {Studio} studio @param {Answers} answers */
export function showQuestion(root, studio, answers) {
  const fault = element("div", {});
  const body = element("div", {});
  root.append(body, fault);
  const reading = new Latest(() => studio.store.document);
  /** @param {string} text */
  const read = (text) => {
    redraw(fault);
    if (!text.trim() || text === studio.claims.query) return;
    void reading.run(() => ask("/api/query/read", { text }), (/** @type {{query: Query}} */ { query }) => {
      studio.store.change(t("question.type_the_question"), (draft) => {
        draft.query = { ...draft.query, ...query, baseline: null };
      });
    }, (error) => redraw(fault, drawFault(faultOf(error))));
  };
  const drawNew = whenNew(() => redraw(body, ...draw(studio, answers, read)));
  const show = () => {
    const { graph, query, settings } = studio.project;
    const nodes = graph.nodes.map(({ name, hidden, selection }) => [name, hidden, selection]);
    drawNew([nodes, query, settings.goal, studio.claims.query, studio.claims.problems, studio.editor.picking, listArms(studio, answers), answers.result?.effects?.baseline]);
  };
  studio.store.addEventListener("change", show);
  studio.addEventListener("claims", show);
  studio.addEventListener("look", show);
  studio.editor.addEventListener("selection", show);
  answers.addEventListener("bounds", show);
  show();
}

/** @param {Studio} studio @param {Answers} answers @param {(text: string) => void} read */
function draw(studio, answers, read) {
  const { project, claims } = studio;
  const nodes = project.graph.nodes.filter((node) => !node.hidden && !node.selection);
  if (nodes.length === 0) return [element("p", { class: "quiet" }, t("question.draw_a_graph_first_a_question"))];
  const faults = claims.problems.filter(({ where }) => where?.startsWith("query"));
  const names = nodes.map(({ name }) => name);
  const rows = PARTS.map(([role, title, words]) =>
    makeNames(studio, {
      key: role, title, words, names, role,
      chosen: names.filter((name) => listRoles(project, name).includes(role)),
      toggle: (name) => studio.store.change(t("editor.as", name, role), (draft) => toggleRole(draft, name, role)),
    }));
  const { goal } = project.settings;
  const better = element("div", { class: "chips", role: "group", "aria-label": t("question.better") },
    element("span", { class: "quiet" }, t("question.better_2")),
    ...Object.entries({ max: "higher", min: "lower" }).map(([name, said]) =>
      element("button", {
        type: "button", class: "chip", "data-key": `goal ${name}`, "aria-pressed": String(goal === name),
        onclick: () =>
          studio.store.change(t("question.is_better", said), (draft) => {
            draft.settings.goal = name === "min" ? "min" : "max";
          }),
      }, said)));
  const text = element("input", {
    type: "text", class: "query-text", "data-key": "query text", "aria-label": t("question.the_question_as_text"), spellcheck: "false", autocomplete: "off",
    value: claims.query ?? "", placeholder: t("question.outcome_do_treatment_subgroup"), onchange: () => read(text.value),
  });
  return [
    ...rows,
    element("div", { class: "question-foot" }, better, makeBaseline(studio, answers), text),
    ...faults.map(drawFault),
  ];
}

/**
 * Chosen names as chips, a field to type more, and, with a role, a button to click them in the graph.
 *
 * @param {Studio} studio
 * @param {{
 *   key: string, title: string, words: string, names: string[], chosen: string[],
 *   toggle: (name: string) => void, role?: import("./graph.js").Role,
 * }} how
 */
export function makeNames(studio, { key, title, words, names, chosen, toggle, role }) {
  const free = names.filter((name) => !chosen.includes(name));
  const list = `names of ${key}`;
  const input = element("input", {
    type: "text", list, "data-key": `${key} type`, "aria-label": t("question.add_to", title), placeholder: chosen.length && key === "outcome" ? t("question.another") : t("question.type_a_name"),
    autocomplete: "off", spellcheck: "false",
  });
  const take = () => {
    const typed = input.value.trim().toLowerCase();
    const found = free.find((name) => name.toLowerCase() === typed) ?? (typed && free.find((name) => name.toLowerCase().startsWith(typed)));
    if (!found) return;
    input.value = "";
    toggle(found);
    announce(`${title}: ${found}`);
  };
  input.addEventListener("change", take);
  input.addEventListener("input", () => free.includes(input.value) && take()); // chosen in the list
  input.addEventListener("keydown", (event) => event.key === "Enter" && take());
  return element("div", { class: "question-row", role: "group", "aria-label": title },
    element("div", { class: "question-title", title: words }, element("strong", {}, title)),
    element("div", { class: "chips" },
      ...chosen.map((name) =>
        element("button", {
          type: "button", class: `chip ${role ?? ""}`, "aria-pressed": "true", "data-key": `${key} ${name}`, "aria-label": t("question.remove_from", name, title), onclick: () => toggle(name),
        }, name, element("span", { "aria-hidden": "true" }, " ✕"))),
      input,
      element("datalist", { id: list }, ...free.map((name) => element("option", { value: name }))),
      role && element("button", {
        type: "button", class: "small", "data-key": `pick ${key}`, "aria-pressed": String(studio.editor.picking === role), "aria-label": t("question.click_in_the_graph", title),
        onclick: () => studio.editor.pick(studio.editor.picking === role ? null : role),
      }, studio.editor.picking === role ? t("question.click_nodes") : t("question.click_in_graph")),
      chosen.length === 0 && element("span", { class: "quiet" }, words)));
}

/** The arms that may be a baseline: of the answer, or the levels of the one treatment. @param {Studio} studio @param {Answers} answers @returns {Level[][]} */
function listArms({ project, look }, answers) {
  if (answers.result) return answers.result.arms;
  const { treatments } = project.query;
  const column = treatments.length === 1 ? look?.columns.find(({ node }) => node === treatments[0]) : undefined;
  return column && !column.histogram ? column.levels.flatMap(({ value }) => (value === null ? [] : [[column.holds === "booleans" ? value === "true" : value]])) : [];
}

/** @param {Studio} studio @param {Answers} answers */
function makeBaseline(studio, answers) {
  const arms = listArms(studio, answers);
  if (arms.length < 2) return null;
  const { query } = studio.project;
  const key = JSON.stringify(query.baseline ?? answers.result?.effects?.baseline ?? null);
  const select = element("select", { id: "baseline", "data-key": "baseline" },
    key === "null" && element("option", { value: "null" }, t("question.chosen_by_the_data")),
    ...arms.map((arm) => element("option", { value: JSON.stringify(arm) }, sayArm(query.treatments, arm))));
  select.value = key;
  select.addEventListener("change", () =>
    studio.store.change(t("question.another_baseline"), (draft) => {
      draft.query.baseline = /** @type {Level[] | null} */ (JSON.parse(select.value));
    }));
  return element("label", { for: "baseline", class: "quiet" }, t("question.compared_with"), select);
}
