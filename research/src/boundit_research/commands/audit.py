"""``boundit audit``: whether the bounds hold on models whose truth is known."""

import re
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from boundit.cli.options import INTERRUPTED, json_option, seed_option
from boundit.cli.outputs import print_json
from boundit.cli.progress import show_progress

if TYPE_CHECKING:
    from boundit_research.audits.coverage import CoverageReport
    from boundit_research.audits.large_worlds import LargeReport
    from boundit_research.audits.sharpness import SharpnessReport
    from boundit_research.audits.soundness import AuditReport

SUBJECTS = [
    "bounds",
    "large",
    "formulas",
    "coverage",
    "sharpness",
    "openness",
    "plans",
    "limits",
    "comparisons",
    "choices",
    "stress",
    "ablation",
]
FEWER_MODELS = {
    "coverage": 1_000,
    "sharpness": 3,
    "openness": 100,
    "plans": 1_000,
    "limits": 1_000,
    "comparisons": 1_000,
    "choices": 1_000,
    "stress": 1_000,
    "ablation": 250,
}
"""How many models are tried where ten thousand would take long."""
SMALLEST = 5
"""Graphs of fewer variables are no large ones."""


def _read_nodes(_: click.Context, parameter: click.Parameter, text: str) -> tuple[int, int]:
    """Read a range of numbers of variables, or one number."""
    found = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", text)
    least, most = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not SMALLEST <= least <= most:
        message = f"{text!r} is no range from {SMALLEST} on; write 10-40, or 20"
        raise click.BadParameter(message, param=parameter)
    return least, most


@click.command(short_help="Count what our claims miss on models whose truth is known.")
@click.option(
    "--of",
    "subject",
    type=click.Choice(SUBJECTS),
    default="bounds",
    show_default=True,
    help="Bounds from exact laws, the same on large graphs and from drawn logs too, recovered "
    "formulas, confident bounds on finite logs, how near each end comes to the furthest model "
    "with the same log, whether rows without a bound could have one, what plans say of cells "
    "and weights, bounds under limits on hidden confounding, comparisons of policies, the "
    "regret that choices promise, bounds under an edge that was left out, or what each part "
    "buys: widths, arms ruled out and regret without it.",
)
@click.option(
    "--models",
    type=click.IntRange(1),
    show_default="10,000; 1,000 for coverage, plans and all after them; 300 for large; "
    "3 for sharpness; 100 for openness; 250 for ablation",
    metavar="N",
    help="How many random models, questions, or models of each graph.",
)
@click.option(
    "--nodes",
    callback=_read_nodes,
    default="10-40",
    show_default=True,
    metavar="A-B",
    help="With --of large: how many variables the graphs have.",
)
@click.option(
    "--rows",
    type=click.IntRange(1),
    default=200_000,
    show_default=True,
    metavar="N",
    help="With --of large: how many rows a drawn log has.",
)
@seed_option
@json_option
@click.pass_context
def audit(
    context: click.Context,
    subject: str,
    models: int | None,
    nodes: tuple[int, int],
    rows: int,
    seed: int,
    *,
    as_json: bool,
) -> None:
    """Try our claims on models whose truth is known, and count what misses.

    Exits 1 when an interval of profile 'sound' misses the truth, a recovered formula is wrong,
    whole tables hold less often than their confidence says, a model with the same log lies
    beyond an end, a plan says what is not so, a policy is called better that is not, or a
    choice regrets more than it promised. Ctrl-C keeps what is done.

    \b
    Examples:
      boundit audit --models 10000
      boundit audit --of large --models 300 --nodes 10-40
      boundit audit --of formulas --models 5000
      boundit audit --of coverage --models 1000
      boundit audit --of sharpness --models 3
      boundit audit --of openness --models 100
      boundit audit --of plans --models 1000
      boundit audit --of limits --models 1000
      boundit audit --of comparisons --models 1000
      boundit audit --of choices --models 1000
      boundit audit --of stress --models 1000
      boundit audit --of ablation --models 250
    """
    if subject == "large":
        good = _audit_large(models or 300, nodes, rows, seed, as_json)
        context.exit(0 if good else 1)
    for name in ("nodes", "rows"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name} goes with --of large alone")
    answer = {
        "bounds": _audit_bounds,
        "formulas": _audit_formulas,
        "coverage": _audit_coverage,
        "sharpness": _audit_sharpness,
        "openness": _audit_openness,
        "plans": _audit_plans,
        "limits": _audit_limits,
        "comparisons": _audit_comparisons,
        "choices": _audit_choices,
        "stress": _audit_stress,
        "ablation": _audit_ablation,
    }[subject]
    models = models or FEWER_MODELS.get(subject, 10_000)
    context.exit(0 if answer(models, seed, as_json) else 1)


