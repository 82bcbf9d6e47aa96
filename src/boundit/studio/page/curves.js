// @ts-check
/** Curves of regret with their bands, one for each policy, each named at its end. */

/** @import { Curve } from "./types.js" */
import { count, element, shape, write } from "./dom.js";
import { ticks } from "./intervals.js";
import { boxWidth } from "./strokes.js";
import { t } from "./words.js";

const HEIGHT = 300;
const LEFT = 52;
const BOTTOM = 40;

/** @typedef {Curve & {name: string, bounds: boolean}} NamedCurve */

/** @param {NamedCurve[]} curves @param {number} width */
export function drawCurves(curves, width) {
  const longest = Math.max(...curves.map((each) => boxWidth(each.name, false)));
  const right = width < 480 ? 12 : Math.min(longest, width * 0.36);
  const last = Math.max(...curves.flatMap((each) => each.rounds), 1);
  const most = Math.max(...curves.flatMap((each) => each.high), 1e-9);
  const least = Math.min(0, ...curves.flatMap((each) => each.low));
  /** @param {number} round */
  const x = (round) => LEFT + (round / last) * (width - LEFT - right);
  /** @param {number} value */
  const y = (value) => HEIGHT - BOTTOM - ((value - least) / (most - least)) * (HEIGHT - BOTTOM - 14);
  const ends = spread(curves.map((each) => y(each.mean.at(-1) ?? 0)));
  return shape("svg", {
    class: "curves", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img",
    "aria-label": t("curves.regret_by_round", curves.map((each) => t("curves.at_the_end", each.name, write(each.mean.at(-1) ?? 0))).join("; ")),
  },
  ...ticks(least, most).map((value) =>
    shape("g", { class: "tick" }, shape("line", { x1: LEFT, x2: width - right, y1: y(value), y2: y(value) }),
      shape("text", { class: "left", x: LEFT - 8, y: y(value) + 4 }, write(value)))),
  ...ticks(0, last).map((value) => shape("text", { class: "below", x: x(value), y: HEIGHT - BOTTOM + 18 }, count(value))),
  shape("text", { class: "below", x: (LEFT + width - right) / 2, y: HEIGHT - 4 }, t("curves.round")),
  ...curves.map((curve, i) => {
    const up = curve.rounds.map((round, j) => `${x(round).toFixed(1)} ${y(curve.high[j]).toFixed(1)}`);
    const down = curve.rounds.map((round, j) => `${x(round).toFixed(1)} ${y(curve.low[j]).toFixed(1)}`).reverse();
    const line = curve.rounds.map((round, j) => `${x(round).toFixed(1)} ${y(curve.mean[j]).toFixed(1)}`);
    return shape("g", { class: `curve series-${(i % 8) + 1}${curve.bounds ? "" : " plain"}` },
      shape("path", { class: "band", d: `M${up.join("L")}L${down.join("L")}Z` }),
      shape("path", { class: "mean", d: `M${line.join("L")}` }),
      right > 20 && shape("text", { class: "name", x: width - right + 8, y: ends[i] + 4 }, curve.name));
  }));
}

/** Move labels apart that would lie on each other. @param {number[]} places */
function spread(places) {
  const order = places.map((_, i) => i).sort((a, b) => places[a] - places[b]);
  const found = [...places];
  for (let i = 1; i < order.length; i += 1) {
    found[order[i]] = Math.max(found[order[i]], found[order[i - 1]] + 15);
  }
  return found;
}

/** The same as a table. @param {NamedCurve[]} curves */
export function drawCurveTable(curves) {
  return element("div", { class: "box", tabindex: "0", role: "region", "aria-label": t("curves.regret_at_the_end") },
    element("table", {},
      element("thead", {}, element("tr", {}, ...[t("curves.policy"), t("curves.regret"), t("curves.band")].map((name, i) => element("th", { scope: "col", class: i ? "number" : "" }, name)))),
      element("tbody", {}, ...curves.map((curve, i) =>
        element("tr", {}, element("th", { scope: "row" }, element("span", { class: `swatch series-${(i % 8) + 1}${curve.bounds ? "" : " plain"}` }), curve.name),
          element("td", { class: "number" }, write(curve.mean.at(-1) ?? 0)),
          element("td", { class: "number" }, `${write(curve.low.at(-1) ?? 0)} – ${write(curve.high.at(-1) ?? 0)}`))))));
}
