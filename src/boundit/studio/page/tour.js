// @ts-check
/** The two-minute tour: one card that walks past the parts of the page, and lights each. */

import { element, get } from "./dom.js";

/** @type {[string, string | null, string, string][]} where, which panel, title, words */
const STEPS = [
  ["graph-part", "draw", "Draw what you assume", "An arrow says: may cause. A dashed line with two heads says: something that nobody wrote down moves both. What you leave out is what you claim; select two nodes to read it."],
  ["text-part", "draw", "Or type it", "The text says the same and follows the drawing. Paste DAGitty or DOT here if you have it."],
  ["panel-graph", "graph", "What the graph alone says", "Without any data: whether the effect is identified, all minimal adjustment sets, causal and biasing paths, roles of nodes and testable implications. Choose a line, and it is highlighted in the graph."],
  ["panel-data", "data", "Add the data", "Drop a file. Each column finds its node; what does not fit is said beside it. Nothing leaves this machine."],
  ["panel-ask", "ask", "Ask", "Choose the outcome, the treatment and subgroups. The answer is the effect with its interval, what to choose, and why: choose an interval, then a line of its reason, and its paths light up."],
  ["panel-whatif", "whatif", "What if", "Move what you are unsure of and see the intervals move. Ask what would narrow the answer and what would overturn it."],
  ["panel-policy", "policy", "Try a policy", "Play bandits with and without the bounds, in environments that fit the log."],
  ["panel-take", "take", "Take it away", "A report, a project file, a link, and the command that gives the same numbers. Undo (Ctrl Z) takes back anything you did."],
];

/** @param {(panel: string) => void} goTo shows a panel */
export function startTour(goTo) {
  const card = get("tour");
  let at = 0;
  const before = document.activeElement;
  const end = () => {
    card.hidden = true;
    card.replaceChildren();
    document.querySelector(".toured")?.classList.remove("toured");
    card.removeEventListener("keydown", press);
    if (before instanceof HTMLElement) before.focus();
  };
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    if (event.key === "Escape") end();
  };
  const show = () => {
    const [id, panel, title, words] = STEPS[at];
    document.querySelector(".toured")?.classList.remove("toured");
    if (panel) goTo(panel);
    const part = get(id);
    part.classList.add("toured");
    if (!panel) part.scrollIntoView({ block: "nearest" });
    const next = element("button", { type: "button", class: "primary", onclick: () => step(1) }, at + 1 < STEPS.length ? "Next" : "Done");
    card.replaceChildren(
      element("p", { class: "quiet" }, `${at + 1} of ${STEPS.length}`),
      element("h2", {}, title), element("p", {}, words),
      element("div", { class: "row" },
        at > 0 && element("button", { type: "button", onclick: () => step(-1) }, "Back"), next,
        element("button", { type: "button", class: "link", onclick: end }, "End the tour")));
    card.hidden = false;
    next.focus({ preventScroll: true });
  };
  /** @param {number} by */
  const step = (by) => {
    at += by;
    if (at >= STEPS.length) end();
    else show();
  };
  card.addEventListener("keydown", press);
  show();
}
