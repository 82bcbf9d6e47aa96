// @ts-check
/** Small helpers that make elements, and keep the focus where it was when parts are redrawn. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an HTML element. A function given as `onclick` and the like listens; `true` sets a bare
 * attribute; `false`, null and undefined set none.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  fill(made, attributes, children);
  return made;
}

/**
 * Make an SVG element, by the same rules.
 *
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function shape(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  fill(made, attributes, children);
  return made;
}

/**
 * @param {Element} made
 * @param {Record<string, any>} attributes
 * @param {(Node | string | null | undefined | false)[]} children
 */
function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (name === "value" && made instanceof HTMLInputElement) made.defaultValue = String(value ?? "");
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(name, String(value));
    }
  }
  for (const child of children) if (child) made.append(child);
}

/**
 * Replace what is inside an element; the part with the same `data-key` as the focused one gets
 * the focus back, so that a redraw never throws a keyboard user out, and what was opened stays so.
 * A field keeps what was typed into it and is not taken yet.
 *
 * @param {Element} parent
 * @param {...(Node | string | null | undefined | false)} children
 */
export function redraw(parent, ...children) {
  const active = document.activeElement;
  const key = active && parent.contains(active) ? active.getAttribute("data-key") : null;
  const opened = [...parent.querySelectorAll("details[open][data-key]")].map((each) => each.getAttribute("data-key"));
  parent.replaceChildren(...children.filter((each) => each instanceof Node || typeof each === "string"));
  for (const each of parent.querySelectorAll("details[data-key]")) {
    if (opened.includes(each.getAttribute("data-key"))) each.setAttribute("open", "");
  }
  if (key === null) return;
  const again = parent.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (active instanceof HTMLInputElement && again instanceof HTMLInputElement) keepTyped(active, again);
  if (again instanceof HTMLElement || again instanceof SVGElement) again.focus({ preventScroll: true });
}

/** Carry what was typed over, unless the field holds something newer. @param {HTMLInputElement} before @param {HTMLInputElement} after */
function keepTyped(before, after) {
  if (!/^(text|number)$/.test(before.type) || before.defaultValue !== after.defaultValue || before.value === before.defaultValue) return;
  after.value = before.value;
  if (before.type === "text") after.setSelectionRange(before.selectionStart, before.selectionEnd);
}

/**
 * Find an element that the page is sure to have.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function get(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element #${id}`);
  return found;
}

/** Tell a screen reader something, once. @param {string} words */
export function announce(words) {
  const live = get("announcements");
  live.textContent = "";
  requestAnimationFrame(() => {
    live.textContent = words;
  });
}

/**
 * Call a function once nothing was asked for a while.
 *
 * @template {any[]} A
 * @param {number} milliseconds
 * @param {(...args: A) => void} call
 * @returns {(...args: A) => void}
 */
export function wait(milliseconds, call) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...args), milliseconds);
  };
}

/**
 * Make a function that calls only when what it depends on has changed since the last time.
 *
 * @template {any[]} A
 * @param {(...args: A) => void} call
 * @returns {(depends: unknown, ...args: A) => void}
 */
export function whenNew(call) {
  let before = "";
  return (depends, ...args) => {
    const now = JSON.stringify(depends);
    if (now === before) return;
    before = now;
    call(...args);
  };
}

/** Write a number as the command line does, with four digits. @param {number} value */
export function write(value) {
  return Number.isFinite(value) ? String(Number(value.toPrecision(4))) : String(value);
}

/** Write a count with separators, as 10,225. @param {number} value */
export function count(value) {
  return Math.round(value).toLocaleString("en");
}

/**
 * Offer a text or bytes as a file to keep.
 *
 * @param {string} name
 * @param {BlobPart} content
 * @param {string} [type]
 */
export function download(name, content, type = "text/plain;charset=utf-8") {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
