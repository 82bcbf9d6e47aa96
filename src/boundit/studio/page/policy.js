// @ts-check
/** Try a policy: play it with and without the bounds, in environments that fit the log. */

/** @import { SimulateResult } from "./types.js" */
/** @import { Studio } from "./studio.js" */
/** @import { Answers } from "./answers.js" */
import { count, element, redraw, whenNew } from "./dom.js";
import { basisOf } from "./answers.js";
import { drawCurves, drawCurveTable } from "./curves.js";
import { JobLine } from "./job.js";
import { drawFault, faultOf, makeRepeat } from "./studio.js";
import { t } from "./words.js";

const BEFORE = t("policy.play_shows_what_each_policy_loses");

/** @param {HTMLElement} root @param {Studio} studio @param {Answers} answers @param {string[]} policies */
export function showPolicy(root, studio, answers, policies) {
  const { store } = studio;
  const line = new JobLine(studio, t("policy.playing_the_policies"));
  const form = element("div", { class: "policy-form" });
  const button = element("button", { type: "button", class: "primary", "data-key": "play" }, t("policy.play"));
  const why = element("span", { class: "quiet ask-why" });
  const shown = element("div", { class: "picture", "aria-live": "polite" });
  root.append(form, element("div", { class: "ask-line" }, button, line.root, why), shown, makeRepeat(studio, "simulate"));
  /** @type {SimulateResult | null} */
  let result = null;
  let basis = "";

  const depends = () => basisOf(store.project) + JSON.stringify(store.project.simulate);
  const drawForm = whenNew(() => redraw(form, ...makeForm(studio, policies)));
  const show = () => {
    drawForm(store.project.simulate);
    button.disabled = !answers.ready || store.project.simulate.policies.length === 0;
    why.hidden = !button.disabled;
    why.textContent = !answers.ready ? t("policy.ask_a_question_of_a_log") : store.project.simulate.policies.length ? "" : t("policy.choose_a_policy");
    shown.classList.toggle("stale-part", result !== null && basis !== depends());
  };
  const draw = () => {
    if (!result) return;
    const curves = Object.entries(result.curves).map(([name, curve]) => ({ ...curve, name: sayPolicy(name), bounds: hasBounds(name) }));
    redraw(shown, element("p", { class: "lead" }, result.summary),
      element("h3", {}, t("policy.regret_what_was_lost_to_not")),
      drawCurves(curves, Math.max(300, shown.clientWidth || 560)),
      element("p", { class: "quiet" }, result.caption), drawCurveTable(curves),
      ...[result.environments, ...result.caveats].filter(Boolean).map((each) => element("p", { class: "quiet" }, each)));
  };
  /** @param {SimulateResult | null} found @param {Node} [instead] */
  const settle = (found, instead) => {
    result = found;
    if (instead) redraw(shown, instead);
    draw();
    show();
  };
  const forget = () => settle(null, element("p", { class: "quiet" }, BEFORE));
  button.addEventListener("click", () => {
    const asked = depends();
    line.run("simulate", store.project, {
      result: (found) => {
        basis = asked;
        settle(found);
      },
      fault: (error) => settle(null, drawFault(faultOf(error))),
      cancelled: () => {
        if (!result) settle(null, element("p", { class: "quiet" }, t("policy.cancelled_play_again_when_you_like")));
      },
    });
  });
  studio.addEventListener("subject", forget);
  store.addEventListener("change", show);
  answers.addEventListener("bounds", show);
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(shown.clientWidth - width) < 2) return;
    width = shown.clientWidth;
    draw();
  }).observe(shown);
  forget();
}

/** @param {Studio} studio @param {string[]} policies */
function makeForm(studio, policies) {
  const { simulate } = studio.project;
  /** @param {"rounds" | "runs"} name @param {string} words @param {number} most */
  const number = (name, words, most) => {
    const fault = element("p", { class: "fault", role: "alert", id: `fault of ${name}` });
    const input = element("input", {
      type: "number", id: `simulate ${name}`, min: 1, max: most, step: 1, value: simulate[name], "data-key": name,
      "aria-describedby": `fault of ${name}`,
      onchange: () => {
        const typed = input.valueAsNumber;
        const fits = Number.isInteger(typed) && typed >= 1 && typed <= most;
        fault.textContent = fits ? "" : t("policy.a_whole_number_from_1_to", count(most), count(simulate[name]));
        if (!fits) {
          input.value = String(simulate[name]);
          return;
        }
        studio.store.change(`${words.toLowerCase()} ${typed}`, (draft) => {
          draft.simulate[name] = typed;
        });
      },
    });
    return element("div", { class: "field" }, element("label", { for: `simulate ${name}` }, words), input, fault);
  };
  return [
    number("rounds", t("policy.rounds"), 1_000_000), number("runs", t("policy.runs"), 1_000),
    element("fieldset", { class: "chips" }, element("legend", {}, t("policy.policies")),
      ...policies.map((name) =>
        element("button", {
          type: "button", class: "chip", "data-key": `policy ${name}`, "aria-pressed": String(simulate.policies.includes(name)),
          onclick: () =>
            studio.store.change(t("policy.policy", name), (draft) => {
              const had = draft.simulate.policies.includes(name);
              draft.simulate.policies = had ? draft.simulate.policies.filter((each) => each !== name) : [...draft.simulate.policies, name];
            }),
        }, sayPolicy(name)))),
  ];
}

/** Tell whether a policy starts from the log. @param {string} name */
function hasBounds(name) {
  return name === "Fused" || name.endsWith("-PCB");
}

/** @param {string} name */
function sayPolicy(name) {
  return name.endsWith("-PCB") ? t("policy.with_bounds", name.slice(0, -4)) : name;
}
