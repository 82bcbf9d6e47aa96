"""``python -m tools.figures``: the pictures of the README and of the documentation.

The gallery's graphs are those of its page, the effects those of ``boundit init pharmacy``, the
regret that of the paper's model. ``--check`` draws what is quick, writes nothing and says what
is stale.
"""

import re
import sys
from collections.abc import Callable, Iterator
from doctest import DocTestParser
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from boundit.bandit.fused.policy import Fused
from boundit.bandit.lin_ucb import LinUCB
from boundit.bounds.derive import derive_bounds
from boundit.bounds.paper import condition_only
from boundit.cli.init import make_example
from boundit.estimand.query import parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import parse_graph
from boundit.report.figures.canvas import write_inline_svg
from boundit.report.figures.curves import draw_curves
from boundit.report.graph.svg import draw_graph
from boundit.report.stylesheet import write_palette
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
    head = re.sub(r"<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', drawn, count=1)
    if drawn.count('xmlns="http://www.w3.org/2000/svg"'):
        head = drawn
    return re.sub(r"(<svg [^>]*>)", lambda tag: tag[1] + style, head, count=1) + "\n"


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
        averages = condition_only(graph, QUESTION, log)
    query = parse_query(QUESTION)
    drawn = draw_graph(
        graph,
        treatments=query.treatments,
        context=query.context,
        outcomes=query.outcomes,
        title="The pharmacy: what is assumed",
    )
    yield "pharmacy-graph.svg", stand_alone(drawn)
    yield "pharmacy-effects.svg", stand_alone(draw_effects(table, averages))


def draw_effects(table: "BoundTable", averages: "BoundTable") -> str:
    """Draw effects on letters as bars around zero, beside the truth and the log's averages."""
    left, width, low, high = 150, 470, -0.2, 0.5
    keys = [(arm, age) for age in ("older", "younger") for arm in ("call", "text")]

    def place(effect: float) -> float:
        return round(left + width * (effect - low) / (high - low), 1)

    bottom = 30 + 30 * len(keys)
    parts = [
        f'<path d="M {place(x / 10)} 20 V {bottom}" stroke="var(--{"rule" if x else "muted"})"/>'
        f'<text x="{place(x / 10)}" y="{bottom + 18}" text-anchor="middle" '
        f'fill="var(--muted)">{f"{x / 10:+.1f}" if x else 0}</text>'
        for x in range(-2, 6)
    ]
    for i, (arm, age) in enumerate(keys):
        y = 40 + 30 * i
        effect = table.effect(arm, "letter")
        color = "muted" if effect.direction[age] == "inconclusive" else "good"
        unadjusted = averages[arm, age].lower - averages["letter", age].lower
        x, true = place(unadjusted), place(TRUTH[arm, age] - TRUTH["letter", age])
        parts += [
            f'<text x="8" y="{y + 5}" fill="var(--ink)">{arm}, {age}</text>',
            f'<path d="M {place(effect[age].lower)} {y} H {place(effect[age].upper)}" '
            f'stroke="var(--{color})" stroke-width="8"/>',
            f'<circle cx="{x}" cy="{y}" r="4.5" fill="var(--paper)" stroke="var(--outcome)" '
            'stroke-width="2"/>',
            f'<path d="M {true} {y - 8} l 5 8 l -5 8 l -5 -8 z" fill="var(--ink)"/>',
        ]
    for x, mark, word in (
        (8, f'<path d="M 8 {bottom + 45} h 24" stroke="var(--good)" stroke-width="8"/>', "bounds"),
        (100, f'<path d="M 116 {bottom + 37} l 5 8 l -5 8 l -5 -8 z" fill="var(--ink)"/>', "truth"),
        (180, f'<circle cx="200" cy="{bottom + 45}" r="4.5" fill="var(--paper)" '
              'stroke="var(--outcome)" stroke-width="2"/>', "unadjusted"),
        (300, f'<path d="M 300 {bottom + 45} h 24" stroke="var(--muted)" stroke-width="8"/>',
         "inconclusive bounds"),
    ):  # fmt: skip
        parts.append(
            f'{mark}<text x="{x + 30}" y="{bottom + 50}" fill="var(--ink)">{word}</text>'
        )
    title = "Effects on refills, compared with a letter: bounds, truth, and averages of the log"
    size = f"0 0 640 {bottom + 62}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{title}" width="640" '
        f'height="{bottom + 62}" viewBox="{size}" font-family="system-ui, sans-serif" '
        f'font-size="14">{"".join(parts)}</svg>'
    )


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
        "thin: medians; bands: 95 % intervals of the difference from the first"
    )
    figure = draw_curves(regret.make_curves(), note=note)
    said = "Cumulative regret without a log, with the paper's bounds, and with Fused"
    yield "regret.svg", stand_alone(write_inline_svg(figure, title=said))


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
