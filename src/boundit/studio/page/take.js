// @ts-check
/** Take it away: the report, the project as a file or a link, the graph in other formats. */

/** @import { Project } from "./types.js" */
/** @import { Studio } from "./studio.js" */
/** @import { Answers } from "./answers.js" */
import { announce, download, element, redraw, wait } from "./dom.js";
import { readLink, writeLink } from "./link.js";
import { drawFault, drawTaken, faultOf, JobLine, makeCopy } from "./studio.js";
import { ask } from "./transport.js";

const FORMATS = [
  ["boundit", "boundit text", "txt"], ["dagitty", "DAGitty", "dagitty"], ["dot", "DOT", "dot"], ["json", "JSON", "json"], ["svg", "Picture (SVG)", "svg"],
];

/**
 * @param {HTMLElement} root
 * @param {Studio} studio
 * @param {Answers} answers
 * @param {(text: string, label: string) => Promise<void>} open reads a project's text and shows it
 */
export function showTake(root, studio, answers, open) {
  const fault = element("div", { class: "take-fault" });
  const code = element("div", { class: "repeat-inside" });
  const line = new JobLine("Writing the report");
  const link = element("div", { class: "link-out" });
  const text = element("textarea", { rows: 8, readonly: true, "aria-label": "The graph in the chosen format", hidden: true, class: "graph-out" });
  /** @param {() => Promise<void>} act */
  const attempt = (act) => async () => {
    redraw(fault);
    try {
      await act();
    } catch (error) {
      redraw(fault, drawFault(faultOf(error)));
    }
  };

  const report = element("button", { type: "button", class: "primary" }, "Report as one file");
  report.addEventListener("click", attempt(async () => {
    const made = await line.run("report", studio.project);
    if (made) download(made.name, made.html, "text/html;charset=utf-8");
  }));
  const saveButton = element("button", { type: "button" }, "Project file");
  saveButton.addEventListener("click", attempt(async () => {
    const made = await ask("/api/project/write", { project: studio.project });
    download(made.name, made.text, "application/json");
  }));
  const file = element("input", { type: "file", id: "project-file", class: "unseen", accept: ".json,.boundit" });
  file.addEventListener("change", attempt(async () => {
    const [chosen] = file.files ?? [];
    if (chosen) await open(await chosen.text(), `open ${chosen.name}`);
    file.value = "";
  }));
  const linkButton = element("button", { type: "button" }, "Link");
  linkButton.addEventListener("click", attempt(async () => {
    const made = await ask("/api/project/write", { project: studio.project });
    const address = await writeLink(made.text);
    redraw(link, element("div", { class: "code" },
      element("div", { class: "code-head" }, element("span", {}, "After any studio's address"), makeCopy(address, "the link")),
      element("pre", { tabindex: "0" }, element("code", {}, address))));
    announce("The link is ready to copy");
  }));

  const formats = FORMATS.map(([format, title, ending]) => {
    const button = element("button", { type: "button", "data-format": format }, title);
    button.addEventListener("click", attempt(async () => {
      const { graph, query } = studio.project;
      const made = await ask("/api/graph/write", { graph, format, query });
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
  const showCode = wait(200, async () => {
    if (!answers.ready) {
      redraw(code, element("p", { class: "quiet" }, "Once there is a question and a log, the command and the Python that repeat the answer stand here."));
      return;
    }
    try {
      redraw(code, ...drawTaken(await ask("/api/take", { project: studio.project, part: "bound" })));
    } catch (error) {
      redraw(code, drawFault(faultOf(error)));
    }
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

/** Open the project in this page's address, if there is one. @param {(text: string, label: string) => Promise<void>} open */
export async function openLink(open) {
  const text = await readLink(location.hash);
  if (text === null) return;
  history.replaceState(null, "", location.pathname);
  await open(text, "open a link");
}

/** @param {Project} project */
function fileName(project) {
  return (project.name || "graph").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "graph";
}

/** @param {string} title @param {string} words @param {...Node} children */
function section(title, words, ...children) {
  return element("section", { class: "take-part" }, element("h3", {}, title), element("p", { class: "quiet" }, words), ...children);
}
