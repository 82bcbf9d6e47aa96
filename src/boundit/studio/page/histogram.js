// @ts-check
/** A histogram with the edges of bins on it, which a mouse or the arrow keys move. */

import { element, redraw, shape, write } from "./dom.js";
import { t } from "./words.js";

const WIDTH = 460;
const HEIGHT = 96;
const TOP = 8;

/**
 * The picture of one column's numbers. Whoever made it hears `bins` when an edge was moved, added
 * or removed, with the new edges in order.
 */
export class BinHistogram extends HTMLElement {
  /** @type {{edges: number[], counts: number[]}} */
  #histogram = { edges: [0, 1], counts: [0] };
  /** @type {number[]} */
  #bins = [];
  #name = "";
  #svg = shape("svg", { class: "histogram", viewBox: `0 0 ${WIDTH} ${HEIGHT + 22}` });
  #list = element("div", { class: "bin-list" });

  /**
   * @param {string} name
   * @param {{edges: number[], counts: number[]}} histogram
   * @param {number[]} bins
   * @param {{cuts?: boolean}} [options] whether it may be cut
   */
  show(name, histogram, bins, { cuts = true } = {}) {
    this.#name = name;
    this.#histogram = histogram;
    this.#bins = [...bins];
    if (!this.isConnected || this.childElementCount === 0) this.append(this.#svg, ...(cuts ? [this.#list] : []));
    this.#draw();
  }

  get #low() {
    return this.#histogram.edges[0];
  }

