// @ts-check
/**
 * The shapes that pass between the server and the page, as types for editors and for tsc.
 *
 * @typedef {{name: string, hidden: boolean, selection: boolean, x: number, y: number, width?: number, height?: number}} GraphNode
 * @typedef {"->" | "<->"} EdgeKind
 * @typedef {{tail: string, head: string, kind: EdgeKind}} Edge
 * @typedef {{tail: string, head: string, kind: EdgeKind | null}} Pair  Two nodes, joined or not.
 * @typedef {{name: string, members: string[], independent: boolean}} NodeGroup
 * @typedef {{nodes: GraphNode[], edges: Edge[], groups: NodeGroup[], text: string | null}} Graph
 * @typedef {{outcome: string | null, treatments: string[], context: string[], baseline: Level[] | null, adjust_for: string[], never_adjust_for: string[]}} Query
 * @typedef {{
 *   file: string | null, columns: Record<string, string>, bins: Record<string, number[]>,
 *   weight: string | null, levels: Record<string, (string | number)[]>,
 * }} DataChoice
 * @typedef {{
 *   confidence: number | null, inference: string, goal: "max" | "min", selection_rate: number | [number, number] | null,
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
 * @typedef {{words: string, lit: Lit}} Highlighted  Words, and what they light up.
 * @typedef {{rule: string, title: string, data: string[]}} Reason
 * @typedef {{claim: string, steps: Highlighted[], lit: Lit}} Rule
 * @typedef {string | number | boolean | null} Level
 * @typedef {{
 *   arm: Level[], context: Level[], lower: number, upper: number, lower_estimate: number,
 *   upper_estimate: number, unadjusted: number | null,
 * }} Interval
 * @typedef {Interval & {
 *   n: number, lower_rule: string, upper_rule: string, ruled_out_by: Level[] | null,
 *   title?: string, explanation?: Record<string, any>, reasons: Reason[],
 * }} BoundRow
 * @typedef {Interval & {direction: "increase" | "decrease" | "inconclusive"}} EffectRow
 * @typedef {{
 *   outcome: string, treatments: string[], context: string[], arms: Level[][],
 *   outcome_range: [number, number], goal: "max" | "min", summary: string, caveats: string[],
 *   silence: string[],
 *   effects: {baseline: Level[], baseline_name: string, summary: string[], confidence: string, rows: EffectRow[]} | null,
 *   rows: BoundRow[], n_rows: number, rules: Record<string, Rule>, choice: string[],
 * }} BoundResult
 * @typedef {{statement: string, status: string, explanation: string, edge: Edge}} Statement
 * @typedef {{
 *   verdict: string, contradicted: boolean, findings: Statement[], caveats: string[],
 * }} CheckResult
 * @typedef {{
 *   sentence: string, width_before: number, width_after: number | null,
 *   edge?: Edge, survives?: boolean, test?: string | null, cost?: string, basis?: string,
 * }} RankedItem  A missing edge that could overturn the answer, or something that would narrow it.
 * @typedef {{
 *   summary: string, items: RankedItem[], caveats: string[], useless?: string[],
 *   apart?: string[],
 * }} RankedResult
 * @typedef {{
 *   kind: "value" | "selection_limit" | "confounding_limit" | "rate" | "table" | "trial",
 *   words: string, width: number, range?: string, variable?: string, edge?: Edge,
 * }} NextStep  Something to state or to add, and the mean width of the bounds then.
 * @typedef {{width: number, steps: NextStep[]}} HelpResult
 * @typedef {{
 *   identified: boolean | null, formula: string | null, steps: Highlighted[], adjustment_sets: Highlighted[],
 *   more_sets: boolean, candidates: string[], causal_paths: Highlighted[], biasing_paths: Highlighted[],
 *   implications: Highlighted[], roles: Highlighted[],
 * }} StructureResult
 * @typedef {{rounds: number[], mean: number[], low: number[], high: number[]}} Curve
 * @typedef {{
 *   summary: string, curves: Record<string, Curve>, policies: {policy: string}[],
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
 *   edges: Claim[], missing: Claim[], arcs: Edge[],
 *   selection: string | null, problems: Problem[], query: string | null,
 * }} Claims
 * @typedef {{name: string, title: string, words: string}} Example
 * @typedef {{
 *   version: string, folder: string, draft: Project | null, examples: Example[],
 *   limits: {upload: number},
 * }} Start
 */

export {};
