// @ts-check
/** What is known of a column besides its rows: levels that the log lacks, and the outcome's range. */

/** @import { Column } from "./types.js" */
/** @import { Studio } from "./studio.js" */
import { announce, element, write } from "./dom.js";
import { t } from "./words.js";

/** @typedef {string | number} DeclaredLevel */

/**
 * Fields for levels that can occur though the log has none of them.
 *
 * @param {Studio} studio @param {Column} column @param {string} node
 */
export function makeFurtherLevels(studio, column, node) {
  const declared = studio.project.data.levels[node] ?? [];
  const fault = element("p", { class: "fault", id: `fault of levels of ${node}`, role: "alert" });
  const input = element("input", {
    type: "text", "data-key": `further ${node}`, "aria-label": t("known.a_further_level_of", node), placeholder: t("known.a_value"),
    "aria-describedby": `fault of levels of ${node}`, autocomplete: "off",
  });
  /** @param {DeclaredLevel[]} levels @param {string} label */
  const put = (levels, label) =>
    studio.store.change(label, (draft) => {
      if (levels.length) draft.data.levels[node] = levels;
      else delete draft.data.levels[node];
    });
  const form = element("form", { class: "row further-form" }, input, element("button", { type: "submit", class: "small", "data-key": `add further ${node}` }, t("known.add")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const level = readLevel(input.value.trim(), column);
    const why = level === null ? sayWanted(column) : findTwin(level, declared, column);
    fault.textContent = why;
    if (why || level === null) return;
    input.value = "";
    put([...declared, level], t("known.further_level_of", level, node));
    announce(t("known.can_be_too", node, level));
  });
  return element("details", { class: "further", "data-key": `levels of ${node}`, ...(declared.length ? { open: true } : {}) },
    element("summary", {}, declared.length ? t("known.further_levels", declared.length) : t("known.further_levels_2")),
    element("p", { class: "quiet" }, t("known.values_that_can_occur_though_the")),
    declared.length > 0 && element("ul", { class: "levels" }, ...declared.map((level) =>
      element("li", {}, element("span", { class: "level" }, String(level)),
        element("button", {
          type: "button", class: "small", "data-key": `drop ${node} ${level}`, "aria-label": t("known.take_away_of", level, node),
          onclick: () => put(declared.filter((each) => each !== level), t("known.no_further_level_of", level, node)),
        }, "✕")))),
    form, fault);
}

/** Read a level as the column holds it: numbers as numbers. @param {string} typed @param {Column} column @returns {DeclaredLevel | null} */
function readLevel(typed, { holds }) {
  if (typed === "") return null;
  if (holds !== "numbers") return typed;
  return Number.isFinite(Number(typed)) ? Number(typed) : null;
}

/** @param {Column} column */
function sayWanted({ holds }) {
  return holds === "numbers" ? t("known.this_column_holds_numbers_type_one") : t("known.type_the_value_first");
}

/** Say that a level is there already, if it is. @param {DeclaredLevel} level @param {DeclaredLevel[]} declared @param {Column} column */
function findTwin(level, declared, column) {
  if (declared.includes(level)) return t("known.is_declared_already", level);
  return column.levels.some(({ value }) => value === level) ? t("known.the_log_has_already", level) : "";
}

/** Whether a column's reward needs no range: all that was logged is 0 or 1. @param {Column} column */
export function isZeroOne({ levels, n_levels: n }) {
  return n <= 2 && levels.every(({ value }) => value === null || value === 0 || value === 1);
}

/**
 * Two fields for the least and the most that the outcome can be; nothing is said until both are.
 *
 * @param {Studio} studio @param {Column} column @param {string} node
 */
export function makeRewardRange(studio, column, node) {
  const kept = studio.project.settings.outcome_range;
  const seen = column.histogram?.edges ?? column.levels.flatMap(({ value }) => (typeof value === "number" ? [value] : []));
  const fault = element("p", { class: "fault", id: "fault of the range", role: "alert" });
  /** @param {string} name @param {number | undefined} value @param {number} found */
  const field = (name, value, found) => element("input", {
    type: "number", step: "any", "data-key": `range ${name}`, "aria-label": t("known.the_that_can_be", name, node),
    "aria-describedby": "fault of the range", value: value ?? "",
    placeholder: Number.isFinite(found) ? write(found) : "", onchange: () => put(),
  });
  const least = field("least", kept?.[0], Math.min(...seen));
  const most = field("most", kept?.[1], Math.max(...seen));
  /** @param {[number, number] | null} range */
  const keep = (range) =>
    studio.store.change(range ? t("known.lies_between_and", node, range[0], range[1]) : t("known.no_range_of", node), (draft) => {
      draft.settings.outcome_range = range;
    });
  const put = () => {
    const [low, high] = [least.valueAsNumber, most.valueAsNumber];
    const given = [low, high].filter(Number.isFinite).length;
    fault.textContent = given === 2 && low >= high ? t("known.the_least_must_be_below_the") : "";
    if (given === 0) keep(null);
    else if (given === 2 && low < high) keep([low, high]);
  };
  return element("div", { class: "range" },
    element("p", {}, element("span", {}, t("known.what_can_be", node)), t("known.between"), least, t("known.and"), most,
      kept && element("button", { type: "button", class: "small", "data-key": "no range", onclick: () => keep(null) }, t("known.no_range"))),
    element("p", { class: "quiet" }, t("known.the_least_and_the_most_that")),
    fault);
}
