// @ts-check
/** Which part of the drawing is seen, and how large: fit, zoom and pan, as the SVG's view box. */

/** @import { GraphNode } from "./types.js" */
import { frameNodes } from "./strokes.js";

const MARGIN = 28;
const LARGEST = 1.3;
const SMALLEST = 0.2;

export class Viewport {
  #svg;
  /** Whether the person left the view as it was fitted: then it stays fitted when resized. */
  fitted = true;
  x = 0;
  y = 0;
  scale = 1;

  /** @param {SVGSVGElement} svg */
  constructor(svg) {
    this.#svg = svg;
  }

  get size() {
    return { width: this.#svg.clientWidth || 600, height: this.#svg.clientHeight || 400 };
  }

  /** Show all nodes, no larger than life. @param {GraphNode[]} nodes */
  fit(nodes) {
    const { width, height } = this.size;
    const box = nodes.length ? frameNodes(nodes, MARGIN) : { left: 0, top: 0, right: 600, bottom: 400 };
    this.scale = Math.max(
      SMALLEST,
      Math.min(LARGEST, width / (box.right - box.left), height / (box.bottom - box.top)),
    );
    this.x = (box.left + box.right) / 2 - width / this.scale / 2;
    this.y = (box.top + box.bottom) / 2 - height / this.scale / 2;
    this.fitted = true;
    this.apply();
  }

  /** Show a node in the middle, at least at life size. @param {GraphNode} node */
  center(node) {
    const { width, height } = this.size;
    this.scale = Math.max(1, this.scale);
    this.x = node.x - width / this.scale / 2;
    this.y = node.y - height / this.scale / 2;
    this.fitted = false;
    this.apply();
  }

  /** Tell whether all of a node is seen. @param {GraphNode} node */
  holds(node) {
    const { width, height } = this.size;
    const box = frameNodes([node], 0);
    return (
      box.left >= this.x &&
      box.top >= this.y &&
      box.right <= this.x + width / this.scale &&
      box.bottom <= this.y + height / this.scale
    );
  }

  /** Draw everything larger or smaller around a point of the screen, or the middle. @param {number} factor @param {PointerEvent | WheelEvent} [around] */
  zoom(factor, around) {
    const { width, height } = this.size;
    const centre = around
      ? this.locate(around)
      : { x: this.x + width / this.scale / 2, y: this.y + height / this.scale / 2 };
    const scale = Math.max(SMALLEST, Math.min(3, this.scale * factor));
    this.x = centre.x - ((centre.x - this.x) * this.scale) / scale;
    this.y = centre.y - ((centre.y - this.y) * this.scale) / scale;
    this.scale = scale;
    this.fitted = false;
    this.apply();
  }

  /** @param {number} dx in pixels of the screen @param {number} dy */
  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.fitted = false;
    this.apply();
  }

  /** Find the point of the drawing under a pointer. @param {{clientX: number, clientY: number}} event */
  locate(event) {
    const box = this.#svg.getBoundingClientRect();
    return {
      x: this.x + (event.clientX - box.left) / this.scale,
      y: this.y + (event.clientY - box.top) / this.scale,
    };
  }

  apply() {
    const { width, height } = this.size;
    this.#svg.classList.toggle("moved", !this.fitted);
    this.#svg.setAttribute(
      "viewBox",
      `${this.x} ${this.y} ${width / this.scale} ${height / this.scale}`,
    );
  }
}
