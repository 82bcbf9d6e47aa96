"use strict";
{
  const drawn = document.querySelector("svg.graph");
  const panel = document.createElement("div");
  const caption = document.createElement("p");
  panel.className = "paths";
  panel.hidden = true;
  panel.setAttribute("role", "status");
  const copy = drawn.cloneNode(true);
  copy.setAttribute("aria-hidden", "true");
  panel.append(caption, copy);
  document.body.append(panel);

  const mark = (step) => {
    const read = (name) => (step ? JSON.parse(step.dataset[name]) : []);
    const sides = new Set(read("between").flat());
    const given = new Set(read("given"));
    const edges = new Set(read("edges"));
    for (const graph of [drawn, copy]) {
      graph.classList.toggle("lit", step !== null);
      for (const node of graph.querySelectorAll(".node")) {
        node.classList.toggle("side", sides.has(node.dataset.name));
        node.classList.toggle("given", given.has(node.dataset.name));
      }
      for (const edge of graph.querySelectorAll(".edge"))
        edge.classList.toggle("path", edges.has(edge.dataset.edge));
    }
    // The panel stands where the step does not, and only while the graph is out of sight.
    const place = drawn.getBoundingClientRect();
    const seen = place.top >= 0 && place.bottom <= innerHeight;
    panel.hidden = step === null || seen;
    caption.textContent = step ? step.dataset.caption : "";
    if (step) {
      const { top, bottom } = step.getBoundingClientRect();
      panel.classList.toggle("above", top + bottom > innerHeight);
    }
  };

  let pointed = null;
  let focused = null;
  const show = () => mark(pointed || focused);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") mark(null);
  });
  for (const step of document.querySelectorAll("li[data-between]")) {
    step.tabIndex = 0;
    step.addEventListener("pointerenter", () => { pointed = step; show(); });
    step.addEventListener("pointerleave", () => { pointed = null; show(); });
    step.addEventListener("focus", () => { focused = step; show(); });
    step.addEventListener("blur", () => { focused = null; show(); });
  }
}
