"use strict";
for (const element of document.querySelectorAll("script.rows")) {
  const part = document.getElementById(element.dataset.part);
  const table = part.querySelector("table.bounds");
  const search = part.querySelector(".search");
  const pager = part.querySelector(".pager");
  const [input, number] = [search, pager].map((bar) => bar.querySelector("input"));
  const atOnce = table.querySelectorAll(".row").length;
  const total = Number(pager.dataset.total);
  const say = (n) => n.toLocaleString("en");

  const unpack = ({ bytes, base64 }) => {
    const letters = atob(base64);
    const found = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i += 1) found[i] = letters.charCodeAt(i);
    const kind = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[bytes];
    return new kind(found.buffer);
  };

  // Read when first needed, so that the page is there at once.
  let kept = null;
  const read = () => {
    if (kept) return kept;
    kept = JSON.parse(element.textContent);
    element.remove();
    for (const name of ["arms", "contexts", "looks", "groups"]) kept[name] = unpack(kept[name]);
    kept.holders = { arm: kept.arms, context: kept.contexts };
    return kept;
  };
  const getCode = (place, row) => {
    const column = kept.columns[place];
    if (!ArrayBuffer.isView(column.codes)) column.codes = unpack(column.codes);
    return column.codes[column.by === "row" ? row : kept.holders[column.by][row]];
  };
  const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  const fill = (html, row) =>
    html.replace(/[\u{F0000}-\u{FFFFC}]\u{FFFFD}*/gu, (blank) => {
      const place = blank.codePointAt(0) - 0xf0000;
      const text = kept.columns[place].texts[getCode(place, row)];
      return text.replace(/[&<>"']/g, (sign) => escapes[sign]).replaceAll("\n", "</li><li>");
    });
  const explain = (row) => {
    const shape = kept.shapes[kept.groups[row]];
    return fill(shape.map((place) => kept.blocks[place]).join(""), row);
  };

  let found = null; // the rows that were sought; null for all
  let page = 0;
  const count = () => (found ? found.length : total);
  const countPages = () => Math.max(1, Math.ceil(count() / atOnce));
  const describe = () => {
    const [start, end] = [page * atOnce, Math.min((page + 1) * atOnce, count())];
    pager.querySelector("output").value = count()
      ? `rows ${say(start + 1)} to ${say(end)} of ${say(count())}`
      : "no rows";
    pager.querySelector("span").textContent = say(countPages());
    number.value = page + 1;
    number.max = countPages();
    for (const button of pager.querySelectorAll("button")) {
      const back = ["first", "previous"].includes(button.dataset.to);
      button.setAttribute("aria-disabled", back ? page === 0 : page === countPages() - 1);
    }
  };
  const show = (to) => {
    read();
    page = Math.min(Math.max(to, 0), countPages() - 1);
    const [rows, parts] = [[], []];
    for (let i = page * atOnce; i < Math.min((page + 1) * atOnce, count()); i += 1) {
      const row = found ? found[i] : i;
      const above = rows.at(-1);
      if (above === undefined || kept.contexts[above] !== kept.contexts[row])
        parts.push(fill(kept.heading, row));
      parts.push(fill(kept.rows[kept.looks[row]], row));
      rows.push(row);
    }
    for (const body of table.querySelectorAll("tbody")) body.remove();
    table.insertAdjacentHTML("beforeend", parts.join(""));
    table.querySelectorAll(".row").forEach((body, i) => { body.id = `row-${rows[i] + 1}`; });
    part.querySelector(".box").scrollTop = 0;
    describe();
  };

  const seek = () => {
    read();
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = null;
    for (const word of words) {
      const fitting = kept.sought.map((place) =>
        kept.columns[place].texts.map((text) => text.toLowerCase().includes(word)));
      const fits = (row) => kept.sought.some((place, k) => fitting[k][getCode(place, row)]);
      const rows = [];
      for (let i = 0; i < count(); i += 1) {
        const row = found ? found[i] : i;
        if (fits(row)) rows.push(row);
      }
      found = rows;
    }
    search.querySelector("output").value = found ? `${say(found.length)} of ${say(total)}` : "";
    show(0);
  };

  table.addEventListener("toggle", (event) => {
    const box = event.target.querySelector(".explanation");
    if (!box || box.firstElementChild) return;
    box.innerHTML = explain(Number(event.target.closest(".row").id.slice(4)) - 1);
    table.dispatchEvent(new Event("explained", { bubbles: true }));
  }, true);
  pager.addEventListener("click", (event) => {
    const { to } = event.target.dataset;
    if (!to || event.target.getAttribute("aria-disabled") === "true") return;
    show({ first: 0, previous: page - 1, next: page + 1, last: countPages() - 1 }[to]);
  });
  number.addEventListener("change", () => show(Math.round(Number(number.value)) - 1));
  input.addEventListener("input", seek);
  const follow = () => {
    const row = /^#row-(\d+)$/.exec(location.hash);
    if (!row || Number(row[1]) > total || document.getElementById(row[0].slice(1))) return;
    input.value = "";
    seek();
    show(Math.floor((Number(row[1]) - 1) / atOnce));
    document.getElementById(row[0].slice(1)).scrollIntoView();
  };
  addEventListener("hashchange", follow);
  search.hidden = false;
  pager.hidden = false;
  describe();
  follow();
}