  get #high() {
    return this.#histogram.edges.at(-1) ?? 1;
  }

  /** @param {number} value */
  #place(value) {
    return ((value - this.#low) / (this.#high - this.#low || 1)) * (WIDTH - 20) + 10;
  }

  #draw() {
    const { edges, counts } = this.#histogram;
    const most = Math.max(...counts, 1);
    const bars = counts.map((count, i) => {
      const high = (count / most) * (HEIGHT - TOP);
      const x = this.#place(edges[i]);
      return shape("rect", { class: "bar", x, y: HEIGHT - high, width: Math.max(0.5, this.#place(edges[i + 1]) - x - 1), height: high });
    });
    redraw(this.#svg,
      shape("g", { role: "img", "aria-label": t("histogram.histogram_of_from_to", this.#name, write(this.#low), write(this.#high)) }, ...bars),
      shape("line", { class: "axis", x1: 10, x2: WIDTH - 10, y1: HEIGHT, y2: HEIGHT }),
      shape("text", { class: "tick", x: 10, y: HEIGHT + 16 }, write(this.#low)),
      shape("text", { class: "tick end", x: WIDTH - 10, y: HEIGHT + 16 }, write(this.#high)),
      ...this.#bins.map((value, i) => this.#drawEdge(value, i)));
    redraw(this.#list, ...this.#drawInputs());
  }

  /** @param {number} value @param {number} i */
  #drawEdge(value, i) {
    const part = shape("g", {
      class: "bin-edge", role: "slider", tabindex: "0", "data-key": `edge ${i}`,
      "aria-label": t("histogram.cut_of_of_delete_takes_it", i + 1, this.#bins.length, this.#name),
      "aria-valuenow": value, "aria-valuemin": this.#low, "aria-valuemax": this.#high, "aria-valuetext": write(value),
      transform: `translate(${this.#place(value)} 0)`,
    }, shape("line", { y1: 0, y2: HEIGHT + 4 }), shape("rect", { x: -5, y: 0, width: 10, height: 16, rx: 3 }));
    part.addEventListener("keydown", (event) => {
      const step = ((this.#high - this.#low) / 100) * (event.shiftKey ? 10 : 1);
      const moves = /** @type {Record<string, number>} */ ({ ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step });
      if (event.key === "Delete" || event.key === "Backspace") this.#tell(this.#bins.filter((_, j) => j !== i));
      else if (moves[event.key]) this.#tell(this.#bins.map((each, j) => (j === i ? this.#round(each + moves[event.key]) : each)));
      else return;
      event.preventDefault();
    });
    part.addEventListener("pointerdown", (event) => this.#startMove(event, part, i));
    return part;
  }

  /** @param {PointerEvent} event @param {SVGGElement} part @param {number} i */
  #startMove(event, part, i) {
    event.preventDefault();
    part.focus();
    part.setPointerCapture(event.pointerId);
    let value = this.#bins[i];
    /** @param {PointerEvent} moved */
    const move = (moved) => {
      const box = this.#svg.getBoundingClientRect();
      const x = ((moved.clientX - box.left) / box.width) * WIDTH;
      const share = Math.min(1, Math.max(0, (x - 10) / (WIDTH - 20)));
      value = this.#round(this.#low + share * (this.#high - this.#low));
      part.setAttribute("transform", `translate(${this.#place(value)} 0)`);
    };
    part.addEventListener("pointermove", move);
    part.addEventListener("pointerup", () => {
      part.removeEventListener("pointermove", move);
      this.#tell(this.#bins.map((each, j) => (j === i ? value : each)));
    }, { once: true });
  }

  #drawInputs() {
    return [
      element("span", { class: "quiet" }, this.#bins.length ? t("histogram.cut_at") : t("histogram.not_cut_every_number_is_a")),
      ...this.#bins.flatMap((value, i) => [
        element("input", {
          type: "number", step: "any", value, "data-key": `input ${i}`, "aria-label": t("histogram.cut_of", i + 1, this.#name),
          onchange: (/** @type {Event} */ event) => {
            const typed = /** @type {HTMLInputElement} */ (event.target).valueAsNumber; // NaN where it was emptied
            this.#tell(this.#bins.map((each, j) => (j === i ? typed : each)).filter(Number.isFinite));
          },
        }),
        this.#bins.length > 1 && element("button", {
          type: "button", class: "small", "data-key": `drop ${i}`, "aria-label": t("histogram.take_away_cut_of", write(value), this.#name),
          onclick: () => this.#tell(this.#bins.filter((_, j) => j !== i)),
        }, "✕"),
      ]),
      this.#bins.length === 0 && element("button", { type: "button", class: "small", "data-key": "suggest", onclick: () => this.#tell(this.#findQuartiles()) }, t("histogram.cut_into_quarters")),
      element("button", { type: "button", class: "small", "data-key": "add", onclick: () => this.#add() }, t("histogram.add_a_cut")),
      this.#bins.length > 0 &&
        element("button", { type: "button", class: "small", "data-key": "clear", onclick: () => this.#tell([]) }, t("histogram.do_not_cut")),
    ].filter((each) => each instanceof Node);
  }

  /** Find the cuts that split the rows into quarters, as far as the bars tell. */
  #findQuartiles() {
    const { edges, counts } = this.#histogram;
    const all = counts.reduce((sum, each) => sum + each, 0);
    return [0.25, 0.5, 0.75].map((share) => {
      let before = 0;
      let i = 0;
      while (i < counts.length - 1 && before + counts[i] < share * all) before += counts[i++];
      return this.#round(edges[i] + ((share * all - before) / (counts[i] || 1)) * (edges[i + 1] - edges[i]));
    });
  }

  /** Add a cut in the widest gap. */
  #add() {
    const all = [this.#low, ...this.#bins, this.#high];
    let best = 0;
    for (let i = 1; i + 1 < all.length; i += 1) {
      if (all[i + 1] - all[i] > all[best + 1] - all[best]) best = i;
    }
    this.#tell([...this.#bins, this.#round((all[best] + all[best + 1]) / 2)]);
  }

  /** Keep a cut short enough to read, and fine enough for how far the numbers reach. @param {number} value */
  #round(value) {
    const unit = 10 ** (Math.floor(Math.log10(this.#high - this.#low || 1)) - 2);
    return Number((Math.round(value / unit) * unit).toPrecision(12));
  }

  /** @param {number[]} bins */
  #tell(bins) {
    const sorted = [...new Set(bins)].sort((a, b) => a - b);
    this.dispatchEvent(new CustomEvent("bins", { detail: sorted }));
  }
}

customElements.define("bin-histogram", BinHistogram);
