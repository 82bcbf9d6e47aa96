"""``python -m tools.figures``: the pictures of the README and of the documentation.

The gallery's graphs are those of its page, the effects those of ``boundit init pharmacy``, the
regret that of the paper's model. ``--check`` draws what is quick, writes nothing and says what
is stale.
"""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from doctest import DocTestParser
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from boundit.bandit.fused.policy import Fused
from boundit.bandit.lin_ucb import LinUCB
from boundit.bounds.derive import derive_bounds
from boundit.cli.init import make_example
from boundit.estimand.query import parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import parse_graph
from boundit.report.bounds import chart_effects
from boundit.report.chart import Bar
from boundit.report.drawing import draw_graph
from boundit.report.palette import write_palette
from boundit.simulation.environments import paper_environment
from boundit.simulation.simulate import simulate
from tools import ROOT

if TYPE_CHECKING:
    from boundit.bandit.policy import Policy
    from boundit.results.bound_table import BoundTable

FIGURES = ROOT / "docs" / "figures"
GALLERY = ROOT / "docs" / "guides" / "identification.md"
QUESTION = "Refill | do(Reminder), Age"
TRUTH = {
    ("letter", "younger"): 0.29,
    ("text", "younger"): 0.54,
    ("call", "younger"): 0.59,
    ("letter", "older"): 0.23,
    ("text", "older"): 0.28,
    ("call", "older"): 0.53,
}
"""What ``boundit init`` says of its own example."""
ROWS, ROUNDS, RUNS = 30_000, 15_000, 100


def stand_alone(drawn: str) -> str:
    """Give an SVG of a page the palette of its own, so that it can stand in a file."""
    style = f"<style>{write_palette()} svg {{ background: var(--paper); }}</style>"
    return re.sub(r"(<svg [^>]*>)", lambda tag: tag[1] + style, drawn, count=1) + "\n"


def draw_gallery(text: str) -> Iterator[tuple[str, str]]:
    """Draw the graph of every part of the gallery, from the Python of the page."""
    for part in text.split("\n### ")[1:]:
        picture = re.search(r"\(\.\./figures/([\w-]+\.svg)\)", part)
        if picture is None:
            continue
        known: dict[str, object] = {"bd": sys.modules["boundit"]}
        for example in DocTestParser().get_examples(part):
            if example.source.startswith(("graph =", "query =")):
                exec(example.source, known)  # the page is ours, and its code runs in tests
        graph, query = known["graph"], parse_query(str(known["query"]))
        assert isinstance(graph, CausalGraph)
        drawn = draw_graph(
            graph,
            treatments=query.treatments,
            context=query.context,
            outcomes=query.outcomes,
            title=part.partition("\n")[0],
        )
        yield picture[1], stand_alone(drawn)


def draw_pharmacy() -> Iterator[tuple[str, str]]:
    """Draw the graph of the pharmacy, and its effects beside averages and the truth."""
    with TemporaryDirectory() as folder:
        for name, text in make_example().items():
            Path(folder, name).write_text(text, encoding="utf-8")
        graph = parse_graph(Path(folder, "graph.txt").read_text(encoding="utf-8"))
        log = Path(folder, "log.csv")
        table = derive_bounds(graph, QUESTION, log)
    query = parse_query(QUESTION)
    drawn = draw_graph(
        graph,
        treatments=query.treatments,
        context=query.context,
        outcomes=query.outcomes,
        title="The pharmacy: what is assumed",
    )
    yield "pharmacy-graph.svg", stand_alone(drawn)
    yield "pharmacy-effects.svg", stand_alone(draw_effects(table))


def draw_effects(table: "BoundTable") -> str:
    """Draw effects on letters, beside the truth and the log's averages."""
    chart = chart_effects(list(table.effects("letter").values()))
    title = "Effects on refills, compared with a letter: bounds, truth, and averages of the log"
    rows = tuple(
        replace(row, points={**row.points, "truth": _find_truth(row)}) for row in chart.rows
    )
    return replace(chart, title=title, rows=rows).svg()


def _find_truth(row: Bar) -> float:
    age = row.group.rpartition("=")[2]
    return TRUTH[row.name, age] - TRUTH["letter", age]


def draw_regret() -> Iterator[tuple[str, str]]:
    """Draw the regret of policies in the paper's model, with a log and without it."""
    world = paper_environment()
    tables = cache(
        lambda run: derive_bounds(world.graph, world.query, world.log(ROWS, seed=run))
    )
    policies: dict[str, Policy | Callable[[int], Policy]] = {
        "no log": LinUCB(),
        "the paper's bounds": lambda run: LinUCB(prior=tables(run).intervals_only()),
        "Fused": lambda run: Fused(prior=tables(run)),
    }
    regret = simulate(world, policies, rounds=ROUNDS, runs=RUNS, seed=0, observed=1.0)
    note = (
        f"means of {RUNS} runs, each from a log of {ROWS:,} points, rounds show what they may; "
        "thin: medians; bands: 95% intervals of the difference from the first"
    )
    said = "Cumulative regret without a log, with the paper's bounds, and with Fused"
    yield "regret.svg", stand_alone(replace(regret.chart, title=said, note=note).svg())


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; say which quick picture is stale.")
def main(*, check: bool) -> None:
    """Draw the pictures of the documentation."""
    quick = [*draw_gallery(GALLERY.read_text(encoding="utf-8")), *draw_pharmacy()]
    if check:
        stale = [
            name
            for name, drawn in quick
            if (FIGURES / name).read_text(encoding="utf-8") != drawn
        ]
        for name in stale:
            click.echo(f"stale: docs/figures/{name}; run python -m tools.figures", err=True)
        sys.exit(bool(stale))
    FIGURES.mkdir(exist_ok=True)
    for name, drawn in [*quick, *draw_regret()]:
        (FIGURES / name).write_text(drawn, encoding="utf-8")
        click.echo(f"wrote docs/figures/{name}")


if __name__ == "__main__":
    main()
