// @ts-check
/** The log: choose or drop a file, see its columns beside the nodes, and cut numbers into bins. */

/** @import { Column, DataLook, Problem } from "./types.js" */
/** @import { Studio } from "./studio.js" */
/** @import { Answers } from "./answers.js" */
import { announce, count, element, redraw, wait, whenNew } from "./dom.js";
import { addNode } from "./graph.js";
import { BinHistogram } from "./histogram.js";
import { isZeroOne, makeFurtherLevels, makeRewardRange } from "./known.js";
import { Latest } from "./latest.js";
import { complain } from "./notice.js";
import { drawFault, faultOf, makeRepeat } from "./studio.js";
import { Cancelled, ask, run, server, upload } from "./transport.js";
import { t } from "./words.js";

const MISSING = [
  ["drop", t("data.leave_such_rows_out")],
  ["level", t("data.take_missing_for_a_level")],
  ["error", t("data.refuse_to_answer")],
];
const FEW_LEVELS = 8;
/** The line of jobs that looks at logs, in this window alone. */
const LINE = `look ${crypto.randomUUID()}`;
const MATCHES = `match ${crypto.randomUUID()}`;
/** @type {[string, string][]} */
const ENCODINGS = [["utf-8", "UTF-8"], ["cp1252", "Windows-1252"], ["latin-1", "Latin-1"], ["utf-16", "UTF-16"]];
/** @type {[string, string][]} */
const DATE_PARTS = [["year", "year"], ["quarter", "quarter"], ["month", "month"], ["weekday", "weekday"], ["hour", "hour"], ["days", t("data.days_since_1970")]];