def _audit_bounds(models: int, seed: int, as_json: bool) -> bool:  # noqa: FBT001, a table of cases
    """Compare bounds of exact laws with the truth of random models, and print the misses.

    Gives False on a miss.
    """
    from boundit_research.audits.soundness import audit_bounds  # noqa: PLC0415, keeps --help quick

    with show_progress("models") as advance:
        report = audit_bounds(models, seed=seed, progress=lambda done: advance(done, models))
    if as_json:
        print_json(_make_bounds_record(report))
    else:
        _print_bounds(report)
    return _end_audit(report.models, models, "models", good=bool(report))


def _audit_large(
    models: int,
    nodes: tuple[int, int],
    rows: int,
    seed: int,
    as_json: bool,  # noqa: FBT001
) -> bool:
    """Compare bounds on large graphs with the truth, and print the misses; False on too many."""
    from boundit_research.audits.large_worlds import audit_large_worlds  # noqa: PLC0415

    with show_progress("worlds") as advance:
        report = audit_large_worlds(
            models,
            seed=seed,
            nodes=nodes,
            rows=rows,
            progress=lambda done: advance(done, models),
        )
    if as_json:
        print_json(asdict(report))
    else:
        _print_large(report)
    return _end_audit(report.worlds, models, "worlds", good=bool(report))


def _print_large(report: "LargeReport") -> None:
    """Print how many tables and intervals of large worlds miss, and how wide they are."""
    least, most = report.nodes
    click.echo(
        f"{report.worlds:,} random worlds of {least} to {most} variables, seed {report.seed}, "
        f"{report.log_rows:,} rows; {report.simulated:,} with a simulated truth"
    )
    click.echo(f"{'log':<17}{'tables':>8}{'missed':>8}{'intervals':>11}{'missed':>8}"
               f"{'differences':>13}{'missed':>8}{'mean width':>12}{'useful':>8}")  # fmt: skip
    for name, tally in report.tallies.items():
        click.echo(
            f"{name:<17}{tally.tables:>8,}{tally.missed_tables:>8,}{tally.rows:>11,}"
            f"{tally.missed_rows:>8,}{tally.contrasts:>13,}{tally.missed_contrasts:>8,}"
            f"{tally.mean_width:>12.3f}{tally.share_useful:>8.1%}"
        )
    left_out = report.tallies["exact"].left_out
    click.echo(f"{left_out:,} worlds without an exact law: it has too many cells")
    for miss in report.misses[:10]:
        click.echo(
            f"missed: world {miss.world}, {miss.log}, {miss.shape}: {miss.query}; {miss.row}"
        )


def _audit_formulas(models: int, seed: int, as_json: bool) -> bool:  # noqa: FBT001
    """Compare recovered formulas with the truth of random models, and print the wrong ones.

    Gives False on a wrong one.
    """
    from boundit_research.audits.formulas import audit_formulas  # noqa: PLC0415

    with show_progress("questions") as advance:
        report = audit_formulas(models, seed=seed, progress=lambda done: advance(done, models))
    if as_json:
        print_json(asdict(report))
    else:
        click.echo(
            f"{report.questions:,} random questions, seed {report.seed}: {report.found:,} "
            f"formulas found, {report.wrong} wrong, largest gap {report.worst_gap:.1e}"
        )
    return _end_audit(report.questions, models, "questions", good=bool(report))


