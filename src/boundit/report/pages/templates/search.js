"use strict";
for (const field of document.querySelectorAll(".search")) {
  const input = field.querySelector("input");
  const output = field.querySelector("output");
  const bodies = [...field.parentElement.querySelectorAll("table.bounds > tbody")];
  const rows = bodies.filter((body) => body.classList.contains("row"));
  field.hidden = false;
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let heading = null;
    let found = 0;
    for (const body of bodies) {
      if (body.classList.contains("group")) {
        heading = body;
        heading.hidden = words.length > 0;
        continue;
      }
      const fits = words.every((word) => body.dataset.sought.includes(word));
      body.hidden = !fits;
      found += fits ? 1 : 0;
      if (fits && heading) heading.hidden = false;
    }
    const say = (n) => n.toLocaleString("en");
    output.value = words.length ? `${say(found)} of ${say(rows.length)}` : "";
  });
}