/** @param {HTMLElement} root @param {Studio} studio @param {Answers} answers @param {number} limit bytes that may be uploaded */
export function showData(root, studio, answers, limit) {
  const { store } = studio;
  /** @type {{name: string, bytes: number}[]} */
  let files = [];
  /** @type {DataLook | null} */
  let look = null;
  let looked = "";
  /** The file that is looked at below. @type {string | null} */
  let shown = null;
  const sending = new Latest(() => store.document);
  const listing = new Latest(() => root);
  const looking = new Latest(() => describeLook(store.project));
  const chooser = element("div", { class: "chooser" });
  const state = element("div", { class: "state", "aria-live": "polite" });
  const columns = element("div", { class: "columns" });
  const settings = element("div", { class: "data-settings" });
  root.append(chooser, state, columns, settings, makeRepeat(studio, "check"));

  const input = element("input", { type: "file", id: "log-file", class: "unseen", accept: ".csv,.tsv,.parquet,.jsonl,.ndjson,.gz,.zst,.arrow,.feather" });
  const select = element("select", { id: "log-choice", "data-key": "file" });
  const drop = element("div", { class: "drop" },
    element("label", { for: "log-file", class: "button" }, t("data.choose_a_file")), input,
    element("span", {}, t("data.or_drop_it_here_csv_parquet")));
  chooser.append(
    element("div", { class: "field" }, element("label", { for: "log-choice" }, t("data.the_log")), select), drop);

  input.addEventListener("change", () => input.files?.[0] && send(input.files[0]));
  select.addEventListener("change", () => choose(select.value || null));
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const [file] = event.dataTransfer?.files ?? [];
    if (file) send(file);
  });

  /** @param {File} file */
  const send = (file) => {
    if (limit && file.size > limit) {
      redraw(state, drawFault({ where: "data.file", message: t("data.has_mb_at_most_mb_can", file.name, count(file.size / 1e6), count(limit / 1e6)), hint: t("data.put_it_into_the_studio_s") }));
      return;
    }
    redraw(state, element("p", { class: "quiet" }, t("data.copying", file.name)));
    void sending.run(() => upload(file.name, file), ({ name }) => {
      list();
      choose(name);
    }, (error) => redraw(state, drawFault(faultOf(error))));
    input.value = "";
  };

  /** @param {string | null} name */
  const choose = (name) => {
    looked = ""; // the same name can hold another file now
    store.change(name ? t("data.log", name) : t("data.no_log"), (draft) => {
      draft.data.file = name;
    });
    inspect();
  };

  /** Copy the file as it should be read, and take the copy. @param {object} reading */
  const read = (reading) =>
    void sending.run(() => ask("/api/files/convert", { file: store.project.data.file, reading }), ({ name }) => {
      list();
      choose(name);
      announce(t("data.read_again_as", name));
    }, (error) => redraw(state, drawFault(faultOf(error)), makeReading(store.project.data.file ?? "", read)));

  const list = () =>
    void listing.run(() => ask("/api/files"), (found) => {
      files = found.files;
      showFiles();
    }, (error) => redraw(state, drawFault(faultOf(error))));

  const showFiles = () => {
    const { file } = store.project.data;
    const names = files.map((each) => each.name);
    if (file && !names.includes(file)) names.unshift(file);
    offer(names, names);
    select.value = file ?? "";
  };
  /** Not while it is the same list: it may be open under somebody's hand. */
  const offer = whenNew((/** @type {string[]} */ names) =>
    redraw(select,
      element("option", { value: "" }, names.length ? t("data.none_chosen") : t("data.no_file_in_the_folder_yet")),
      ...names.map((name) => element("option", { value: name }, name))));

  const inspect = () => {
    const { project } = store;
    const key = describeLook(project);
    if (key === looked) return;
    looked = key;
    if (!project.data.file) {
      looking.drop();
      look = null;
      redraw(state, element("p", { class: "quiet" }, t("data.choose_the_log_one_row_for")));
      show();
      return;
    }
    /** @type {import("./transport.js").Job | null} */
    let job = null;
    const stop = element("button", { type: "button", class: "small", "data-key": "stop reading", onclick: () => job?.cancel() }, t("data.cancel"));
    const reading = element("span", { class: "quiet" }, t("data.reading", project.data.file));
    if (!look || project.data.file !== shown) redraw(state, element("p", { class: "ask-line" }, reading, stop));
    const progress = (/** @type {import("./transport.js").Progress} */ { words, done, total }) => {
      if (total && total > 1) reading.textContent = t("data.reading_of", project.data.file, words, count(done), count(total));
    };
    void looking.run(async () => {
      job = run("look", project, LINE, { progress, part: () => {} });
      const held = await job.result;
      job = run("match", project, MATCHES, { progress, part: () => {} });
      const matched = await job.result;
      return { ...held, ...matched, columns: held.columns.map((/** @type {Column} */ each) => ({ ...each, node: matched.nodes[each.name] ?? null })) };
    }, (/** @type {DataLook} */ found) => {
      look = found;
      shown = project.data.file;
      const own = found.problems.filter((/** @type {Problem} */ each) => !isBesideColumn(each, found, project));
      redraw(state,
        element("p", {}, element("strong", {}, t("data.rows", count(found.n_rows))), t("data.columns_in", found.columns.length, project.data.file)),
        found.n_rows === 0 && drawFault({ where: "data.file", message: t("data.the_log_has_no_rows"), hint: t("data.choose_another_file") }),
        makeReading(project.data.file ?? "", read),
        ...own.map(drawFault));
      show();
    }, (error) => {
      look = null;
      redraw(state, error instanceof Cancelled ? element("p", { class: "quiet" }, t("data.cancelled_choose_the_log_again_when")) : drawFault(faultOf(error)));
      show();
    }).then((wanted) => {
      if (!wanted && looked === key) looked = ""; // looked at again, should the project come back to this
    });
  };

  /** What the log's look and the last answer found wrong. */
  const listProblems = () => {
    const found = look?.problems ?? [];
    const { fault } = answers;
    if (!fault || answers.stale || found.some(({ where }) => where !== null && where === fault.where)) return found;
    return [...found, fault];
  };
  const showWhenNew = whenNew(() => {
    showColumns(columns, studio, look && { ...look, problems: listProblems() }, read);
    showSettings(settings, studio, look, files.map((each) => each.name));
  });
  const show = () => {
    if (studio.look !== look) {
      studio.look = look;
      studio.dispatchEvent(new CustomEvent("look"));
    }
    studio.editor.columns = look?.columns.map((each) => each.name) ?? [];
    const { data, graph, query, settings: kept } = store.project;
    const nodes = graph.nodes.map(({ name, hidden, selection }) => [name, hidden, selection]);
    showWhenNew([look, listProblems(), data, nodes, kept.missing, kept.external, kept.outcome_range, query.outcome, files]);
  };

  const inspectSoon = wait(250, inspect);
  store.addEventListener("change", (event) => {
    if (/** @type {CustomEvent} */ (event).detail.opened) {
      look = null; // of another project's log
      looked = "";
      redraw(state);
    }
    showFiles();
    show();
    inspectSoon();
  });
  answers.addEventListener("bounds", show);
  select.addEventListener("focus", list);
  server.addEventListener("back", () => {
    if (!look) looked = ""; // what it could not be asked
    list();
    inspect();
  });
  list();
  inspect();
  show();
}

