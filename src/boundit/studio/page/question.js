// @ts-check
/** The question: outcome, treatment, subgroups and what is better; by clicking, and written as text. */

/** @import { Studio } from "./studio.js" */
import { element, redraw, whenNew } from "./dom.js";
import { listRoles, toggleRole } from "./graph.js";
import { drawFault, makeCopy } from "./studio.js";

/** @type {[import("./graph.js").Role, string, string][]} */
const PARTS = [
  ["outcome", "Outcome", "what is to change"],
  ["treatment", "Treatment", "what is done"],
  ["context", "Subgroups", "known before; may be none"],
];

/** @param {HTMLElement} root @param {Studio} studio */
export function showQuestion(root, studio) {
  const drawNew = whenNew(() => redraw(root, ...draw(studio)));
  const show = () => {
    const { graph, query } = studio.project;
    const nodes = graph.nodes.map(({ name, hidden, selection }) => [name, hidden, selection]);
    drawNew([nodes, query, studio.project.settings.goal, studio.claims.query, studio.claims.problems]);
  };
  studio.store.addEventListener("change", show);
  studio.addEventListener("claims", show);
  show();
}

/** @param {Studio} studio */
function draw(studio) {
  const { project, claims } = studio;
  const nodes = project.graph.nodes.filter((node) => !node.hidden && !node.selection);
  if (nodes.length === 0) return [element("p", { class: "quiet" }, "Draw a graph first: its nodes are what you can ask about.")];
  const faults = claims.problems.filter(({ where }) => where?.startsWith("query"));
  const rows = PARTS.map(([role, title, words]) =>
    element("div", { class: "question-row", role: "group", "aria-label": title },
      element("div", { class: "question-title" }, element("strong", {}, title), element("span", { class: "quiet" }, words)),
      element("div", { class: "chips" },
        ...nodes.map((node) =>
          element("button", {
            type: "button", class: `chip ${role}`, "data-key": `${role} ${node.name}`,
            "aria-pressed": String(listRoles(project, node.name).includes(role)),
            onclick: () => studio.store.change(`${node.name} as ${role}`, (draft) => toggleRole(draft, node.name, role)),
          }, node.name)))));
  const text = claims.query ?? "";
  const { goal } = project.settings;
  rows.push(element("div", { class: "question-row", role: "group", "aria-label": "Better" },
    element("div", { class: "question-title" }, element("strong", {}, "Better"), element("span", { class: "quiet" }, "which direction is wanted")),
    element("div", { class: "chips" },
      ...Object.entries({ max: "a higher outcome", min: "a lower outcome" }).map(([name, said]) =>
        element("button", {
          type: "button", class: "chip", "data-key": `goal ${name}`, "aria-pressed": String(goal === name),
          onclick: () =>
            studio.store.change(`${said} is better`, (draft) => {
              draft.settings.goal = name === "min" ? "min" : "max";
            }),
        }, said)))));
  return [
    ...rows,
    element("div", { class: "query" },
      element("span", { class: "quiet" }, "As text"),
      studio.hasQuestion && text
        ? element("code", { class: "query-text" }, text)
        : element("span", {}, "Choose an outcome and a treatment."),
      studio.hasQuestion && text ? makeCopy(text, "the question") : null),
    ...faults.map(drawFault),
  ];
}
