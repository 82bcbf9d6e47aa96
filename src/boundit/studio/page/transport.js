// @ts-check
/** Talk with the server on this machine: questions, uploads, and jobs that tell how far they are. */

import { t } from "./words.js";

/** @import { Fault, Project } from "./types.js" */

/** What the server refused, with the one line it gave and where it belongs. */
export class Refusal extends Error {
  /** @param {Fault} fault */
  constructor(fault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** A job was cancelled: by the person, or because a newer question replaced it. */
export class Cancelled extends Error {}

/**
 * Ask the server one thing and wait for its answer.
 *
 * @param {string} path
 * @param {unknown} [body] none: a GET
 * @param {{keepalive?: boolean, signal?: AbortSignal}} [options]
 * @returns {Promise<any>}
 */
export async function ask(path, body, options = {}) {
  const request = body === undefined ? {} : makeRequest(JSON.stringify(body), "application/json");
  return readAnswer(await reach(path, { ...request, ...options }));
}

/**
 * Send a file as it is.
 *
 * @param {string} name
 * @param {Blob} file
 * @returns {Promise<{name: string}>}
 */
export async function upload(name, file) {
  const path = `/api/files/upload?name=${encodeURIComponent(name)}`;
  return readAnswer(await reach(path, makeRequest(file, "application/octet-stream")));
}

/** Unpack an export, with its data, into the studio's folder. @param {Blob} file @returns {Promise<{project: any}>} */
export async function unpack(file) {
  return readAnswer(await reach("/api/projects/unpack", makeRequest(file, "application/octet-stream")));
}

/**
 * @param {BodyInit} body
 * @param {string} type
 * @returns {RequestInit}
 */
function makeRequest(body, type) {
  return { method: "POST", headers: { "Content-Type": type }, body };
}

/**
 * @param {string} path
 * @param {RequestInit} request
 */
async function reach(path, request) {
  try {
    return await fetch(path, { credentials: "same-origin", ...request });
  } catch {
    throw new Refusal({
      code: "unreachable",
      message: t("transport.the_studio_s_server_does_not"),
      where: null,
      hint: null,
    });
  }
}

/** @param {Response} response */
async function readAnswer(response) {
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  throw new Refusal(
    answer?.error ?? {
      code: String(response.status),
      message: t("transport.the_server_answered_and_no_reason", response.status),
      where: null,
      hint: null,
    },
  );
}

const LOOKS_EVERY = 1_500;
const PATIENCE = 4_000;

/** Tells when the server does not answer any more (`lost`, its jobs are), and when it does again (`back`). */
export const server = new EventTarget();
let misses = 0;
/** Looks at once whether the server answers. */
let look = () => {};

/**
 * Look all the time whether the server answers. One that refuses is gone; one that is silent may
 * be busy, and its jobs are given up when it is silent twice.
 *
 * @param {(fault: Fault | null) => void} tell hears why it does not, and null when it does
 */
export function watchServer(tell) {
  let timer = 0;
  let looking = false;
  look = async () => {
    if (looking) return;
    looking = true;
    clearTimeout(timer);
    const begun = performance.now();
    try {
      await ask("/api/alive", undefined, { signal: AbortSignal.timeout(PATIENCE) });
      tell(null);
      if (misses) server.dispatchEvent(new CustomEvent("back"));
      misses = 0;
    } catch (error) {
      misses += performance.now() - begun < 0.9 * PATIENCE ? 2 : 1;
      if (error instanceof Refusal) tell(error.fault);
      if (misses > 1) server.dispatchEvent(new CustomEvent("lost"));
    }
    looking = false;
    timer = setTimeout(look, LOOKS_EVERY);
  };
  look();
}

/**
 * @typedef {{done: number, total: number | null, words: string}} Progress
 * @typedef {{result: Promise<any>, cancel: () => void, leave: () => void}} Job
 */

/** @type {Promise<unknown>} */
let last = Promise.resolve();

/**
 * Ask once all that was asked this way before is answered. Jobs begin and end so: a cancel that
 * was overtaken would end the job that came after it, and a job that was overtaken would replace
 * a newer one.
 *
 * @param {string} path
 * @param {unknown} body
 * @returns {Promise<any>}
 */
function askInTurn(path, body) {
  const answer = last.then(() => ask(path, body));
  last = answer.catch(() => {});
  return answer;
}

/**
 * Run long work in a worker of the server. The result comes as a promise; `cancel` ends the
 * worker at once, `leave` only stops listening, where a newer job of the same line comes next.
 *
 * @param {string} kind
 * @param {Project} project
 * @param {string} line of the jobs of a line only the newest is worked on
 * @param {{progress: (progress: Progress) => void, part: (part: any) => void}} hear
 * @returns {Job}
 */
export function run(kind, project, line, hear) {
  let stopped = false;
  const left = new AbortController();
  /** @type {EventSource | null} */
  let events = null;
  /** @type {(reason: Error) => void} */
  let refuse = () => {};
  const started = askInTurn("/api/jobs", { kind, project, line });

  /** @param {{id: string}} job @returns {Promise<any>} */
  const listen = ({ id }) =>
    new Promise((resolve, reject) => {
      if (stopped) return;
      events = new EventSource(`/api/jobs/${encodeURIComponent(id)}/events`);
      let ended = false;
      /** @param {string} name @param {(data: any) => void} take */
      const on = (name, take) =>
        events?.addEventListener(name, (event) => {
          if (!(event instanceof MessageEvent) || ended) return;
          if (name !== "progress" && name !== "part") {
            ended = true;
            events?.close();
          }
          take(JSON.parse(event.data || "null"));
        });
      on("progress", hear.progress);
      on("part", hear.part);
      on("result", resolve);
      on("error", (data) => reject(new Refusal(data?.error ?? data)));
      on("cancelled", () => reject(new Cancelled("cancelled")));
      events.onerror = () => {
        if (ended) return;
        if (events?.readyState === EventSource.CLOSED) lose();
        else look(); // the browser tries again, for ever
      };
    });

  const lose = () => {
    stopped = true;
    events?.close();
    refuse(
      new Refusal({
        code: "lost",
        message: t("transport.the_connection_to_the_studio_s"),
        where: null,
        hint: t("transport.start_boundit_studio_again_if_it"),
      }),
    );
  };
  server.addEventListener("lost", lose, { signal: left.signal });

  const leave = () => {
    stopped = true;
    left.abort();
    events?.close();
    refuse(new Cancelled("cancelled"));
  };

  /** @type {Promise<any>} */
  const result = new Promise((resolve, reject) => {
    refuse = reject;
    started.then(listen).then(resolve, reject);
  });

  result.catch(() => {}).then(() => left.abort());

  return {
    result,
    leave,
    cancel: () => {
      if (stopped) return;
      leave();
      last = last.then(() => started).then(({ id }) => ask(`/api/jobs/${encodeURIComponent(id)}/cancel`, {})).catch(() => {});
    },
  };
}
