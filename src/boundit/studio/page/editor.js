// @ts-check
/**
 * The drawing of the graph: nodes and edges that a mouse, a finger or a keyboard alone can add,
 * name, move, join and remove. Every part is an element with a name, one of them in the tab order.
 */

/** @import { Edge, EdgeKind, GraphNode, Lit, Pair, Project, Statement } from "./types.js" */
/** @import { ProjectStore } from "./project.js" */
/** @import { Role } from "./graph.js" */
import { announce, element, shape } from "./dom.js";
import { complain } from "./notice.js";
import {
  addEdge, addNode, bundleEdges, findNode, keyOf, listRoles, makeName, removeEdge, removeNode,
  renameNode, replaceEdge, sameEdge, toggleRole,
} from "./graph.js";
import { boxWidth, drawStroke, frameNodes, NODE_HEIGHT } from "./strokes.js";
import { Viewport } from "./viewport.js";
import { t } from "./words.js";

const STEP = 10;
const SLACK = 4;
/** @type {Record<string, Role>} */
const ROLE_KEYS = { 1: "treatment", 2: "outcome", 3: "context", 4: "hidden", 5: "selection" };
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** @typedef {{nodes: string[], edge: Edge | null}} Selected */
/** @typedef {{names: string[], from: {x: number, y: number}, dx: number, dy: number, moved: boolean}} Drag */