/** What a look at the log hangs on, as text. @param {import("./types.js").Project} project */
function describeLook({ data, settings, graph }) {
  return JSON.stringify([data, settings.missing, graph.nodes.map(({ name, hidden, selection }) => [name, hidden, selection])]);
}

/** @param {Problem} problem @param {DataLook} look @param {import("./types.js").Project} project */
function isBesideColumn({ where }, look, project) {
  const name = /^data\.(?:columns|bins|levels)\.(.+)$/.exec(where ?? "")?.[1];
  return name !== undefined && (look.unmatched_nodes.includes(name) || look.columns.some((each) => each.node === name || each.name === name) || project.graph.nodes.some((node) => node.name === name));
}

/** Fields for a file that is not read as it should be. @param {string} file @param {(reading: object) => void} read */
function makeReading(file, read) {
  const encoding = element("select", { id: "encoding", "data-key": "encoding" }, ...ENCODINGS.map(([value, words]) => element("option", { value }, words)));
  const comma = element("input", { type: "checkbox", "data-key": "decimal comma" });
  const header = element("input", { type: "checkbox", "data-key": "header", checked: true });
  const gaps = element("input", { type: "text", id: "gaps", "data-key": "gaps", placeholder: t("data.na_99"), autocomplete: "off" });
  return element("details", { class: "rest", "data-key": "reading" },
    element("summary", {}, t("data.not_read_as_it_should_be")),
    element("p", { class: "quiet" }, t("data.a_copy_is_written_beside_the", file)),
    element("div", { class: "field" }, element("label", { for: "encoding" }, t("data.encoding")), encoding),
    element("label", { class: "check-line" }, comma, t("data.decimal_comma_1_5")),
    element("label", { class: "check-line" }, header, t("data.the_first_row_has_the_names")),
    element("div", { class: "field" }, element("label", { for: "gaps" }, t("data.also_missing")), gaps),
    element("button", { type: "button", "data-key": "read again", onclick: () => read({
      encoding: encoding.value, decimal_comma: comma.checked, header: header.checked,
      missing: gaps.value.split(",").map((each) => each.trim()).filter(Boolean),
    }) }, t("data.read_again")));
}

/** @param {Studio} studio @param {Column[]} columns */
function addColumns(studio, columns) {
  const label = columns.length === 1 ? t("data.add", columns[0].name) : t("data.add_columns", columns.length);
  studio.store.change(label, (draft) => {
    const { nodes } = draft.graph;
    const top = nodes.length ? Math.max(...nodes.map(({ y }) => y)) + 80 : 60;
    const left = nodes.length ? Math.min(...nodes.map(({ x }) => x)) : 80;
    columns.forEach(({ name }, i) => {
      if (!nodes.some((node) => node.name === name)) addNode(draft, name, left + (i % 5) * 150, top + Math.floor(i / 5) * 80);
    });
  });
  studio.editor.fit();
  announce(t("data.in_the_graph", columns.map(({ name }) => name).join(", ")));
}

/** @param {HTMLElement} root @param {Studio} studio @param {DataLook | null} look @param {(reading: object) => void} read */
function showColumns(root, studio, look, read) {
  if (!look) {
    root.replaceChildren();
    return;
  }
  const { graph } = studio.project;
  const measured = graph.nodes.filter((node) => !node.hidden && !node.selection);
  const lost = measured.filter((node) => !look.columns.some((each) => each.node === node.name));
  const used = measured.flatMap((node) => look.columns.filter((each) => each.node === node.name));
  const rest = look.columns.filter((each) => !each.node);
  const near = lost.filter(({ name }) => look.suggestions[name]);
  redraw(root,
    lost.length > 0 &&
      element("section", { class: "lost" },
        element("h3", {}, lost.length === 1 ? t("data.a_node_without_a_column") : t("data.nodes_without_a_column", lost.length)),
        near.length > 1 && element("button", {
          type: "button", class: "small", "data-key": "match all", onclick: () => studio.store.change(t("data.match_all_columns"), (draft) => {
            for (const { name } of near) draft.data.columns[name] = look.suggestions[name];
          }),
        }, t("data.take_all_suggestions", near.length)),
        ...lost.map((node) => drawLost(studio, look, node.name))),
    used.length > 0 &&
      element("ul", { class: "column-list" }, ...used.map((column) => drawColumn(studio, look, column, read))),
    rest.length > 0 &&
      element("details", { class: "rest", "data-key": "rest", ...(used.length === 0 ? { open: true } : {}) },
        element("summary", {}, t("data.column_not_in_the_graph", rest.length, rest.length === 1 ? "" : "s")),
        rest.length > 1 && rest.length <= 40 && element("button", { type: "button", class: "small", "data-key": "add all", onclick: () => addColumns(studio, rest) }, t("data.add_all_to_the_graph", rest.length)),
        element("ul", { class: "column-list" }, ...rest.map((column) => drawColumn(studio, look, column, read)))));
}

