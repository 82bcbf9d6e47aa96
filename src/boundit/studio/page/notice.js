// @ts-check
/** Notices: what went wrong is seen where the person looks, wherever on the page it is written. */

import { announce, get } from "./dom.js";

/** The fault that a notice repeats, at most until it is seen itself. @type {Element | null} */
let repeated = null;
/** What the person did something with last. @type {Node | null} */
let acted = null;

/** Say what could not be done, to eyes and to screen readers, until the next thing is done. @param {string} words */
export function complain(words) {
  show(words);
  announce(words);
}

/** @param {string} words none: no notice */
function show(words) {
  repeated = null;
  const notice = get("notice");
  notice.textContent = words;
  notice.hidden = words === "";
}

/** From now on, repeat a new fault of the part that one works in when it is out of sight; screen readers hear it where it is. */
export function showNotices() {
  const seen = new IntersectionObserver((found) => {
    for (const { target, isIntersecting } of found) {
      if (isIntersecting) seen.unobserve(target);
      if (isIntersecting && target === repeated) show("");
      if (isIntersecting || target === repeated || !isOfPart(target)) continue;
      show(target.textContent ?? "");
      repeated = target;
    }
  });
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      const near = target instanceof Element ? target.closest(".fault") : null;
      const inside = [...addedNodes].flatMap((node) => (node instanceof Element ? [node, ...node.querySelectorAll(".fault")] : []));
      for (const fault of [near, ...inside]) {
        if (!fault?.matches(".fault") || !fault.textContent) continue;
        seen.unobserve(fault); // or what it says now would not be looked at
        seen.observe(fault);
      }
    }
    if (repeated && (!repeated.isConnected || !repeated.matches(".fault") || !repeated.textContent)) show("");
  }).observe(document.body, { childList: true, subtree: true });
  for (const name of ["pointerdown", "keydown", "change", "drop"]) {
    addEventListener(name, ({ target }) => {
      acted = target instanceof Node ? target : null;
      show("");
    }, { capture: true });
  }
}

/** Tell whether a fault is in the part that one works in, or of the whole page. @param {Element} fault */
function isOfPart(fault) {
  const part = fault.closest(".panel, #graph-part, #text-part, dialog, header");
  return part !== null && (part.matches("header") || part.contains(acted));
}
