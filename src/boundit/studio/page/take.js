// @ts-check
/** Take it away: the report, the project as a file or a link, the graph in other formats. */

/** @import { Project } from "./types.js" */
/** @import { Studio } from "./studio.js" */
/** @import { Answers } from "./answers.js" */
import { announce, count, download, element, redraw, wait } from "./dom.js";
import { writeLink } from "./link.js";
import { JobLine } from "./job.js";
import { Latest } from "./latest.js";
import { drawFault, faultOf, makeCopy, makeTaken } from "./studio.js";
import { ask } from "./transport.js";

/** What the command and the Python can repeat, the most asked for first. */
const PARTS = [
  ["effect", "Effects"], ["bound", "Bounds on means"], ["choose", "Which arm to choose"], ["identify", "What the graph alone says"], ["check", "Tests of the graph"],
  ["suggest", "What would narrow the bounds"], ["stress", "Stress test"], ["simulate", "Policies"], ["report", "Report"], ["graph", "Graph"],
];
const FORMATS = [
  ["boundit", "boundit text", "txt"], ["dagitty", "DAGitty", "dagitty"], ["dot", "DOT", "dot"], ["json", "JSON", "json"], ["svg", "Picture (SVG)", "svg"],
];

/**
 * @param {HTMLElement} root
 * @param {Studio} studio
 * @param {Answers} answers
 * @param {{file: string | null, save: () => Promise<boolean>}} files
 */
export function showTake(root, studio, answers, files) {
  const fault = element("div", { class: "take-fault" });
  const code = element("div", { class: "repeat-inside" });
  const line = new JobLine(studio, "Writing the report");
  const link = element("div", { class: "link-out" });
  const text = element("textarea", { rows: 8, readonly: true, "aria-label": "The graph in the chosen format", hidden: true, class: "graph-out" });
  const complain = (/** @type {unknown} */ error) => redraw(fault, drawFault(faultOf(error)));
  const latest = new Latest(() => studio.project);
  /**
   * Make what a button does: take something away as the project is now, or say why not.
   *
   * @template T
   * @param {() => Promise<T>} work
   * @param {(made: T) => void} take
   */
  const attempt = (work, take) => () => {
    redraw(fault);
    void latest.run(work, take, complain);
  };

  const report = element("button", { type: "button", class: "primary" }, "Report as one file");
  report.addEventListener("click", () => {
    redraw(fault);
    line.run("report", studio.project, { fault: complain, result: (made) => download(made.name, made.html, "text/html;charset=utf-8") });
  });
  const saveButton = element("button", { type: "button", "data-key": "save project" }, "Save in the folder");
  saveButton.addEventListener("click", attempt(() => files.save(), () => {}));
  const downloadButton = element("button", { type: "button", "data-key": "download project" }, "Download project file");
  downloadButton.addEventListener("click", attempt(
    () => ask("/api/project/write", { project: studio.project }),
    (made) => download(made.name, made.text, "application/json")));
  const exported = element("div", { class: "exported", "aria-live": "polite" });
  const exportButton = element("button", { type: "button", "data-key": "export" }, "Export with data");
  exportButton.addEventListener("click", attempt(
    () => ask("/api/projects/export", { project: studio.project }),
    ({ file, bytes, command }) => redraw(exported,
      element("p", {}, element("strong", {}, file), ` (${count(Math.max(1, bytes / 1000))} kB) is in the studio's folder. It contains the rows of the log. Whoever gets it opens it with`),
      element("div", { class: "code" }, element("div", { class: "code-head" }, element("span", {}, "Shell"), makeCopy(command, "the command")), element("pre", { tabindex: "0" }, element("code", {}, command))))));
  const linkButton = element("button", { type: "button" }, "Link");
  const makeLink = async () => writeLink((await ask("/api/project/write", { project: studio.project })).text);
  linkButton.addEventListener("click", attempt(makeLink, (address) => {
    redraw(link, element("div", { class: "code" },
      element("div", { class: "code-head" }, element("span", {}, "After any studio's address"), makeCopy(address, "the link")),
      element("pre", { tabindex: "0" }, element("code", {}, address))));
    announce("The link is ready to copy");
  }));

  const formats = FORMATS.map(([format, title, ending]) => {
    const button = element("button", { type: "button", "data-format": format }, title);
    const write = () => {
      const { graph, query } = studio.project;
      return ask("/api/graph/write", { graph, format, query });
    };
    button.addEventListener("click", attempt(write, (made) => {
      text.value = made.text;
      text.hidden = false;
      download(`${fileName(studio.project)}.${ending}`, made.text, format === "svg" ? "image/svg+xml" : undefined);
      announce(`${title} downloaded`);
    }));
    return button;
  });

  const show = () => {
    report.disabled = !answers.ready;
    report.title = answers.ready ? "" : "Ask a question of a log first";
  };
  const part = element("select", { id: "take-part", "data-key": "take part" }, ...PARTS.map(([value, words]) => element("option", { value }, words)));
  const takers = new Map(PARTS.map(([value]) => [value, makeTaken(code, studio, value)]));
  const showCode = wait(200, () => takers.get(part.value)?.());
  part.addEventListener("change", showCode);
  root.append(
    section("The answer", "Everything on one page, to send or to keep: it needs no studio and no network.", element("div", { class: "ask-line" }, report, line.root)),
    section("Code", "The command and the Python that repeat a part of this page.", element("div", { class: "field" }, element("label", { for: "take-part" }, "Part"), part), code),
    section("The project", "Graph, question and settings as a file, without the data. A link holds the same after its #. An export holds the log too: a colleague opens it with one command.",
      element("div", { class: "row" }, saveButton, downloadButton, exportButton, linkButton), exported, link),
    section("The graph", "Each format can be read back as the same graph; the picture has its legend.",
      element("div", { class: "row" }, ...formats), text),
    fault);
  studio.store.addEventListener("change", () => {
    show();
    showCode();
    link.replaceChildren();
    exported.replaceChildren();
    text.hidden = true;
  });
  answers.addEventListener("bounds", show);
  show();
  showCode();
}

/** @param {Project} project */
function fileName(project) {
  return (project.name || "graph").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "graph";
}

/** @param {string} title @param {string} words @param {...Node} children */
function section(title, words, ...children) {
  return element("section", { class: "take-part" }, element("h3", {}, title), element("p", { class: "quiet" }, words), ...children);
}
