// @ts-check
/**
 * The shapes that pass between the server and the page, as types for editors and for tsc.
 *
 * @typedef {{name: string, hidden: boolean, selection: boolean, x: number, y: number}} GraphNode
 * @typedef {"->" | "<->"} EdgeKind
 * @typedef {{tail: string, head: string, kind: EdgeKind}} Edge
 * @typedef {{tail: string, head: string, kind: EdgeKind | null}} Pair  Two nodes, joined or not.
 * @typedef {{name: string, members: string[], independent: boolean}} NodeGroup
 * @typedef {{nodes: GraphNode[], edges: Edge[], groups: NodeGroup[], text: string | null}} Graph
 * @typedef {{outcome: string | null, treatments: string[], context: string[]}} Query
 * @typedef {{
 *   file: string | null, columns: Record<string, string>, bins: Record<string, number[]>,
 *   weight: string | null, levels: Record<string, (string | number)[]>,
 * }} DataChoice
 * @typedef {{
 *   confidence: number | null, inference: string, selection_rate: number | [number, number] | null,
 *   selection_limit: number | null, confounding_limit: Record<string, number>,
 *   outcome_range: [number, number] | null, missing: string, external: string[],
 * }} Settings
 * @typedef {{rounds: number, runs: number, policies: string[]}} Simulation
 * @typedef {{
 *   format: string, version: number, name: string, graph: Graph, query: Query, data: DataChoice,
 *   settings: Settings, without_edges: Edge[], simulate: Simulation,
 * }} Project
 *
 * @typedef {{
 *   code: string, message: string, where: string | null, hint: string | null,
 *   line?: number | null, column?: number | null,
 * }} Fault  One line of what is wrong, and where.
 * @typedef {{where: string | null, message: string, hint?: string | null, lit?: Lit}} Problem
 *
 * @typedef {{nodes: string[], edges: Pair[], caption?: string | null}} Lit
 * @typedef {{words: string, lit: Lit}} ReasonStep
 * @typedef {{
 *   end: string, rule: string, words: string, numbers: string[], steps: ReasonStep[], lit: Lit,
 * }} Reason
 * @typedef {string | number | boolean | null} Level
 * @typedef {{
 *   arm: Level[], context: Level[], lower: number, upper: number, lower_estimate: number,
 *   upper_estimate: number, n: number, lower_rule: string, upper_rule: string,
 *   out: Level[] | null, words: string, widths: string, reasons: Reason[],
 * }} BoundRow  `out` is the arm that is surely better.
 * @typedef {{known: boolean, use: string, cost: string, out: string, where: string[]}} Use
 * @typedef {{
 *   treatments: string[], context: string[], rows: BoundRow[], n_rows: number,
 *   outcome_range: [number, number], promise: string,
 *   answer: {
 *     sentence: string, remarks: string[], use: Use[], basis: Record<string, string>,
 *     choice: {context: Level[], lottery: [Level[], number][], words: string}[], sure: string,
 *   },
 *   caveats: string[],
 * }} BoundResult
 * @typedef {{
 *   words: string, verdict: string, explanation: string, p: number | null, edge: Edge,
 * }} Statement
 * @typedef {{
 *   sentence: string, contradicted: boolean, statements: Statement[], caveats: string[],
 * }} CheckResult
 * @typedef {{
 *   sentence: string, width_before: number, width_after: number | null,
 *   edge?: Edge, survives?: boolean, test?: string | null, cost?: string, basis?: string,
 * }} RankedItem  A missing edge that could overturn the answer, or something that would narrow it.
 * @typedef {{
 *   sentence: string, items: RankedItem[], caveats: string[], useless?: string[],
 *   apart?: string[],
 * }} RankedResult
 * @typedef {{found: boolean, sentence: string, formula: string | null, steps: ReasonStep[]}} RecoverResult
 * @typedef {{rounds: number[], mean: number[], low: number[], high: number[]}} Curve
 * @typedef {{
 *   sentence: string, curves: Record<string, Curve>, policies: {policy: string, words: string}[],
 *   environments: string, caption: string, caveats: string[],
 * }} SimulateResult
 *
 * @typedef {{
 *   name: string, kind: string, holds: string, levels: {value: string | number | null, n: number}[],
 *   n_levels: number, n_missing: number,
 *   histogram: {edges: number[], counts: number[]} | null, node: string | null,
 * }} Column
 * @typedef {{
 *   n_rows: number, columns: Column[], unmatched_nodes: string[],
 *   suggestions: Record<string, string>, problems: Problem[],
 * }} DataLook
 * @typedef {Edge & {claim: string, text: string}} Claim
 * @typedef {{
 *   edges: Claim[], missing: Claim[],
 *   selection: string | null, problems: Problem[], query: string | null,
 * }} Claims
 * @typedef {{name: string, title: string, words: string}} Example
 * @typedef {{
 *   version: string, folder: string, draft: Project | null, examples: Example[],
 *   limits: {upload: number},
 * }} Start
 */

export {};