/** @param {Studio} studio @param {DataLook} look @param {string} name */
function drawLost(studio, look, name) {
  const problems = look.problems.filter(({ where }) => where === `data.columns.${name}`);
  const near = look.suggestions[name];
  return element("div", { class: "field faulty", "data-node": name },
    element("label", { for: `column of ${name}` }, name),
    makeColumnChoice(studio, look, name),
    near ? element("button", { type: "button", class: "small", "data-key": `near ${name}`, onclick: () => match(studio, name, near) }, t("data.take", near)) : null,
    ...problems.map(drawFault));
}

/** @param {Studio} studio @param {DataLook} look @param {string} name */
function makeColumnChoice(studio, look, name) {
  const current = look.columns.find((each) => each.node === name)?.name ?? studio.project.data.columns[name] ?? "";
  const select = element("select", {
    id: `column of ${name}`, "data-key": `column of ${name}`, "aria-label": t("data.column_of", name),
    onchange: () => match(studio, name, select.value),
  }, element("option", { value: "" }, t("data.no_column")),
  ...look.columns.map((each) => element("option", { value: each.name }, each.name)));
  select.value = current;
  return select;
}

/** Say which column holds a node. @param {Studio} studio @param {string} name @param {string} column */
function match(studio, name, column) {
  studio.store.change(column ? t("data.is", name, column) : t("data.by_its_own_name", name), (draft) => {
    if (column && column !== name) draft.data.columns[name] = column;
    else delete draft.data.columns[name];
  });
  announce(`${name}: ${column || t("data.no_column")}`);
}

/** @param {Studio} studio @param {DataLook} look @param {Column} column @param {(reading: object) => void} read */
function drawColumn(studio, look, column, read) {
  const { node } = column;
  const rewarded = node !== null && node === studio.project.query.outcome;
  const problems = look.problems.filter(({ where }) =>
    where === `data.bins.${node}` || where === `data.columns.${node}` || where === `data.levels.${node}` || where === `data.columns.${column.name}`
    || (rewarded && where?.startsWith("settings.outcome_range")));
  const facts = [
    column.kind === "number" ? "number" : t("data.level", count(column.n_levels), column.n_levels === 1 ? "" : "s"),
    column.n_missing > 0 && t("data.missing", count(column.n_missing)),
  ].filter(Boolean).join(", ");
  return element("li", { class: problems.length ? "column faulty" : "column", "data-column": column.name },
    element("div", { class: "column-head" },
      node ? element("strong", {}, node) : element("span", {}, column.name),
      node ? makeColumnChoice(studio, look, node)
        : element("button", { type: "button", class: "small", "data-key": `add ${column.name}`, "aria-label": t("data.add_to_the_graph", column.name), onclick: () => addColumns(studio, [column]) }, t("data.add_to_the_graph_2")),
      element("span", { class: "quiet" }, facts),
      column.holds === "dates or times" && makeDatePart(column, read)),
    ...problems.map(drawFault),
    column.levels.length > 0 && !column.histogram && drawLevels(column),
    node !== null && column.histogram && drawHistogram(studio, column, node, rewarded),
    rewarded && needsRange(studio, column) && makeRewardRange(studio, column, node),
    node !== null && !rewarded && !column.histogram && makeFurtherLevels(studio, column, node));
}

/** A date is taken as a part of it. @param {Column} column @param {(reading: object) => void} read */
function makeDatePart(column, read) {
  const select = element("select", { "data-key": `date ${column.name}`, "aria-label": t("data.part_of_the_date", column.name), onchange: () => select.value && read({ dates: { [column.name]: select.value } }) },
    element("option", { value: "" }, t("data.take_a_part_of_the_date")), ...DATE_PARTS.map(([value, words]) => element("option", { value }, words)));
  return select;
}

