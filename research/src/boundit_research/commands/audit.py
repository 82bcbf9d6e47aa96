"""``boundit audit``: whether the bounds hold on models whose truth is known."""

import re
from importlib import import_module

import click
from click.core import ParameterSource

from boundit.cli.options import INTERRUPTED, flags
from boundit.cli.outputs import print_json, show_steps

SUBJECTS = {
    "bounds": ("soundness.audit_bounds", 10_000),
    "large": ("large_worlds.audit_large_worlds", 300),
    "formulas": ("formulas.audit_formulas", 10_000),
    "coverage": ("coverage.measure_coverage", 1_000),
    "sharpness": ("sharpness.measure_sharpness", 3),
    "plans": ("plans.audit_plans", 1_000),
    "limits": ("limits.audit_limits", 1_000),
    "comparisons": ("comparisons.audit_comparisons", 1_000),
    "choices": ("choices.audit_choices", 1_000),
    "stress": ("added_edges.audit_added_edges", 1_000),
    "ablation": ("ablation.measure_ablation", 250),
}
"""Which function audits a subject, and how many models are tried unless the user says."""
SMALLEST = 5
"""Graphs of fewer variables are not large."""


def _read_nodes(_: click.Context, parameter: click.Parameter, text: str) -> tuple[int, int]:
    """Read a range of numbers of variables, or one number."""
    found = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", text)
    least, most = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not SMALLEST <= least <= most:
        message = f"{text!r} is not a range from {SMALLEST} on; write 10-40, or 20"
        raise click.BadParameter(message, param=parameter)
    return least, most


@click.command(short_help="Count what our claims miss on models whose truth is known.")
@click.option(
    "--of",
    "subject",
    type=click.Choice(list(SUBJECTS)),
    default="bounds",
    show_default=True,
    help="Bounds from exact distributions, the same on large graphs and from drawn logs too, "
    "recovered formulas, intervals of finite logs, how near each endpoint comes to the furthest "
    "model with the same log, what plans say of "
    "cells and weights, bounds under limits on hidden confounding, comparisons of policies, the "
    "regret that choices promise, bounds under an edge that was left out, or what each part "
    "buys: widths, arms ruled out and regret without it.",
)
@click.option(
    "--models",
    type=click.IntRange(1),
    show_default="10,000 for bounds and formulas; 300 for large; 3 for sharpness; "
    "250 for ablation; 1,000 for all others",
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
@flags("seed")
@flags("json")
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
    beyond an endpoint, a plan says what is not so, a policy is called better that is not, or a
    choice regrets more than it promised. Ctrl-C keeps what is done.

    \b
    Examples:
      boundit audit --models 10000
      boundit audit --of large --models 300 --nodes 10-40
      boundit audit --of coverage --models 1000
      boundit audit --of ablation --models 250
    """
    options: dict[str, object] = {"nodes": nodes, "rows": rows}
    if subject != "large":
        for name in options:
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name} goes with --of large alone")
        options = {}
    where, usual = SUBJECTS[subject]
    module, name = where.split(".")
    run = getattr(import_module(f"boundit_research.audits.{module}"), name)
    of = models = models or usual
    if subject == "sharpness":
        of = models * len(import_module("boundit_research.audits.sharpness").SUITE)
    with show_steps("models") as tell:
        report = run(
            models, seed=seed, progress=lambda done: tell("models", done, of), **options
        )
    if as_json:
        print_json(report.record())
    else:
        click.echo(str(report))
    if report.models < of:
        said = f"interrupted after {report.models:,} of {of:,} {report.unit}"
        click.echo(said, err=True)
        if report:
            context.exit(INTERRUPTED)
    context.exit(0 if report else 1)