def _end_audit(done: int, of: int, what: str, *, good: bool) -> bool:
    """Give whether an audit passed; say so when Ctrl-C ended it early.

    If nothing missed until then, the command exits with the code of an interruption.
    """
    if done < of:
        click.echo(f"interrupted after {done:,} of {of:,} {what}", err=True)
        if good:
            click.get_current_context().exit(INTERRUPTED)
    return good


def _audit_coverage(models: int, seed: int, as_json: bool) -> bool:  # noqa: FBT001
    """Count on drawn logs how often confident bounds hold, and print it; False on too few."""
    from boundit_research.audits.coverage import measure_coverage  # noqa: PLC0415

    with show_progress("problems") as advance:
        report = measure_coverage(
            models, seed=seed, progress=lambda done: advance(done, models)
        )
    if as_json:
        counts = [asdict(count) | {"chance": count.chance} for count in report.counts.values()]
        print_json(asdict(report) | {"counts": counts})
    else:
        _print_coverage(report)
    return _end_audit(report.problems, models, "problems", good=bool(report))


def _print_coverage(report: "CoverageReport") -> None:
    """Print how often tables hold by kind and method, and those that hold too seldom."""
    click.echo(
        f"{report.problems:,} random problems with a log each, seed {report.seed}, "
        f"confidence {report.confidence:g}"
    )
    click.echo(f"{'kind':<28}{'method':<13}{'tables':>7}{'truth':>8}{'set':>8}"
               f"{'width':>8}{'of set':>8}{'chance':>9}")  # fmt: skip
    short = report.list_short()
    for count in sorted(report.counts.values(), key=lambda count: count.kind):
        click.echo(
            f"{count.kind:<28}{count.inference:<13}{count.logs:>7,}{count.share:>8.3f}"
            f"{count.share_set:>8.3f}{count.width / count.logs:>8.3f}"
            f"{count.set_width / count.logs:>8.3f}{count.chance:>9.2g}"
            + ("  too few" if count in short else "")
        )
    click.echo("set: both ends that the exact law gives; chance: of no more tables by luck")
    for miss in report.misses[:10]:
        click.echo(
            f"missed: problem {miss.problem}, {miss.inference}, {miss.rows:,} rows, "
            f"{miss.query} on {miss.graph}; {miss.what}"
        )


def _audit_sharpness(models: int, seed: int, as_json: bool) -> bool:  # noqa: FBT001
    """Search models with the same log beyond the ends of bounds; False if one is found.

    Prints how near they come.
    """
    from boundit_research.audits.sharpness import SUITE, measure_sharpness  # noqa: PLC0415

    of = len(SUITE) * models
    with show_progress("models") as advance:
        report = measure_sharpness(models, seed=seed, progress=lambda done: advance(done, of))
    if as_json:
        ends = [asdict(end) | {"gap": end.gap} for end in report.ends]
        print_json(
            asdict(report) | {"ends": ends, "rows": [asdict(row) for row in report.summarize()]}
        )
    else:
        _print_sharpness(report, models)
    return _end_audit(report.done, of, "models", good=bool(report))


def _print_sharpness(report: "SharpnessReport", models: int) -> None:
    """Print how near the ends of bounds are to the furthest effects found, a line per graph."""
    click.echo(
        f"{models:,} random models of each graph, seed {report.seed}, exact laws; "
        f"{report.climbs} climbs an end, hidden causes of {report.levels} levels"
    )
    click.echo(f"{'graph':<29}{'known':<16}{'ends':>5}{'sharp':>7}{'median gap':>12}"
               f"{'worst':>8}{'settled':>9}")  # fmt: skip
    for row in report.summarize():
        click.echo(
            f"{row.case:<29}{row.known:<16}{row.ends:>5}{row.sharp:>7}"
            f"{row.median_gap:>z12.4f}{row.worst_gap:>z8.4f}{row.settled:>9}"
        )
    click.echo("sharp: a model with the same log comes within .001 of the end")
    click.echo("settled: of the others, where half the climbs or more ended alike: likely ours")
    for end in report.misses[:10]:
        click.echo(
            f"missed: {end.row} on {end.case!r}, {end.known} known: {end.side} end "
            f"{end.end:.6g} by {end.rule}, but a model with the same log has {end.found:.6g}"
        )


