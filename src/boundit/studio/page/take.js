// @ts-check
/** Take it away: the report, the project as a file or a link, the graph in other formats. */

/** @import { Project } from "./types.js" */
/** @import { Studio } from "./studio.js" */
/** @import { Answers } from "./answers.js" */
import { announce, download, element, redraw, wait } from "./dom.js";
import { writeLink } from "./link.js";
import { JobLine } from "./job.js";
import { Latest } from "./latest.js";
import { drawFault, faultOf, makeCopy, makeTaken } from "./studio.js";
import { ask } from "./transport.js";

const FORMATS = [
  ["boundit", "boundit text", "txt"], ["dagitty", "DAGitty", "dagitty"], ["dot", "DOT", "dot"], ["json", "JSON", "json"], ["svg", "Picture (SVG)", "svg"],
];

/**
 * @param {HTMLElement} root
 * @param {Studio} studio
 * @param {Answers} answers
 * @param {(text: () => Promise<string>, label: string, refuse: (error: unknown) => void) => void} open reads a project's text and shows it
 */
export function showTake(root, studio, answers, open) {
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
  const saveButton = element("button", { type: "button" }, "Project file");
  saveButton.addEventListener("click", attempt(
    () => ask("/api/project/write", { project: studio.project }),
    (made) => download(made.name, made.text, "application/json")));
  const file = element("input", { type: "file", id: "project-file", class: "unseen", accept: ".json,.boundit" });
  file.addEventListener("change", () => {
    const [chosen] = file.files ?? [];
    redraw(fault);
    if (chosen) open(() => chosen.text(), `open ${chosen.name}`, complain);
    file.value = "";
  });
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
  const showTaken = makeTaken(code, studio, "bound");
  const showCode = wait(200, () => {
    if (answers.ready) showTaken();
    else redraw(code, element("p", { class: "quiet" }, "Once there is a question and a log, the command and the Python that repeat the answer stand here."));
  });
  root.append(
    section("The answer", "Everything on one page, to send or to keep: it needs no studio and no network.", element("div", { class: "ask-line" }, report, line.root)),
    section("The same without the studio", "These give the same numbers.", code),
    section("The project", "Graph, question and settings, without the data. A link holds the same after its #, and neither host nor token.",
      element("div", { class: "row" }, saveButton, linkButton, element("label", { for: "project-file", class: "button" }, "Open a project file"), file), link),
    section("The graph", "Each format can be read back as the same graph; the picture has its legend.",
      element("div", { class: "row" }, ...formats), text),
    fault);
  studio.store.addEventListener("change", () => {
    show();
    showCode();
    link.replaceChildren();
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
