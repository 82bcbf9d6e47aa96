// @ts-check
/** The picture of a bound table: an interval for each arm in each context, on one scale. */

/** @import { BoundResult, BoundRow, EffectRow, Interval, Level } from "./types.js" */
import { count, element, shape, write } from "./dom.js";
import { widthOf, wrap } from "./strokes.js";
import { t } from "./words.js";

const RIGHT = 118;
const ROW = 28;
const HEAD = 26;

/** Write an arm as one says it: call, or with names where two things are chosen at once. @param {string[]} names @param {Level[]} levels */
export function sayArm(names, levels) {
  return names.length > 1 ? sayContext(names, levels) : levels.map(String).join(", ");
}

/** Write a context with its names: Age older. @param {string[]} names @param {Level[]} levels */
export function sayContext(names, levels) {
  return names.map((name, i) => `${name} ${levels[i]}`).join(", ");
}

/** Name a row of a table, whatever its numbers. @param {{arm: Level[], context: Level[]}} row */
export function rowKey({ arm, context }) {
  return JSON.stringify([arm, context]);
}

/**
 * @template {Interval} Row
 * @param {Row[]} rows
 * @param {string[]} context
 * @returns {[string, Row[]][]}
 */
function groupByContext(rows, context) {
  /** @type {Map<string, Row[]>} */
  const groups = new Map();
  for (const row of rows) {
    const name = sayContext(context, row.context);
    const group = groups.get(name);
    if (group) group.push(row);
    else groups.set(name, [row]);
  }
  return [...groups];
}

/** Zoom a scale to what is drawn on it, within the range that is possible. @param {Interval[]} rows @param {[number, number]} range @param {number[]} also @returns {[number, number]} */
function zoom(rows, [least, most], also = []) {
  const ends = [...also, ...rows.flatMap((row) => [row.lower, row.upper])];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const room = (high - low || most - least) * 0.06;
  return [Math.max(least, low - room), Math.min(most, high + room)];
}

/**
 * Draw the intervals of a table. Thin is where the truth lies with the confidence asked for, thick
 * is what the log's estimates alone would give; `before` is drawn behind, to compare with.
 *
 * @param {BoundResult} result
 * @param {{
 *   width: number, sort?: Sort, chosen?: string | null, before?: BoundResult | null,
 *   onChoose?: ((row: BoundRow) => void) | null,
 * }} options
 */
export function drawIntervals(result, { width, sort = "subgroup", chosen = null, before = null, onChoose = null }) {
  const old = new Map(before?.rows.map((row) => [rowKey(row), row]));
  const scale = zoom([...result.rows, ...(before?.rows ?? [])], result.outcome_range);
  return drawPicture(result, result.rows, {
    width, scale, sort, label: t("intervals.bounds_on_the_mean_outcome_under"),
    describe: (row) => ({
      kind: `interval${row.ruled_out_by ? " out" : ""}`, note: row.ruled_out_by ? t("answers.ruled_out") : "", chosen: chosen === rowKey(row), before: old.get(rowKey(row)) ?? null,
    }),
    onChoose,
  });
}

/** Draw effects around zero, in the color of better or worse. @param {BoundResult} result @param {EffectRow[]} rows @param {number} width @param {Sort} sort */
export function drawEffects(result, rows, width, sort = /** @type {Sort} */ ("subgroup")) {
  const span = result.outcome_range[1] - result.outcome_range[0];
  return drawPicture(result, rows, {
    width, scale: zoom(rows, [-span, span], [0]), zero: true, sort, label: t("intervals.bounds_on_the_effect_of_each"),
    describe: ({ direction }) => ({
      kind: `effect ${direction === "inconclusive" ? "open" : (direction === "increase") === (result.goal === "max") ? "better" : "worse"}`,
      note: direction, chosen: false, before: null,
    }),
    onChoose: null,
  });
}

/**
 * @template {Interval} Row
 * @param {BoundResult} result
 * @param {Row[]} rows
 * @param {{
 *   width: number, scale: [number, number], label: string, zero?: boolean, sort: Sort,
 *   describe: (row: Row) => {kind: string, note: string, chosen: boolean, before: Interval | null},
 *   onChoose: ((row: Row) => void) | null,
 * }} how
 */
function drawPicture(result, rows, { width, scale: [low, high], label, zero = false, sort, describe, onChoose }) {
  const grouped = sort === "subgroup";
  /** @param {Row} row */
  const name = (row) => {
    const where = grouped ? "" : sayContext(result.context, row.context);
    return `${sayArm(result.treatments, row.arm)}${where ? `, ${where}` : ""}`;
  };
  const narrow = width < 480; // the numbers then stand above each line
  const left = Math.min(width * 0.38, Math.max(60, ...rows.map((row) => widthOf(name(row)) + 18)));
  const right = narrow ? 18 : RIGHT;
  /** @param {number} value */
  const place = (value) => left + ((value - low) / (high - low || 1)) * (width - left - right);
  const digits = high - low <= 2 ? 2 : high - low <= 100 ? 1 : 0;
  const parts = [];
  let y = 4;
  for (const [context, group] of grouped ? groupByContext(rows, result.context) : /** @type {[string, Row[]][]} */ ([["", sortRows(rows, sort)]])) {
    for (const words of context ? wrap(context, width - 8) : []) {
      parts.push(shape("text", { class: "group", x: 0, y: y + 16 }, words));
      y += 20;
    }
    if (context) y += HEAD - 20;
    for (const row of group) {
      const lines = wrap(name(row), left - 14);
      const height = Math.max(narrow ? ROW + 10 : ROW, lines.length * 16 + 10);
      parts.push(drawRow(row, { y, height, lines, place, left, narrow, width, context: sayContext(result.context, row.context), arm: sayArm(result.treatments, row.arm), onChoose, digits, zero, ...describe(row) }));
      y += height;
    }
    y += 6;
  }
  const values = ticks(low, high);
  const axis = shape("svg", { class: "axis-line", viewBox: `0 0 ${width} 22`, width, height: 22, "aria-hidden": "true" },
    ...values.map((value) => shape("text", { class: "tick-text", x: place(value), y: 15 }, write(value))));
  return element("div", { class: "chart" }, shape("svg", {
    class: zero ? "effects" : "intervals", viewBox: `0 0 ${width} ${y}`, width, height: y, role: "group", "aria-label": label,
  }, ...values.map((value) => shape("line", { class: zero && value === 0 ? "tick zero" : "tick", x1: place(value), x2: place(value), y1: 0, y2: y })), ...parts), axis);
}