def _audit_openness(models: int, seed: int, as_json: bool) -> bool:  # noqa: FBT001
    """Search models that show why rows have no bound; False if an interval leaves one out.

    Prints how many rows are shown so.
    """
    from boundit_research.audits.openness import audit_openness  # noqa: PLC0415

    with show_progress("models") as advance:
        report = audit_openness(models, seed=seed, progress=lambda done: advance(done, models))
    if as_json:
        print_json(asdict(report) | {"share_shown": report.share_shown})
    else:
        useful = 1 - report.left_open / report.rows if report.rows else 0.0
        most = 1 - report.shown / report.rows if report.rows else 0.0
        click.echo(
            f"{report.models:,} random models, seed {seed}, exact laws, nothing known of "
            f"selection\n{report.rows:,} intervals, {useful:.1%} say more than the range\n"
            f"{report.left_open:,} do not; of these {report.shown:,} "
            f"({report.share_shown:.1%}) are shown open: models with the same log have "
            "effects next to 0 and next to 1\n"
            f"so no method can say more in over {most:.1%} of the intervals\n"
            f"{report.rivals:,} rival models built, {report.wrong} wrong; "
            f"{report.missed} intervals leave a rival out"
        )
    return _end_audit(report.models, models, "models", good=bool(report))


def _audit_plans(models: int, seed: int, as_json: bool) -> bool:  # noqa: FBT001
    """Compare what plans say of cells, pools and weights with models; False on a miss.

    Prints how many problems have a plan, and of which kind.
    """
    from boundit_research.audits.plans import audit_plans  # noqa: PLC0415

    with show_progress("models") as advance:
        report = audit_plans(models, seed=seed, progress=lambda done: advance(done, models))
    if as_json:
        print_json(asdict(report) | {"share_planned": report.share_planned})
    else:
        compared = ", ".join(f"{n:,} {what}" for what, n in report.compared.items())
        click.echo(
            f"{report.models:,} random models, seed {seed}, logs as large as laws\n"
            f"{report.plans:,} ({report.share_planned:.1%}) have a plan: {report.plain:,} go "
            f"over no variable, {report.from_rows:,} have all weights from rows, "
            f"{report.tilted:,} up to a tilt, {report.online:,} from rounds\n"
            f"compared with the models: {compared or 'nothing'}\n"
            f"{len(report.misses):,} misses, worst difference {report.worst_gap:.1e}"
        )
        for miss in report.misses[:10]:
            click.echo(f"missed: {miss.what} by {miss.gap:.2g}, {miss.query} on {miss.graph}")
    return _end_audit(report.models, models, "models", good=bool(report))


def _audit_stress(models: int, seed: int, as_json: bool) -> bool:  # noqa: FBT001
    """Bound models that have an edge more than the graph, which is added; False on a miss.

    Prints how often the graph without it misses.
    """
    from boundit_research.audits.added_edges import CONFIDENCE, audit_added_edges  # noqa: PLC0415

    with show_progress("models") as advance:
        report = audit_added_edges(
            models, seed=seed, progress=lambda done: advance(done, models)
        )
    if as_json:
        print_json(asdict(report))
    else:
        click.echo(
            f"{report.models:,} random models, seed {seed}, exact laws, each with an edge that "
            f"the graph lacks\nwith the edge added: {report.rows:,} intervals and "
            f"{report.contrasts:,} differences, unions included, "
            f"{len(report.misses):,} misses\n"
            f"{report.choices:,} choices by them promise a regret, and {report.verdicts:,} "
            "comparisons with an arm are told; wrong ones are misses too\n"
            f"{report.promises.made:,} drawn logs at confidence {CONFIDENCE:g}: "
            f"{report.promises.failed:,} break a promise "
            f"(chance {report.promises.chance:.2g}); "
            f"{report.drawn_verdicts:,} comparisons told, {report.comparisons.failed:,} of "
            f"{report.comparisons.made:,} intervals miss "
            f"(chance {report.comparisons.chance:.2g})\n"
            f"without it: {report.without:,} models are missed, {report.refuted:,} refute it"
        )
        for miss in report.misses[:10]:
            click.echo(f"missed: {miss.query} on {miss.graph} with {miss.edge}; {miss.row}")
    return _end_audit(report.models, models, "models", good=bool(report))


