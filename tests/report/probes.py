"""What is asked of a page in the browser: scripts that give lists of what is amiss."""

OVERLAPS = """(selector) => {
  const boxes = [...document.querySelectorAll(selector)]
    .filter((e) => e.checkVisibility())
    .map((e) => [e.getBoundingClientRect(), e.textContent, e.closest("svg")]);
  const found = [];
  for (const [i, [a, words, drawing]] of boxes.entries())
    for (const [b, others, other] of boxes.slice(i + 1))
      if (drawing === other && a.left < b.right - 1 && b.left < a.right - 1
          && a.top < b.bottom - 3 && b.top < a.bottom - 3) found.push([words, others]);
  return found;
}"""
OUTSIDE_THEIR_SHEET = """() => [...document.querySelectorAll("figure svg text")]
  .filter((e) => e.checkVisibility()).filter((text) => {
    const drawing = text.closest("svg").getBoundingClientRect();
    const box = text.getBoundingClientRect();
    return box.left < drawing.left - 1 || box.right > drawing.right + 1
      || box.top < drawing.top - 2 || box.bottom > drawing.bottom + 2;
  }).map((text) => text.textContent)"""
FAINT = """() => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const over = ([r, g, b, a], [x, y, z]) =>
    [[r, x], [g, y], [b, z]].map(([c, d]) => (c * a + d * (255 - a)) / 255);
  const ground = (e) => e ? over(rgba(getComputedStyle(e).backgroundColor),
    ground(e.parentElement)) : [255, 255, 255];
  const light = (rgb) => rgb.map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const faint = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !e.checkVisibility() || e.matches("title, desc, script")) continue;
    const style = getComputedStyle(e), below = ground(e);
    const ink = over(rgba(e.closest("svg") ? style.fill : style.color), below);
    const [low, high] = [light(ink), light(below)].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) faint.push([e.textContent.slice(0, 40), contrast]);
  }
  return faint;
}"""
NAMELESS = """() => [...document.querySelectorAll("svg, [role=region], input, nav")]
  .filter((e) => e.getAttribute("aria-hidden") !== "true" && !e.getAttribute("aria-label")
    && !e.querySelector(":scope > title")?.textContent && !e.closest("label"))
  .map((e) => e.outerHTML.slice(0, 80))"""
HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .map((e) => Number(e.tagName[1]))"""
OUTSIDE_THEIR_NODE = """() => [...document.querySelectorAll(".graph .node")].filter((node) => {
  const frame = node.querySelector("rect").getBoundingClientRect();
  return [...node.querySelectorAll("text")].some((label) => {
    const box = label.getBoundingClientRect();
    return box.left < frame.left || box.right > frame.right
      || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
  });
}).map((node) => node.textContent)"""