/** @typedef {"subgroup" | "lower" | "upper" | "width"} Sort */

/** @template {Interval} Row @param {Row[]} rows @param {Sort} sort */
function sortRows(rows, sort) {
  /** @param {Row} row */
  const key = (row) => (sort === "lower" ? -row.lower : sort === "upper" ? -row.upper : row.upper - row.lower);
  return [...rows].sort((a, b) => key(a) - key(b));
}

/** @param {Interval} row @param {any} how */
function drawRow(row, { y, height, lines, place, left, narrow, width, context, arm, kind, note, chosen, before, onChoose, digits, zero }) {
  const middle = y + height / 2 + (narrow ? 6 : 0);
  const words = t("intervals.between_and", arm, context ? t("intervals.where", context) : "", write(row.lower), write(row.upper), note ? `, ${note}` : "");
  /** @param {number} value */
  const say = (value) => `${zero && value > 0 ? "+" : ""}${value.toFixed(digits)}`;
  const part = shape("g", {
    class: chosen ? `${kind} chosen` : kind,
    ...(onChoose ? { role: "button", tabindex: "0", "aria-pressed": String(chosen), "data-key": rowKey(row) } : { role: "img" }),
    "aria-label": words,
  },
  shape("title", {}, words),
  shape("rect", { class: "ground", x: 0, y: y + 1, width, height: height - 2, rx: 5 }),
  ...lines.map((/** @type {string} */ line, /** @type {number} */ i) => shape("text", { class: "arm", x: left - 10, y: y + height / 2 + 5 + 16 * (i - (lines.length - 1) / 2) }, line)),
  before && shape("rect", { class: "before", x: place(before.lower), y: middle - 8, width: Math.max(2, place(before.upper) - place(before.lower)), height: 16, rx: 3 }),
  shape("line", { class: "span", x1: place(row.lower), x2: Math.max(place(row.upper), place(row.lower) + 2), y1: middle, y2: middle }),
  shape("line", { class: "cap", x1: place(row.lower), x2: place(row.lower), y1: middle - 6, y2: middle + 6 }),
  shape("line", { class: "cap", x1: place(row.upper), x2: place(row.upper), y1: middle - 6, y2: middle + 6 }),
  shape("rect", { class: "core", x: place(row.lower_estimate), y: middle - 5, width: Math.max(3, place(row.upper_estimate) - place(row.lower_estimate)), height: 10, rx: 2 }),
  shape("text", { class: "ends", x: width - 4, y: narrow ? y + 12 : middle + 4.5 }, t("intervals.to", say(row.lower), say(row.upper))));
  if (onChoose) {
    part.addEventListener("click", () => onChoose(row));
    part.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        onChoose(row);
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        const all = [...(part.ownerSVGElement?.querySelectorAll(".interval") ?? [])];
        const next = all[all.indexOf(part) + (event.key === "ArrowDown" ? 1 : -1)];
        if (next instanceof SVGElement) next.focus();
      }
    });
  }
  return part;
}

/** Find about five round numbers on a scale. @param {number} low @param {number} high */
export function ticks(low, high) {
  const span = high - low || 1;
  const rough = span / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) found.push(Number(value.toPrecision(10)));
  return found;
}

/** Write the same as a table, with all its numbers. @param {BoundResult} result */
export function drawTable(result) {
  const names = [...result.treatments, ...result.context];
  return element("div", { class: "box", tabindex: "0", role: "region", "aria-label": t("intervals.the_bounds_as_a_table") },
    element("table", {},
      element("thead", {}, element("tr", {},
        ...names.map((name) => element("th", { scope: "col" }, name)),
        ...[t("intervals.lower"), t("intervals.upper"), t("intervals.unadjusted"), t("intervals.rows")].map((name) => element("th", { scope: "col", class: "number" }, name)),
        element("th", { scope: "col" }, t("intervals.by")))),
      element("tbody", {}, ...result.rows.map((row) =>
        element("tr", {},
          ...[...row.arm, ...row.context].map((value, i) =>
            i === 0 ? element("th", { scope: "row" }, String(value)) : element("td", {}, String(value))),
          element("td", { class: "number" }, write(row.lower)),
          element("td", { class: "number" }, write(row.upper)),
          element("td", { class: "number" }, row.unadjusted === null ? "" : write(row.unadjusted)),
          element("td", { class: "number" }, count(row.n)),
          element("td", {}, row.lower_rule === row.upper_rule ? row.lower_rule : `${row.lower_rule} / ${row.upper_rule}`))))));
}