def _audit_ablation(models: int, seed: int, as_json: bool) -> bool:  # noqa: FBT001
    """Bound drawn logs without each part, and print what is lost; there is nothing to miss."""
    from boundit_research.audits.ablation import PLAYED, ROUNDS, measure_ablation  # noqa: PLC0415

    with show_progress("models") as advance:
        report = measure_ablation(
            models, seed=seed, progress=lambda done: advance(done, models)
        )
    if as_json:
        print_json(asdict(report) | {"tallies": [asdict(t) for t in report.tallies.values()]})
    else:
        click.echo(
            f"{report.models:,} random problems with a log each, seed {seed}; {report.refuted} "
            f"refuted by chance; regret of {PLAYED} after {ROUNDS} rounds, without a policy of "
            f"the best that is left"
        )
        click.echo(f"{'without':<42}{'tables':>7}{'rows':>7}{'mean width':>12}{'wider':>7}"
                   f"{'ruled out':>11}{'regret':>9}")  # fmt: skip
        for tally in report.tallies.values():
            click.echo(
                f"{f'{tally.kind} {tally.part}'.strip():<42}{tally.used:>7,}{tally.rows:>7,}"
                f"{tally.mean_width:>12.4f}{tally.wider:>7,}{tally.ruled_out:>11,}"
                f"{tally.mean_regret:>9.2f}"
            )
        click.echo("tables: those that use the part; all others count as they are")
    return _end_audit(report.models, models, "models", good=True)


def _audit_limits(models: int, seed: int, as_json: bool) -> bool:  # noqa: FBT001
    """Bound models under the limits on confounding that they keep to; False on a miss.

    Prints how many intervals rest on a limit.
    """
    from boundit_research.audits.limits import audit_limits  # noqa: PLC0415

    with show_progress("models") as advance:
        report = audit_limits(models, seed=seed, progress=lambda done: advance(done, models))
    if as_json:
        print_json(asdict(report))
    else:
        rows = max(report.rows, 1)
        exact = sum(miss.log == "exact" for miss in report.misses)
        click.echo(
            f"{report.models:,} random models, seed {seed}, each with the least limits that "
            f"its hidden causes keep to\n{report.rows:,} intervals of {report.used:,} models "
            f"rest on a limit: mean width {report.width / rows:.3f}, without limits "
            f"{report.plain_width / rows:.3f}\n{exact:,} misses on exact laws; "
            f"{report.held:,} of {report.logs:,} drawn logs have tables that hold"
        )
        for miss in report.misses[:10]:
            click.echo(f"missed: {miss.log}, {miss.query} on {miss.graph}; {miss.row}")
    return _end_audit(report.models, models, "models", good=bool(report))


def _audit_comparisons(models: int, seed: int, as_json: bool) -> bool:  # noqa: FBT001
    """Compare random policies on models whose truth is known; False where too many miss."""
    from boundit_research.audits.comparisons import audit_comparisons  # noqa: PLC0415

    with show_progress("models") as advance:
        report = audit_comparisons(
            models, seed=seed, progress=lambda done: advance(done, models)
        )
    if as_json:
        print_json(
            asdict(report)
            | {"chance": report.chance, "estimate_chance": report.estimate_chance}
        )
    else:
        told = ", ".join(f"{n:,} {verdict}" for verdict, n in sorted(report.told.items()))
        n = max(report.comparisons, 1)
        click.echo(
            f"{report.models:,} random models, seed {seed}\n"
            f"{report.comparisons:,} comparisons on exact laws: {told}\n"
            f"{report.outside} intervals miss, {report.wrong} verdicts are wrong; mean width "
            f"{report.width / n:.3f}, {report.subtracted_width / n:.3f} where intervals are "
            "subtracted\n"
            f"{report.drawn:,} comparisons on drawn logs at confidence "
            f"{report.confidence:g}: {report.drawn_told:,} told, {report.drawn_wrong} wrong, "
            f"{report.drawn_outside} intervals miss (chance {report.chance:.2g})\n"
            f"{report.estimates:,} estimates from propensities at confidence 0.9: "
            f"{report.estimates_outside} miss (chance {report.estimate_chance:.2g})"
        )
        for miss in report.misses[:10]:
            click.echo(f"missed: {miss.query} on {miss.graph}, {miss.log}; {miss.what}")
    return _end_audit(report.models, models, "models", good=bool(report))


