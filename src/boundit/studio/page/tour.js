// @ts-check
/** The two-minute tour: one card that walks past the parts of the page, and lights each. */

import { element, get } from "./dom.js";
import { t } from "./words.js";

/** @type {[string, string | null, string, string][]} where, which panel, title, words */
const STEPS = [
  ["graph-part", "draw", t("tour.draw_what_you_assume"), t("tour.an_arrow_says_may_cause_a")],
  ["text-part", "draw", t("tour.or_type_it"), t("tour.the_text_says_the_same_and")],
  ["panel-graph", "graph", t("take.what_the_graph_alone_says"), t("tour.without_any_data_whether_the_effect")],
  ["panel-data", "data", t("tour.add_the_data"), t("tour.drop_a_file_each_column_finds")],
  ["panel-ask", "ask", t("answers.ask"), t("tour.choose_the_outcome_the_treatment_and")],
  ["panel-whatif", "whatif", t("tour.what_if"), t("tour.move_what_you_are_unsure_of")],
  ["panel-policy", "policy", t("tour.try_a_policy"), t("tour.play_bandits_with_and_without_the")],
  ["panel-take", "take", t("tour.take_it_away"), t("tour.a_report_a_project_file_a")],
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
    const next = element("button", { type: "button", class: "primary", onclick: () => step(1) }, at + 1 < STEPS.length ? t("tour.next") : t("tour.done"));
    card.replaceChildren(
      element("p", { class: "quiet" }, t("tour.of", at + 1, STEPS.length)),
      element("h2", {}, title), element("p", {}, words),
      element("div", { class: "row" },
        at > 0 && element("button", { type: "button", onclick: () => step(-1) }, t("tour.back")), next,
        element("button", { type: "button", class: "link", onclick: end }, t("tour.end_the_tour"))));
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