export class GraphEditor extends HTMLElement {
  /** @type {ProjectStore} */
  #store = /** @type {any} */ (null);
  #svg = shape("svg", {
    class: "canvas",
    role: "application",
    "aria-label": t("editor.the_graph_press_question_mark_for"),
  });
  #groups = shape("g", { class: "groups" });
  #checks = shape("g", { class: "checks" });
  #edges = shape("g", { class: "edges" });
  #nodes = shape("g", { class: "nodes" });
  #overlay = shape("g", { class: "overlay" });
  #empty = element("div", { class: "empty" });
  #view = new Viewport(this.#svg);
  /** @type {Map<string, SVGGElement>} */
  #nodeParts = new Map();
  /** @type {Map<string, SVGGElement>} */
  #edgeParts = new Map();
  /** @type {import("./graph.js").Bundle[]} */
  #bundles = [];
  /** @type {Selected} */
  #selected = { nodes: [], edge: null };
  #current = "";
  /** @type {{from: string, kind: EdgeKind} | null} */
  #connecting = null;
  /** The role that clicked nodes get, while a question is asked in the graph. @type {Role | null} */
  picking = null;
  /** @type {Drag | null} */
  #drag = null;
  #frame = 0;
  /** @type {Lit | null} */
  #lit = null;
  /** @type {Set<string>} */
  #faulty = new Set();
  /** @type {Statement[]} */
  #statements = [];
  /** The columns of the log, by which a node that is renamed keeps its own. @type {string[]} */
  columns = [];
  /** Takes away the field in which a name is typed, unread. */
  #stopRenaming = () => {};

  /** Show the graph of a store and edit it from now on. @param {ProjectStore} store */
  start(store) {
    this.#store = store;
    this.#svg.append(this.#groups, this.#checks, this.#edges, this.#nodes, this.#overlay);
    this.append(this.#svg, this.#empty);
    this.#listen();
    this.#update();
    this.#view.fit(store.project.graph.nodes);
    store.addEventListener("change", (event) => this.#follow(/** @type {CustomEvent} */ (event)));
    new ResizeObserver(() => {
      if (this.#view.fitted) this.fit();
      else this.#view.apply();
    }).observe(this.#svg);
  }

  get project() {
    return this.#store.project;
  }

  get selected() {
    return this.#selected;
  }

  /** The node that the next edge starts from, while one is being drawn. */
  get connecting() {
    return this.#connecting;
  }

  fit() {
    this.#view.fit(this.project.graph.nodes);
  }

  /** How the canvas is shaped: width over height. */
  get aspect() {
    const { width, height } = this.#view.size;
    return width / height;
  }

  /** Show a node in the middle, large enough to read, and select it. @param {string} name */
  find(name) {
    const node = findNode(this.project.graph, name);
    if (!node) return;
    this.#view.center(node);
    this.select({ nodes: [name] });
    announce(describeNode(this.project, node, listRoles(this.project, name)));
  }

  /** Give clicked nodes a role from now on; null ends it. @param {Role | null} role */
  pick(role) {
    this.picking = role;
    this.stopConnecting();
    this.#svg.classList.toggle("picking", role !== null);
    if (role) this.scrollIntoView({ block: "nearest" });
    if (role) announce(t("editor.click_nodes_in_the_graph_or"));
    this.dispatchEvent(new CustomEvent("selection"));
  }

  /** @param {string} name */
  #pickNode(name) {
    const role = this.picking;
    const node = findNode(this.project.graph, name);
    if (!role || !node) return;
    if (node.hidden || node.selection) {
      complain(t("editor.is_no_column_has_it", name, node.hidden ? t("editor.hidden") : t("editor.the_selection_node")));
      return;
    }
    this.#store.change(t("editor.as", name, role), (draft) => toggleRole(draft, name, role));
    if (role === "outcome") this.pick(null);
  }

  /** Show or hide what tests of the graph found. @param {boolean} shown */
  showTests(shown) {
    this.#checks.classList.toggle("unshown", !shown);
  }

  /** @param {number} factor */
  zoom(factor) {
    this.#view.zoom(factor);
  }

  /** Light up what a reason speaks of, until something else is lit. @param {Lit | null} lit */
  light(lit) {
    this.#lit = lit;
    this.#paintStates();
  }

  /** Mark the parts that something is wrong with. @param {string[]} keys names of nodes, keys of edges */
  markFaults(keys) {
    this.#faulty = new Set(keys);
    this.#paintStates();
  }

  /** Draw what a check says of pairs of nodes. @param {Statement[]} statements */
  showChecks(statements) {
    this.#statements = statements;
    this.#drawChecks();
  }

  /** Select nodes or an edge from outside, such as a list. @param {Partial<Selected>} selected */
  select(selected) {
    this.#selected = { nodes: selected.nodes ?? [], edge: selected.edge ?? null };
    const last = this.#selected.edge ? keyOf(this.#selected.edge) : this.#selected.nodes.at(-1);
    if (last) this.#makeCurrent(last);
    this.#paintStates();
    this.dispatchEvent(new CustomEvent("selection"));
  }

  /** Put the keyboard's focus on the selected part, or on the one that had it last. */
  focusCurrent() {
    (this.#partOf(this.#current) ?? this.#svg).focus({ preventScroll: true });
  }

  /** Add a node beside the current one, or at a point, and let it be named. @param {{x: number, y: number}} [at] */
  addNode(at) {
    const { graph } = this.project;
    const name = makeName(graph);
    const { x, y } = at ?? this.#findRoom();
    this.#store.change(t("data.add", name), (draft) => addNode(draft, name, Math.round(x), Math.round(y)));
    this.select({ nodes: [name] });
    this.rename(name);
  }

  /** Start an edge at a node: the next node that is chosen is its other end. @param {EdgeKind} kind */
  connect(kind) {
    const from = this.#selected.nodes;
    if (from.length === 2) {
      this.#join(from[0], from[1], kind);
    } else if (from.length === 1) {
      this.#connecting = { from: from[0], kind };
      announce(t("editor.connecting_from_choose_the_other_node", from[0]));
      this.#paintStates();
      this.focusCurrent();
      this.dispatchEvent(new CustomEvent("selection"));
    } else {
      complain(t("editor.select_a_node_first_the_edge"));
    }
  }

  stopConnecting() {
    if (!this.#connecting) return;
    this.#connecting = null;
    this.#overlay.replaceChildren();
    this.#paintStates();
    this.dispatchEvent(new CustomEvent("selection"));
  }

  /** Give the selected node a role, or take it away. @param {Role} role */
  toggleRole(role) {
    const [name] = this.#selected.nodes;
    if (!name) return;
    this.#store.change(t("editor.as", name, role), (draft) => toggleRole(draft, name, role));
    announce(`${name}: ${listRoles(this.project, name).join(", ") || t("editor.no_role")}`);
  }

  /** Remove what is selected. */
  remove() {
    const { nodes, edge } = this.#selected;
    if (edge) {
      const all = bundleEdges(this.project.graph).find(({ edges }) => edges.some((each) => sameEdge(each, edge)))?.edges ?? [edge];
      this.#store.change(t("editor.remove", say(edge)), (draft) => {
        for (const each of all) removeEdge(draft, each);
      });
      announce(t("editor.removed", say(edge)));
      this.select({ nodes: [edge.tail] });
    } else if (nodes.length > 0) {
      this.#store.change(t("editor.remove", nodes.join(", ")), (draft) => {
        for (const name of nodes) removeNode(draft, name);
      });
      announce(t("editor.removed", nodes.join(", ")));
      this.select({});
    }
    this.focusCurrent();
  }

  /** Turn the selected edge into another between the same nodes. @param {Edge} into */
  turn(into) {
    const { edge } = this.#selected;
    if (!edge || sameEdge(edge, into)) return;
    this.#store.change(t("editor.becomes", say(edge), say(into)), (draft) => replaceEdge(draft, edge, into));
    this.select({ edge: into });
    announce(say(into));
  }

  /** Add an edge between two nodes. @param {string} tail @param {string} head @param {EdgeKind} kind */
  #join(tail, head, kind) {
    this.stopConnecting();
    const edge = { tail, head, kind };
    if (tail === head) {
      complain(t("editor.an_edge_needs_two_nodes"));
    } else if (this.project.graph.edges.some((each) => sameEdge(each, edge))) {
      complain(t("editor.is_drawn_already", say(edge)));
    } else {
      this.#store.change(t("data.add", say(edge)), (draft) => addEdge(draft, tail, head, kind));
      announce(t("editor.added", say(edge)));
    }
    this.select({ nodes: [head] });
    this.focusCurrent();
  }

  /** Let the person type a node's name where it stands. @param {string} name */
  rename(name) {
    const node = findNode(this.project.graph, name);
    if (!node) return;
    const width = Math.max(130, boxWidth(name, node.selection) + 20);
    const input = element("input", { class: "rename", value: name, "aria-label": t("editor.name_of", name), spellcheck: "false" });
    const fault = element("p", { class: "fault", role: "alert" });
    const place = shape("foreignObject", {
      x: node.x - width / 2, y: node.y - NODE_HEIGHT / 2, width, height: 110, class: "renaming",
    }, input, fault);
    let done = false;
    /** @param {boolean} keep @param {boolean} refocus */
    const end = (keep, refocus) => {
      if (done) return;
      const after = input.value.trim();
      if (keep && after !== name) {
        if (after === "" || findNode(this.project.graph, after)) {
          fault.textContent = after === "" ? t("editor.a_node_needs_a_name") : t("editor.there_is_another", after);
          if (refocus) return;
          complain(t("editor.it_stays", fault.textContent, name));
          keep = false;
        }
      }
      done = true;
      place.remove();
      if (keep && after !== name && findNode(this.project.graph, name)) {
        this.#store.change(t("editor.rename_to", name, after), (draft) => renameNode(draft, name, after, this.columns));
        this.select({ nodes: [after] });
      }
      if (refocus) this.focusCurrent();
    };
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") end(true, true);
      if (event.key === "Escape") end(false, true);
    });
    input.addEventListener("pointerdown", (event) => event.stopPropagation());
    input.addEventListener("blur", () => end(true, false));
    this.#overlay.replaceChildren(place);
    this.#stopRenaming = () => end(false, false);
    input.focus({ preventScroll: true });
    input.select();
  }

  /** @returns {{x: number, y: number}} a free place near what has the focus, inside the view */
  #findRoom() {
    const { nodes } = this.project.graph;
    const { width, height } = this.#view.size;
    const near = findNode(this.project.graph, this.#current);
    const centre = near ?? { x: this.#view.x + width / this.#view.scale / 2, y: this.#view.y + height / this.#view.scale / 2 };
    for (let ring = near ? 1 : 0; ring < 20; ring += 1) {
      for (let turn = 0; turn < 8; turn += 1) {
        const angle = (turn * Math.PI) / 4;
        const at = { x: centre.x + ring * 140 * Math.cos(angle), y: centre.y + ring * 75 * Math.sin(angle) };
        const free = nodes.every((node) => Math.abs(node.x - at.x) > 110 || Math.abs(node.y - at.y) > 55);
        if (free && this.#view.holds({ name: "New", hidden: false, selection: false, ...at })) return at;
      }
    }
    return { x: centre.x + 30, y: centre.y + 60 };
  }

  // Following the document ---------------------------------------------------------------------

  /** @param {CustomEvent} event */
  #follow(event) {
    const before = /** @type {Project} */ (event.detail.before);
    const { graph } = this.project;
    if (event.detail.opened) {
      this.#stopRenaming();
      this.stopConnecting();
      this.#giveUp();
    }
    const known = new Set(graph.nodes.map((node) => node.name));
    const { nodes, edge } = this.#selected;
    const kept = nodes.filter((name) => known.has(name));
    const edgeStays = edge && graph.edges.some((each) => sameEdge(each, edge));
    this.#update();
    if (this.#connecting && !known.has(this.#connecting.from)) this.stopConnecting();
    if (kept.length !== nodes.length || (edge && !edgeStays)) this.select({ nodes: kept });
    const old = new Set(before.graph.nodes.map((node) => node.name));
    const another = !graph.nodes.some((node) => old.has(node.name));
    const away = graph.nodes.some((node) => !this.#view.holds(node));
    const one = graph.nodes.length < 2; // a first node stays under the hand, named or not
    if ((another && !one) || (away && (another || this.#view.fitted))) this.fit();
  }

  #update() {
    this.#drawGroups();
    this.#drawNodes();
    this.#drawEdges();
    this.#drawChecks();
    this.#drawEmpty();
    if (!this.#partOf(this.#current)) this.#makeCurrent(this.project.graph.nodes[0]?.name ?? "");
    this.#paintStates();
  }

  #drawEmpty() {
    const bare = this.project.graph.nodes.length === 0;
    this.#empty.hidden = !bare;
    if (!bare || this.#empty.childElementCount) return;
    this.#empty.append(
      element("p", {}, element("strong", {}, t("editor.an_empty_graph"))),
      element("p", {}, t("editor.double_click_anywhere_or_press_n")),
      element("p", {}, t("editor.or_type_the_graph_below_as"), element("code", {}, t("editor.treatment_outcome")), t("editor.or_paste_dagitty_or_dot_text")),
    );
  }

  /** @param {Map<string, GraphNode>} [moved] nodes on their way */
  #drawGroups(moved) {
    const { graph } = this.project;
    this.#groups.replaceChildren(...(graph.groups ?? []).flatMap(({ name, members, independent }) => {
      const box = frameGroup(graph.nodes, members, moved);
      if (!box) return [];
      const { x, y, width, height } = box;
      return [shape("g", { class: "group", "data-group": name, role: "img", "aria-label": t("editor.group", name, members.join(", ")) },
        shape("title", {}, independent ? t("editor.independent_variables") : t("editor.variables_with_arbitrary_relations_among_them")),
        shape("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 12 }),
        shape("text", { x: x - width / 2 + 10, y: y - height / 2 + 15 }, name))];
    }));
  }

  #drawNodes() {
    const { graph } = this.project;
    const known = new Set(graph.nodes.map((node) => node.name));
    for (const [name, part] of this.#nodeParts) {
      if (known.has(name)) continue;
      part.remove();
      this.#nodeParts.delete(name);
    }
    for (const node of graph.nodes) {
      const roles = listRoles(this.project, node.name);
      let part = this.#nodeParts.get(node.name);
      if (!part) {
        part = shape("g", { class: "node", role: "button", tabindex: "-1", "data-name": node.name });
        this.#nodeParts.set(node.name, part);
        this.#nodes.append(part);
      }
      const look = `${roles} ${node.name}`;
      if (part.dataset.look !== look) {
        part.dataset.look = look;
        part.replaceChildren(...drawFrame(node, roles));
      }
      part.setAttribute("transform", `translate(${node.x} ${node.y})`);
      part.setAttribute("aria-label", describeNode(this.project, node, roles));
    }
  }

  #drawEdges() {
    const { graph } = this.project;
    const bundles = bundleEdges(graph);
    this.#bundles = bundles;
    const known = new Set(bundles.map(({ edge }) => keyOf(edge)));
    for (const [key, part] of this.#edgeParts) {
      if (known.has(key)) continue;
      part.remove();
      this.#edgeParts.delete(key);
    }
    for (const bundle of bundles) {
      const { edge, tail, head } = bundle;
      const key = keyOf(edge);
      let part = this.#edgeParts.get(key);
      if (!part) {
        part = shape("g", { class: edge.kind === "<->" ? "edge two" : "edge", role: "button", tabindex: "-1", "data-key": key },
          shape("path", { class: "hit" }), shape("path", { class: "line" }), shape("path", { class: "head" }));
        this.#edgeParts.set(key, part);
        this.#edges.append(part);
      }
      const without = this.project.without_edges.some((each) => sameEdge(each, edge));
      part.classList.toggle("without", without);
      part.setAttribute("aria-label", `${say({ tail: tail ?? edge.tail, head: head ?? edge.head, kind: edge.kind })}${without ? t("editor.left_out") : ""}`);
      this.#drawEdge(bundle, part);
    }
  }

  /** @param {import("./graph.js").Bundle} bundle @param {SVGGElement} part @param {Map<string, GraphNode>} [moved] nodes on their way */
  #drawEdge({ edge, tail: tailGroup, head: headGroup }, part, moved) {
    const { graph } = this.project;
    /** @param {string} name @param {string | null} group */
    const where = (name, group) => {
      const members = group === null ? undefined : graph.groups.find((each) => each.name === group)?.members;
      return members ? frameGroup(graph.nodes, members, moved) : moved?.get(name) ?? findNode(graph, name);
    };
    const tail = where(edge.tail, tailGroup);
    const head = where(edge.head, headGroup);
    if (!tail || !head) return;
    const inside = new Set(graph.groups.filter(({ name }) => name === tailGroup || name === headGroup).flatMap(({ members }) => members));
    const stroke = drawStroke(edge, tail, head, graph.nodes.filter(({ name }) => !inside.has(name) && name !== edge.tail && name !== edge.head));
    const [hit, line, heads] = part.children;
    hit.setAttribute("d", stroke.line);
    line.setAttribute("d", stroke.line);
    heads.setAttribute("d", stroke.heads);
  }

  #drawChecks() {
    const { graph } = this.project;
    const ordered = [...this.#statements].sort((a, b) => Number(a.status === "contradicted") - Number(b.status === "contradicted")); // the last on top
    const drawn = ordered.flatMap(({ statement, status, edge }) => {
      const tail = findNode(graph, edge.tail);
      const head = findNode(graph, edge.head);
      if (!tail || !head) return [];
      const stroke = drawStroke({ ...edge, kind: "<->" }, tail, head, graph.nodes);
      const { x, y } = stroke.middle;
      const bad = status === "contradicted";
      return [
        shape("g", { class: bad ? "check bad" : "check good" },
          shape("title", {}, `${status}: ${statement}`),
          shape("path", { d: stroke.line }),
          shape("circle", { cx: x, cy: y, r: 9 }),
          shape("text", { x, y: y + 4.5 }, bad ? "!" : "✓")),
      ];
    });
    this.#checks.replaceChildren(...drawn);
  }

  /** Set the classes of all parts: selected, lit, faulty, start of an edge. */
  #paintStates() {
    const { nodes, edge } = this.#selected;
    const lit = this.#lit;
    this.#svg.classList.toggle("lit", lit !== null);
    this.#svg.classList.toggle("connecting", this.#connecting !== null);
    for (const [name, part] of this.#nodeParts) {
      part.classList.toggle("selected", nodes.includes(name));
      part.setAttribute("aria-pressed", String(nodes.includes(name)));
      part.classList.toggle("start", this.#connecting?.from === name);
      part.classList.toggle("side", lit !== null && lit.nodes.includes(name));
      part.classList.toggle("faulty", this.#faulty.has(name));
    }
    const lines = new Map(this.#bundles.flatMap(({ edge: shown, edges }) => edges.map((each) => [keyOf(each), keyOf(shown)])));
    const paths = new Set(lit?.edges.map((each) => lines.get(keyOf(each))) ?? []);
    for (const [key, part] of this.#edgeParts) {
      const chosen = edge !== null && keyOf(edge) === key;
      part.classList.toggle("selected", chosen);
      part.setAttribute("aria-pressed", String(chosen));
      part.classList.toggle("path", paths.has(key));
      part.classList.toggle("faulty", this.#faulty.has(key));
    }
  }

  // Focus --------------------------------------------------------------------------------------

  /** @param {string} key the name of a node or the key of an edge */
  #partOf(key) {
    return this.#nodeParts.get(key) ?? this.#edgeParts.get(key) ?? null;
  }

  /** Put one part, and no other, into the tab order. @param {string} key */
  #makeCurrent(key) {
    this.#partOf(this.#current)?.setAttribute("tabindex", "-1");
    this.#current = key;
    this.#partOf(key)?.setAttribute("tabindex", "0");
    if (this.project.graph.nodes.length === 0) this.#svg.setAttribute("tabindex", "0");
    else this.#svg.removeAttribute("tabindex");
  }

  /** Go to the nearest node in a direction. @param {string} name @param {[number, number]} direction */
  #goTowards(name, [dx, dy]) {
    const from = findNode(this.project.graph, name);
    if (!from) return;
    let best = null;
    let least = Infinity;
    for (const node of this.project.graph.nodes) {
      const ahead = (node.x - from.x) * dx + (node.y - from.y) * dy;
      const aside = Math.abs((node.x - from.x) * dy) + Math.abs((node.y - from.y) * dx);
      if (ahead <= 1 || ahead + 2.2 * aside >= least) continue;
      least = ahead + 2.2 * aside;
      best = node;
    }
    if (best) this.#goTo(best.name);
  }

  /** Move the focus, and with it the selection unless an edge is being drawn. @param {string} name */
  #goTo(name) {
    if (this.#connecting) this.#makeCurrent(name);
    else this.select({ nodes: [name] });
    this.focusCurrent();
  }

  /** Go to the next edge of a node. @param {string} name @param {Edge | null} after */
  #goToEdge(name, after) {
    const edges = this.project.graph.edges.filter((edge) => edge.tail === name || edge.head === name);
    if (edges.length === 0) {
      complain(t("editor.has_no_edges", name));
      return;
    }
    const at = after ? edges.findIndex((edge) => sameEdge(edge, after)) : -1;
    const edge = edges[(at + 1) % edges.length];
    this.#origin = name;
    this.select({ edge });
    this.focusCurrent();
  }

  #origin = "";

  // Listening ----------------------------------------------------------------------------------

  #listen() {
    const svg = this.#svg;
    svg.addEventListener("keydown", (event) => this.#press(event));
    svg.addEventListener("focusin", (event) => {
      const part = /** @type {Element} */ (event.target).closest("[data-name], [data-key]");
      if (!(part instanceof SVGElement)) return;
      this.#makeCurrent(part.dataset.name ?? part.dataset.key ?? "");
    });
    svg.addEventListener("pointerdown", (event) => this.#grab(event));
    svg.addEventListener("pointermove", (event) => this.#move(event));
    svg.addEventListener("pointerup", (event) => this.#release(event));
    svg.addEventListener("pointercancel", () => this.#giveUp());
    svg.addEventListener("dblclick", (event) => {
      // While a pointer is captured, its clicks are told of the sheet, wherever they were.
      const part = partUnder(document.elementFromPoint(event.clientX, event.clientY));
      if (part?.dataset.name) this.rename(part.dataset.name);
      else if (!part) this.addNode(this.#view.locate(event));
    });
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.body.dataset.mode !== "draw") return;
      event.preventDefault();
      this.#view.zoom(Math.exp(-event.deltaY / 300), event);
    }, { passive: false });
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const node = findNode(this.project.graph, this.#current);
    const done =
      this.#pressAnywhere(event) || (node ? this.#pressOnNode(event, node) : this.#pressOnEdge(event));
    if (done) event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  #pressAnywhere(event) {
    switch (event.key) {
      case "n": case "N": case "Insert":
        this.addNode();
        return true;
      case "Delete": case "Backspace":
        if (this.#connecting) return true;
        if (this.#selected.nodes.length === 0 && !this.#selected.edge) this.#selectCurrent();
        this.remove();
        return true;
      case "Escape":
        if (this.#connecting) this.stopConnecting();
        else if (this.picking) this.pick(null);
        else if (this.#selected.edge && this.#origin) this.#goTo(this.#origin);
        else this.select({});
        return true;
      case "f": case "F":
        this.fit();
        return true;
      case "l": case "L":
        this.dispatchEvent(new CustomEvent("layout"));
        return true;
      default:
        return false;
    }
  }

  /** Select what has the focus: one comes there by Tab too, which selects nothing. */
  #selectCurrent() {
    const edge = this.project.graph.edges.find((each) => keyOf(each) === this.#current) ?? null;
    this.select({ edge, nodes: findNode(this.project.graph, this.#current) ? [this.#current] : [] });
  }

  /** @param {KeyboardEvent} event @param {GraphNode} node */
  #pressOnNode(event, node) {
    const arrow = ARROWS[event.key];
    if (arrow && event.shiftKey) {
      this.#nudge(node.name, arrow);
    } else if (arrow) {
      this.#goTowards(node.name, arrow);
    } else if (this.#connecting && event.key === "Enter") {
      const { from, kind } = this.#connecting;
      this.#join(from, node.name, kind);
    } else if (this.picking && event.key === "Enter") {
      this.#pickNode(node.name);
    } else if (event.key === "Enter" || event.key === "F2") {
      this.rename(node.name);
    } else if (event.key === "c" || event.key === "b") {
      if (!this.#selected.nodes.includes(node.name)) this.select({ nodes: [node.name] });
      this.connect(event.key === "c" ? "->" : "<->");
    } else if (event.key === "e") {
      this.#goToEdge(node.name, null);
    } else if (event.key === " ") {
      this.#toggleSelected(node.name);
    } else if (event.key === "Home" || event.key === "End") {
      const name = this.project.graph.nodes.at(event.key === "Home" ? 0 : -1)?.name;
      if (name) this.#goTo(name);
    } else if (ROLE_KEYS[event.key]) {
      if (!this.#selected.nodes.includes(node.name)) this.select({ nodes: [node.name] });
      this.toggleRole(ROLE_KEYS[event.key]);
    } else {
      return false;
    }
    return true;
  }

  /** @param {KeyboardEvent} event */
  #pressOnEdge(event) {
    const edge = this.#selected.edge ?? this.project.graph.edges.find((each) => keyOf(each) === this.#current);
    if (!edge) return false;
    if (event.key === "e" || ARROWS[event.key]) {
      this.#goToEdge(this.#origin || edge.tail, edge);
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.#selected.edge) this.turn(nextKind(edge));
      else this.select({ edge });
    } else {
      return false;
    }
    return true;
  }

  /** @param {string} name @param {[number, number]} direction */
  #nudge(name, [dx, dy]) {
    this.#store.change(t("editor.move", name), (draft) => {
      const node = findNode(draft.graph, name);
      if (!node) return;
      node.x += dx * STEP;
      node.y += dy * STEP;
    }, `nudge ${name}`);
  }

  /** @param {string} name */
  #toggleSelected(name) {
    const { nodes } = this.#selected;
    const has = nodes.includes(name);
    this.select({ nodes: has ? nodes.filter((each) => each !== name) : [...nodes, name].slice(-2) });
  }

  // Pointers -----------------------------------------------------------------------------------

  #panning = false;
  /** @type {{x: number, y: number} | null} */
  #pressed = null;
  #rubber = "";

  /** @param {PointerEvent} event */
  #grab(event) {
    if (event.button !== 0) return;
    const target = /** @type {Element} */ (event.target);
    if (target.closest(".renaming")) return;
    const part = partUnder(target);
    const name = part?.dataset.name;
    const group = target.closest("[data-group]")?.getAttribute("data-group");
    this.#pressed = { x: event.clientX, y: event.clientY };
    if (name && target.classList.contains("handle")) {
      event.preventDefault();
      this.#rubber = name;
      this.#svg.setPointerCapture(event.pointerId);
    } else if (name) {
      event.preventDefault();
      const names = this.#selected.nodes.includes(name) ? this.#selected.nodes : [name];
      this.#drag = { names, from: this.#view.locate(event), dx: 0, dy: 0, moved: false };
      this.#svg.setPointerCapture(event.pointerId);
    } else if (group) {
      event.preventDefault();
      this.#drag = { names: this.project.graph.groups.find((each) => each.name === group)?.members ?? [], from: this.#view.locate(event), dx: 0, dy: 0, moved: false };
      this.#svg.setPointerCapture(event.pointerId);
    } else if (!part && (event.pointerType !== "touch" || !this.#view.fitted)) {
      this.#panning = true;
      this.#svg.setPointerCapture(event.pointerId);
    }
  }

  /** @param {PointerEvent} event */
  #move(event) {
    if (this.#connecting || this.#rubber) this.#drawRubber(event);
    if (this.#panning && this.#pressed) {
      this.#view.pan(event.movementX, event.movementY);
    }
    if (!this.#drag || !this.#pressed) return;
    const far = Math.hypot(event.clientX - this.#pressed.x, event.clientY - this.#pressed.y) > SLACK;
    if (!this.#drag.moved && !far) return;
    const at = this.#view.locate(event);
    this.#drag.moved = true;
    this.#drag.dx = at.x - this.#drag.from.x;
    this.#drag.dy = at.y - this.#drag.from.y;
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#drawDrag());
  }

  /** Draw what moved: the nodes on their way and the edges that touch them, nothing else. */
  #drawDrag() {
    this.#frame = 0;
    const drag = this.#drag;
    if (!drag) return;
    const { graph } = this.project;
    /** @type {Map<string, GraphNode>} */
    const moved = new Map();
    for (const name of drag.names) {
      const node = findNode(graph, name);
      if (!node) continue;
      const there = { ...node, x: node.x + drag.dx, y: node.y + drag.dy };
      moved.set(name, there);
      this.#nodeParts.get(name)?.setAttribute("transform", `translate(${there.x.toFixed(1)} ${there.y.toFixed(1)})`);
    }
    if (graph.groups?.length) this.#drawGroups(moved);
    for (const bundle of this.#bundles) {
      if (!bundle.edges.some(({ tail, head }) => moved.has(tail) || moved.has(head))) continue;
      const part = this.#edgeParts.get(keyOf(bundle.edge));
      if (part) this.#drawEdge(bundle, part, moved);
    }
  }

  /** @param {PointerEvent} event */
  #drawRubber(event) {
    const from = findNode(this.project.graph, this.#rubber || this.#connecting?.from || "");
    if (!from) return;
    const to = this.#view.locate(event);
    this.#overlay.replaceChildren(
      shape("path", { class: "rubber", d: `M${from.x} ${from.y}L${to.x} ${to.y}` }),
    );
  }

  /** @param {PointerEvent} event */
  #release(event) {
    const under = partUnder(document.elementFromPoint(event.clientX, event.clientY));
    const name = under?.dataset.name;
    const drag = this.#drag;
    const rubber = this.#rubber;
    const panned = this.#panning && this.#pressed && Math.hypot(event.clientX - this.#pressed.x, event.clientY - this.#pressed.y) > SLACK;
    this.#giveUp();
    if (rubber) {
      if (name && name !== rubber) this.#join(rubber, name, event.shiftKey || event.altKey ? "<->" : "->");
      else this.select({ nodes: [rubber] });
    } else if (drag?.moved) {
      this.#drop(drag);
    } else if (this.#connecting && name) {
      this.#join(this.#connecting.from, name, this.#connecting.kind);
    } else if (name && this.picking) {
      this.#pickNode(name);
    } else if (name) {
      if (event.shiftKey || event.ctrlKey || event.metaKey) this.#toggleSelected(name);
      else this.select({ nodes: [name] });
      this.focusCurrent();
    } else if (under?.dataset.key) {
      const key = under.dataset.key;
      const edge = this.project.graph.edges.find((each) => keyOf(each) === key);
      if (edge) this.select({ edge });
      this.focusCurrent();
    } else if (!panned) {
      this.stopConnecting();
      this.select({});
    }
  }

  /** @param {Drag} drag */
  #drop(drag) {
    this.#store.change(t("editor.move", drag.names.join(", ")), (draft) => {
      for (const name of drag.names) {
        const node = findNode(draft.graph, name);
        if (!node) continue;
        node.x = Math.round(node.x + drag.dx);
        node.y = Math.round(node.y + drag.dy);
      }
    });
    this.select({ nodes: drag.names.length > 2 ? [] : drag.names });
    this.focusCurrent();
  }

  #giveUp() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#drag = null;
    this.#panning = false;
    this.#pressed = null;
    if (this.#rubber) this.#overlay.replaceChildren();
    this.#rubber = "";
  }
}

/** Say an edge as one would. @param {Pair} edge */
export function say(edge) {
  return edge.kind === "<->" ? `${edge.tail} ↔ ${edge.head}` : `${edge.tail} → ${edge.head}`;
}

/** @param {Edge} edge @returns {Edge} the next of the three ways to join its nodes */
function nextKind({ tail, head, kind }) {
  if (kind === "<->") return { tail, head, kind: "->" };
  return tail < head ? { tail: head, head: tail, kind: "->" } : { tail, head, kind: "<->" };
}

/** @param {EventTarget | null} target @returns {SVGElement | null} */
function partUnder(target) {
  const part = target instanceof Element ? target.closest(".node, .edge") : null;
  return part instanceof SVGElement ? part : null;
}

/** @param {GraphNode} node @param {Role[]} roles */
function drawFrame(node, roles) {
  const width = boxWidth(node.name, node.selection);
  const square = roles.includes("treatment") || roles.includes("selection");
  const frame = { x: -width / 2, y: -NODE_HEIGHT / 2, width, height: NODE_HEIGHT, rx: square ? 4 : 18 };
  const parts = [
    shape("rect", { class: ["frame", ...roles].join(" "), ...frame }),
    node.selection &&
      shape("rect", { class: "rim selection", x: frame.x + 3, y: frame.y + 3, width: width - 6, height: NODE_HEIGHT - 6, rx: 2 }),
    shape("text", { y: roles.length > 0 ? -1 : 5 }, node.name),
    roles.length > 0 && shape("text", { class: `role ${roles[0]}`, y: 13 }, roles[0] === "context" ? t("editor.subgroup") : roles[0]),
    shape("circle", { class: "handle", cx: width / 2, cy: 0, r: 7 }, shape("title", {}, t("editor.drag_to_another_node_to_connect"))),
  ];
  return parts.filter((each) => each instanceof Node);
}

/** The box around the members of a group. @param {GraphNode[]} nodes @param {string[]} members @param {Map<string, GraphNode>} [moved] */
function frameGroup(nodes, members, moved) {
  const inside = nodes.filter(({ name }) => members.includes(name)).map((node) => moved?.get(node.name) ?? node);
  if (inside.length === 0) return null;
  const { left, right, top, bottom } = frameNodes(inside, 10);
  const [width, height] = [right - left, bottom - top + 16];
  return { name: "", hidden: false, selection: false, x: (left + right) / 2, y: (top - 16 + bottom) / 2, width, height };
}

/** @param {Project} project @param {GraphNode} node @param {Role[]} roles */
function describeNode(project, node, roles) {
  const causes = [];
  const effects = [];
  const unseen = [];
  for (const edge of project.graph.edges) {
    if (edge.kind === "<->" && edge.tail === node.name) unseen.push(edge.head);
    else if (edge.kind === "<->" && edge.head === node.name) unseen.push(edge.tail);
    else if (edge.head === node.name) causes.push(edge.tail);
    else if (edge.tail === node.name) effects.push(edge.head);
  }
  const parts = [
    [node.name, ...roles].join(", "),
    causes.length > 0 && t("editor.caused_by", causes.join(", ")),
    effects.length > 0 && t("editor.causes", effects.join(", ")),
    unseen.length > 0 && t("editor.hidden_common_cause_with", unseen.join(", ")),
  ];
  return parts.filter(Boolean).join("; ");
}

customElements.define("graph-editor", GraphEditor);
