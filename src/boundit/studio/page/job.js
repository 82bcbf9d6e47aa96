// @ts-check
/** Long work on the page: one line that tells how far it is, cancels it, and hears its end. */

/** @import { Project } from "./types.js" */
/** @import { Studio } from "./studio.js" */
import { announce, element } from "./dom.js";
import { Latest } from "./latest.js";
import { Cancelled, run } from "./transport.js";
import { t } from "./words.js";

/** Tells the lines of this window from those of another one. */
const WINDOW = crypto.randomUUID();
let lines = 0;

/**
 * @typedef {{
 *   result: (result: any) => void, fault: (error: unknown) => void, cancelled?: () => void,
 *   part?: (part: any) => void,
 * }} Hear  What to do with a result, a refusal, a cancel by the person, and a result so far.
 */

/**
 * A job with its line of progress and its button to cancel. The line takes its room whether or
 * not something runs, so that nothing below it moves. Its answer is heard only while the question
 * is the one that it was asked for: another treatment, outcome, log or project ends the job.
 */
export class JobLine {
  /** @type {import("./transport.js").Job | null} */
  #job = null;
  #latest;
  #name = `${WINDOW} ${(lines += 1)}`;
  #bar = element("progress", { max: 1, "aria-label": t("job.progress") });
  #words = element("span", { class: "job-words" });
  #button = element("button", { type: "button", class: "small", "data-key": "cancel" }, t("data.cancel"));
  #inside = element("div", { class: "job-inside", hidden: true }, this.#bar, this.#words, this.#button);
  root = element("div", { class: "job-line" }, this.#inside);

  /** @param {Studio} studio @param {string} doing what is being done, in words */
  constructor(studio, doing) {
    this.doing = doing;
    this.#latest = new Latest(() => studio.subject);
    this.#button.addEventListener("click", () => this.#job?.cancel());
    studio.addEventListener("subject", () => this.drop());
  }

  get busy() {
    return this.#job !== null;
  }

  /** End what runs, unheard. */
  drop() {
    this.#latest.drop();
    this.#job?.cancel();
    this.#show(null);
  }

  /**
   * Run a job; it replaces an older one of the same line, which is not heard any more.
   *
   * @param {string} kind
   * @param {Project} project
   * @param {Hear} hear
   */
  run(kind, project, hear) {
    this.#job?.leave();
    const job = run(kind, project, this.#name, {
      progress: ({ words, done, total }) => {
        if (this.#job !== job) return;
        this.#words.textContent = words || this.doing;
        if (total) this.#bar.value = done / total;
      },
      part: (part) => {
        if (this.#job === job) hear.part?.(part);
      },
    });
    this.#show(job);
    void this.#latest.run(() => job.result, (result) => {
      this.#show(null);
      hear.result(result);
    }, (error) => {
      this.#show(null);
      if (!(error instanceof Cancelled)) {
        hear.fault(error);
        return;
      }
      announce(t("job.cancelled"));
      hear.cancelled?.();
    });
  }

  /** @param {import("./transport.js").Job | null} job */
  #show(job) {
    this.#job = job;
    this.#bar.removeAttribute("value");
    this.#words.textContent = this.doing;
    this.#inside.hidden = job === null;
  }
}