/** @param {Studio} studio @param {Column} column */
function needsRange({ project }, column) {
  return project.settings.outcome_range !== null || (column.holds === "numbers" && !isZeroOne(column));
}

/** @param {Column} column */
function drawLevels(column) {
  const most = Math.max(...column.levels.map((each) => each.n), 1);
  const more = column.n_levels - Math.min(FEW_LEVELS, column.levels.length);
  return element("ul", { class: "levels" },
    ...column.levels.slice(0, FEW_LEVELS).map(({ value, n }) =>
      element("li", {}, element("span", { class: "level" }, value === null ? t("data.missing_2") : String(value)),
        element("meter", { max: most, value: n, "aria-hidden": "true" }), element("span", { class: "quiet" }, count(n)))),
    more > 0 ? element("li", { class: "quiet" }, t("data.and_more", count(more))) : null);
}

/** Draw a column's numbers with where they are cut; a reward is not cut, but averaged. @param {Studio} studio @param {Column} column @param {string} node @param {boolean} rewarded */
function drawHistogram(studio, column, node, rewarded) {
  const picture = new BinHistogram();
  const bins = studio.project.data.bins[node] ?? [];
  if (column.histogram) picture.show(node, column.histogram, bins, { cuts: !rewarded || bins.length > 0 });
  picture.addEventListener("bins", (event) => {
    const bins = /** @type {CustomEvent<number[]>} */ (event).detail;
    studio.store.change(bins.length ? t("data.cut_at", node, bins.join(", ")) : t("data.do_not_cut", node), (draft) => {
      if (bins.length) draft.data.bins[node] = bins;
      else delete draft.data.bins[node];
    }, `bins of ${node}`);
  });
  return picture;
}

/** @param {HTMLElement} root @param {Studio} studio @param {DataLook | null} look @param {string[]} files */
function showSettings(root, studio, look, files) {
  if (!look) {
    root.replaceChildren();
    return;
  }
  const { settings, data } = studio.project;
  const missing = element("select", { id: "missing", "data-key": "missing" },
    ...MISSING.map(([value, words]) => element("option", { value }, words)));
  missing.value = settings.missing;
  missing.addEventListener("change", () =>
    studio.store.change(t("data.missing_values"), (draft) => {
      draft.settings.missing = missing.value;
    }));
  const weight = element("select", { id: "weight", "data-key": "weight" },
    element("option", { value: "" }, t("data.no_each_row_is_one")),
    ...look.columns.filter((each) => !each.node).map((each) => element("option", { value: each.name }, each.name)));
  weight.value = data.weight ?? "";
  weight.addEventListener("change", () =>
    studio.store.change(t("data.weights"), (draft) => {
      draft.data.weight = weight.value || null;
    }));
  const others = files.filter((name) => name !== data.file);
  const external = element("input", { type: "file", "data-key": "external file", "aria-label": t("data.add_a_table_without_selection"), accept: ".csv,.tsv,.parquet,.jsonl,.gz,.arrow" });
  const sending = new Latest(() => studio.store.document);
  external.addEventListener("change", () => {
    const [file] = external.files ?? [];
    if (!file) return;
    void sending.run(() => upload(file.name, file), ({ name }) => studio.store.change(t("data.external", name), (draft) => {
      draft.settings.external.push(name);
    }), (error) => complain(faultOf(error).message));
  });
  redraw(root,
    element("div", { class: "field" }, element("label", { for: "missing" }, t("data.where_a_value_is_missing")), missing),
    element("div", { class: "field" }, element("label", { for: "weight" }, t("data.does_a_column_say_how_many")), weight),
    element("details", { class: "rest", "data-key": "external", ...(settings.external.length ? { open: true } : {}) },
        element("summary", {}, t("data.tables_without_selection_a_census_a")),
        element("p", { class: "quiet" }, t("data.a_table_of_the_whole_population")),
        external,
        ...others.map((name) =>
          element("label", { class: "check-line" },
            element("input", {
              type: "checkbox", "data-key": `external ${name}`, ...(settings.external.includes(name) ? { checked: true } : {}),
              onchange: () =>
                studio.store.change(t("data.external", name), (draft) => {
                  const had = draft.settings.external.includes(name);
                  draft.settings.external = had ? draft.settings.external.filter((each) => each !== name) : [...draft.settings.external, name];
                }),
            }), ` ${name}`))));
}
