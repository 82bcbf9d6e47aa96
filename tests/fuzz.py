"""Hostile inputs to every parser: ``python -m tests.fuzz --inputs 1000000``.

An input is built by splicing, cutting and scrambling pieces of valid texts of every format. A
parser may read it or refuse it with a one-line BounditError; anything else stops the run and
prints the input. What was read must survive being written and read again.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial

import click
import networkx as nx

from boundit.core.errors import BounditError
from boundit.estimand.query import EffectQuery, parse_query
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.formats import draft_dagitty, draft_dot, draft_json
from boundit.graph.read import draft_gml, format_graph, parse_graph, to_networkx
from boundit.graph.text import GraphDraft, parse

SEEDS = (
    "U1 -> X1 -> I1 -> Y; U1 -> Y; I1 <- C1 -> Y\nhidden C1\nI1 -> [S] # why",
    '"time of day" -> Y <-> Z; Weather; hidden A, "b c"',
    "digraph g { edge [dir=both]; A -> {B; C} -> D [arrowhead=normal, arrowtail=normal] }",
    'strict digraph { U [latent=true]; S [selected=true]; "a" + "b" -> S; A:n -> B; x=LR }',
    'dag "m" { bb="0,0,1,1" X [exposure,pos="-2,0"] U [latent] S [selected] X -> {Y S} <- U }',
    '{"nodes": ["X"], "directed": [["X", "Y"]], "bidirected": [["X", "Y"]], "selection": "Y"}',
    '{"directed": [["C", "Y"]], "hidden": ["C"], "query": {"y": ["Y"], "do": ["X"]}}',
    'Z = {Age, Sex,\n Income}; V = independent {A, "b c"}; Z -> X -> Y; V <-> Z; W -> Age',
    'digraph { A [related="Z"]; B [related="Z"]; C [independent="V"]; A -> X [dir=both] }',
    'dag { A [related="Z"] B [related=Z] C [independent="V"] {A B} -> X C <-> X }',
    '{"groups": [{"name": "Z", "members": ["A", "B"], "independent": true}], "nodes": ["C"]}',
    'graph [directed 1 node [id 0 label "X"] node [id 1 label "&#233;" graphics [x 1.5]]\n'
    'node [ id "U" observed "no" related "Z" ] edge [source 0 target 1 bidirected 1]]',
    "P(Y1, Y2 | do(X1, X2), C)",
    'Y | Z, do("a b")',
)
PIECES = (
    *"XYZS[]{}()|,;:=+\"\\#<>-\n\t /*.&é→\x00\ud800\u2028\ufeff0",
    "->", "<-", "<->", "--", "hidden ", "digraph {", "dag {", "do(", "//", "/*", "*/", "null",
    "[latent]", "[selected]", "[dir=both]", '"', "X -> X", "subgraph", "node", "1e999",
    "{" * 60, "[" * 3000, "X -> Y; Y -> X;", "[S]", "[T]", "A" * 500,
    "Z = {", "}", "= independent {", "{A, B}", "Z -> Y;", "W -> Z;", '[related="Z"]',
    "graph [", "node [", "id 0", "edge [source 0 target 1]", "directed 1", "&quot;",
)  # fmt: skip


def write_gml(graph: CausalGraph) -> str:
    """Write a graph as GML, as networkx does."""
    return "\n".join(nx.generate_gml(to_networkx(graph)))


def make(draft: Callable[[str], GraphDraft]) -> "Parser":
    """Make a parser of graphs from a reader of drafts."""
    return lambda text: draft(text).make_graph()


Parser = Callable[[str], CausalGraph | EffectQuery]
# Each parser, how what it read is written down again, and the seeds of its own format.
PARSERS: tuple[tuple[Parser, Callable[..., str], tuple[str, ...]], ...] = (
    (parse_graph, str, SEEDS[:12]),
    (parse, str, (*SEEDS[:2], SEEDS[7])),
    (make(draft_dot), partial(format_graph, to="dot"), (*SEEDS[2:4], SEEDS[8])),
    (make(draft_dagitty), partial(format_graph, to="dagitty"), (SEEDS[4], SEEDS[9])),
    (make(draft_json), partial(format_graph, to="json"), (*SEEDS[5:7], SEEDS[10])),
    (make(draft_gml), write_gml, SEEDS[11:12]),
    (parse_query, str, SEEDS[12:]),
)


def scramble(rng: random.Random, seeds: tuple[str, ...]) -> str:
    """Spoil one of the seeds in a few places."""
    text = rng.choice(seeds)
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        a, b = sorted(rng.randint(0, len(text)) for _ in range(2))
        text = rng.choice(
            (
                text[:a] + rng.choice(PIECES) + text[a:],
                text[:a] + rng.choice(PIECES) + text[b:],
                text[:a] + text[b:],
                text[:a] + text[a:b] * 2 + text[b:],
                text[:a] + rng.choice(SEEDS)[a:b] + text[b:],
                text[a:b] + text[:a] + text[b:],
            )
        )
    return text


def try_one(text: str, parser: Parser, write: Callable[..., str]) -> str:
    """Parse one input; return how it ended, raise when it ended badly."""
    try:
        answer = parser(text)
    except BounditError as error:
        if "\n" in str(error):
            raise AssertionError(f"an error of several lines: {error}") from error
        return type(error).__name__
    if parser(write(answer)) != answer:
        raise AssertionError(f"does not survive being written: {answer}")
    return "read"


def fuzz(n_inputs: int, *, seed: int, progress: bool = False) -> Counter[str]:
    """Throw inputs at the parsers, one each in turn, and count how they end."""
    rng, endings, started = random.Random(seed), Counter[str](), time.monotonic()
    for i in range(n_inputs):
        parser, write, own = PARSERS[i % len(PARSERS)]
        text = scramble(rng, SEEDS if rng.random() < 0.2 else own)
        try:
            endings[try_one(text, parser, write)] += 1
        except Exception as error:
            error.add_note(f"parser {i % len(PARSERS)}, input {i} of seed {seed}: {text!r}")
            raise
        if progress and i % 10_000 == 0:
            seconds = time.monotonic() - started
            click.echo(f"\r{i:>9,} inputs, {seconds:.0f} s", err=True, nl=False)
    return endings


@click.command()
@click.option("--inputs", "n_inputs", default=1_000_000, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(n_inputs: int, seed: int) -> None:
    """Fuzz the parsers and print how the inputs ended."""
    endings = fuzz(n_inputs, seed=seed, progress=sys.stderr.isatty())
    for ending, n in endings.most_common():
        click.echo(f"{n:>9,}  {ending}")
    click.echo(f"{endings.total():>9,}  inputs, no exception but ours")


if __name__ == "__main__":
    main()
