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
import { t } from "./words.js";

/** What the command and the Python can repeat, the most asked for first. */
const PARTS = [
  ["effect", t("take.effects")], ["bound", t("take.bounds_on_means")], ["choose", t("answers.which_arm_to_choose")], ["identify", t("take.what_the_graph_alone_says")], ["check", t("take.tests_of_the_graph")],
  ["suggest", t("take.what_would_narrow_the_bounds")], ["stress", t("take.stress_test")], ["simulate", t("policy.policies")], ["report", t("take.report")], ["graph", t("take.graph")],
];
const FORMATS = [
  ["boundit", t("take.boundit_text"), "txt"], ["dagitty", "DAGitty", "dagitty"], ["dot", "DOT", "dot"], ["json", "JSON", "json"], ["svg", t("take.picture_svg"), "svg"],
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
  const line = new JobLine(studio, t("take.writing_the_report"));
  const link = element("div", { class: "link-out" });
  const text = element("textarea", { rows: 8, readonly: true, "aria-label": t("take.the_graph_in_the_chosen_format"), hidden: true, class: "graph-out" });
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

  const report = element("button", { type: "button", class: "primary" }, t("take.report_as_one_file"));
  report.addEventListener("click", () => {
    redraw(fault);
    line.run("report", studio.project, { fault: complain, result: (made) => download(made.name, made.html, "text/html;charset=utf-8") });
  });
  const saveButton = element("button", { type: "button", "data-key": "save project" }, t("take.save_in_the_folder"));
  saveButton.addEventListener("click", attempt(() => files.save(), () => {}));
  const downloadButton = element("button", { type: "button", "data-key": "download project" }, t("take.download_project_file"));
  downloadButton.addEventListener("click", attempt(
    () => ask("/api/project/write", { project: studio.project }),
    (made) => download(made.name, made.text, "application/json")));
  const exported = element("div", { class: "exported", "aria-live": "polite" });
  const exportButton = element("button", { type: "button", "data-key": "export" }, t("take.export_with_data"));
  exportButton.addEventListener("click", attempt(
    () => ask("/api/projects/export", { project: studio.project }),
    ({ file, bytes, command }) => redraw(exported,
      element("p", {}, element("strong", {}, file), t("take.kb_is_in_the_studio_s", count(Math.max(1, bytes / 1000)))),
      element("div", { class: "code" }, element("div", { class: "code-head" }, element("span", {}, t("take.shell")), makeCopy(command, t("take.the_command"))), element("pre", { tabindex: "0" }, element("code", {}, command))))));
  const linkButton = element("button", { type: "button" }, t("take.link"));
  const makeLink = async () => writeLink((await ask("/api/project/write", { project: studio.project })).text);
  linkButton.addEventListener("click", attempt(makeLink, (address) => {
    redraw(link, element("div", { class: "code" },
      element("div", { class: "code-head" }, element("span", {}, t("take.after_any_studio_s_address")), makeCopy(address, t("take.the_link"))),
      element("pre", { tabindex: "0" }, element("code", {}, address))));
    announce(t("take.the_link_is_ready_to_copy"));
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
      announce(t("take.downloaded", title));
    }));
    return button;
  });

  const show = () => {
    report.disabled = !answers.ready;
    report.title = answers.ready ? "" : t("take.ask_a_question_of_a_log");
  };
  const part = element("select", { id: "take-part", "data-key": "take part" }, ...PARTS.map(([value, words]) => element("option", { value }, words)));
  const takers = new Map(PARTS.map(([value]) => [value, makeTaken(code, studio, value)]));
  const showCode = wait(200, () => takers.get(part.value)?.());
  part.addEventListener("change", showCode);
  root.append(
    section(t("take.the_answer"), t("take.everything_on_one_page_to_send"), element("div", { class: "ask-line" }, report, line.root)),
    section(t("take.code"), t("take.the_command_and_the_python_that"), element("div", { class: "field" }, element("label", { for: "take-part" }, t("take.part")), part), code),
    section(t("take.the_project"), t("take.graph_question_and_settings_as_a"),
      element("div", { class: "row" }, saveButton, downloadButton, exportButton, linkButton), exported, link),
    section(t("take.the_graph"), t("take.each_format_can_be_read_back"),
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
