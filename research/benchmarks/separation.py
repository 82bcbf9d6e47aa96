"""m-separation: ours beside networkx, y0 and pgmpy, and how its cost grows.

networkx knows no bidirected edges and gets a hidden common cause for each; y0 and pgmpy take
them as they are. All must agree before a time counts.
"""

import random
from collections.abc import Callable
from importlib import import_module
from itertools import combinations

import click
from research.benchmarks.clock import row, seconds

from boundit.graph.causal_graph import CausalGraph
from boundit.graph.implications import implications
from boundit.graph.separation import open_walk
from boundit.graph.separators import minimal_separator

Question = tuple[str, str, frozenset[str]]
Peer = Callable[[CausalGraph, list[Question]], Callable[[], list[bool]]]


def sparse_graph(rng: random.Random, n: int) -> CausalGraph:
    """Draw a graph with about two arrows and half an arc a node."""
    names = [f"V{i}" for i in range(n)]
    arrows = [(rng.randrange(i), i) for i in range(1, n) for _ in range(2)]
    arcs = [rng.sample(range(n), 2) for _ in range(n // 2)]
    return CausalGraph.of(
        names,
        directed=[(names[a], names[b]) for a, b in arrows],
        bidirected=[(names[a], names[b]) for a, b in arcs],
    )


def questions(rng: random.Random, graph: CausalGraph, n: int) -> list[Question]:
    """Draw pairs and sets; every other set is a minimal separator, so that answers vary."""
    asked: list[Question] = []
    names = list(graph.order)
    while len(asked) < n:
        a, b = rng.sample(names, 2)
        known = frozenset(rng.sample(names, min(len(names) // 3, 10))) - {a, b}
        if len(asked) % 2:
            known = minimal_separator(graph, a, b) or known
        asked.append((a, b, known))
    return asked


def ours(graph: CausalGraph, asked: list[Question]) -> Callable[[], list[bool]]:
    return lambda: [open_walk(graph, a, b, given=z) is None for a, b, z in asked]


def by_networkx(graph: CausalGraph, asked: list[Question]) -> Callable[[], list[bool]]:
    nx = import_module("networkx")
    dag = nx.DiGraph(list(graph.directed))
    dag.add_nodes_from(graph.nodes)
    for i, (a, b) in enumerate(sorted(graph.bidirected)):
        dag.add_edges_from([(("hidden", i), a), (("hidden", i), b)])
    return lambda: [nx.is_d_separator(dag, {a}, {b}, set(z)) for a, b, z in asked]


def by_y0(graph: CausalGraph, asked: list[Question]) -> Callable[[], list[bool]]:
    variable = import_module("y0.dsl").Variable
    judge = import_module("y0.algorithm.conditional_independencies").are_d_separated
    mixed = import_module("y0.graph").NxMixedGraph.from_str_edges(
        nodes=sorted(graph.nodes),
        directed=sorted(graph.directed),
        undirected=sorted(graph.bidirected),
    )
    put = [(variable(a), variable(b), [variable(n) for n in z]) for a, b, z in asked]
    return lambda: [bool(judge(mixed, a, b, conditions=z)) for a, b, z in put]


def by_pgmpy(graph: CausalGraph, asked: list[Question]) -> Callable[[], list[bool]]:
    base = import_module("pgmpy.base")
    admg = base.ADMG(
        directed_ebunch=sorted(graph.directed), bidirected_ebunch=sorted(graph.bidirected)
    )
    admg.add_nodes_from(graph.nodes)
    return lambda: [bool(admg.is_mseparated(a, b, set(z))) for a, b, z in asked]


PEERS: dict[str, tuple[Peer, int]] = {
    "networkx": (by_networkx, 10_000),
    "y0": (by_y0, 50),
    "pgmpy": (by_pgmpy, 50),
}


def timed(
    peer: Peer, graph: CausalGraph, asked: list[Question], truth: list[bool]
) -> float | None:
    """Time a peer; None, with a word on why, when it is missing or answers otherwise."""
    try:
        call = peer(graph, asked)
        answers = call()
    except Exception as error:  # noqa: BLE001, a peer may fail in any way
        click.echo(
            f"  {peer.__name__} cannot answer: {type(error).__name__}: {error}", err=True
        )
        return None
    if answers != truth:
        wrong = sum(a != b for a, b in zip(answers, truth, strict=True))
        click.echo(f"  {peer.__name__} answers {wrong} of {len(truth)} otherwise", err=True)
        return None
    return seconds(call) / len(asked)


def run() -> None:
    """Print the tables."""
    click.echo("m-separation with its witness, microseconds a question; peers as multiples")
    click.echo(f"{'nodes':<28}{'boundit':>12}" + "".join(f"{name:>12}" for name in PEERS))
    for n in (6, 12, 50, 300, 1_000, 10_000):
        rng = random.Random(n)
        graph = sparse_graph(rng, n)
        asked = questions(rng, graph, 40 if n < 1_000 else 10)
        call = ours(graph, asked)
        truth, own = call(), seconds(call) / len(asked)
        peers = {
            name: timed(peer, graph, asked, truth) if n <= largest else None
            for name, (peer, largest) in PEERS.items()
        }
        click.echo(row(f"{n:,}", own, peers))
    click.echo("\nall testable implications, milliseconds a graph")
    for n in (10, 20, 50, 100):
        graph = sparse_graph(random.Random(n), n)
        spent = seconds(lambda graph=graph: implications(graph))  # type: ignore[misc]
        found, pairs = len(implications(graph)), len(list(combinations(graph.nodes, 2)))
        click.echo(f"{n:<6}{spent * 1e3:>10.1f}   {found} of {pairs} pairs can be separated")