def _audit_choices(models: int, seed: int, as_json: bool) -> bool:  # noqa: FBT001
    """Choose arms on models whose truth is known; False where a promised regret is exceeded."""
    from boundit_research.audits.choices import CONFIDENCE, audit_choices  # noqa: PLC0415

    with show_progress("models") as advance:
        report = audit_choices(models, seed=seed, progress=lambda done: advance(done, models))
    if as_json:
        chances = {kind: count.chance for kind, count in report.drawn.items()}
        print_json(asdict(report) | {"chances": chances})
    else:
        n = max(report.contexts, 1)
        click.echo(
            f"{report.models:,} random models, seed {seed}\n"
            f"{report.contexts:,} contexts on exact laws: {report.settled:,} settled, "
            f"{report.sharpened:,} sharper by differences of arms\n"
            f"{report.choices:,} choices, {len(report.misses)} promises broken; mean regret "
            f"{report.regret / n:.4f}, promised {report.promised / n:.4f}, by one arm "
            f"{report.single / n:.4f}"
        )
        for kind, count in report.drawn.items():
            click.echo(
                f"{count.tables:,} drawn logs at confidence {CONFIDENCE:g}, differences that "
                f"hold {kind}: {count.missed:,} with a promise broken, {count.error:.0f} "
                f"allowed (chance {count.chance:.2g})"
            )
        for miss in report.misses[:10]:
            click.echo(f"missed: {miss}")
    return _end_audit(report.models, models, "models", good=bool(report))


def _make_bounds_record(report: "AuditReport") -> dict[str, object]:
    """Write the tallies and misses of an audit of bounds as an object for JSON."""
    return {
        "models": report.models,
        "seed": report.seed,
        "profiles": {
            name: {
                "intervals": tally.rows,
                "missed_intervals": tally.missed_rows,
                "contrasts": tally.contrasts,
                "missed_contrasts": tally.missed_contrasts,
                "missed_models": tally.missed_models,
                "mean_width": tally.mean_width,
                "share_useful": tally.share_useful,
                "share_useful_unsteered": tally.share_useful_unsteered,
                "ends_by_rule": dict(sorted(tally.by_rule.items())),
                "points": tally.points,
            }
            for name, tally in report.tallies.items()
        },
        "misses": [
            {"profile": m.profile, "graph": m.graph, "query": m.query, "row": m.row}
            for m in report.misses
        ],
    }


def _print_bounds(report: "AuditReport") -> None:
    """Print how many intervals of each profile miss, and how wide they are."""
    click.echo(f"{report.models:,} random models, seed {report.seed}, exact laws")
    click.echo(f"{'profile':<28}{'intervals':>10}{'misses':>8}{'in models':>11}"
               f"{'mean width':>12}{'useful':>8}{'unsteered':>11}{'points':>8}")  # fmt: skip
    for name, tally in report.tallies.items():
        share = tally.points / tally.rows if tally.rows else 0.0
        click.echo(
            f"{name:<28}{tally.rows:>10,}{tally.misses:>8,}{tally.missed_models:>11,}"
            f"{tally.mean_width:>12.3f}{tally.share_useful:>8.1%}"
            f"{tally.share_useful_unsteered:>11.1%}{share:>8.1%}"
        )
    click.echo("useful: narrower than the range; unsteered: where the reward has no edge to S")
    for miss in [m for m in report.misses if m.profile != "paper"][:10]:
        click.echo(f"missed: {miss.query} on {miss.graph}; {miss.row}")
