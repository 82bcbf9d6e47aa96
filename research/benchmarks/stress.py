"""How long ``stress`` takes on graphs of 20 variables, and how many edges need a whole search.

Every line is one random graph with a selected log of 100,000 rows: all missing edges are tried.
Seconds are those of the processor, so that other work on the machine does not count.
"""

from time import process_time

from numpy.random import default_rng

from boundit.decisions.stress.stress import stress
from boundit.simulation.random_models import draw_graph, draw_model

GRAPHS, NODES, ROWS = 5, 20, 100_000


def run() -> None:
    """Time random graphs, one line each."""
    print(f"stress on graphs of {NODES} variables: all missing edges, {ROWS:,} rows")
    print("seed  edges  missing  widened  seconds")
    for seed in range(GRAPHS):
        rng = default_rng(seed)
        graph = draw_graph(NODES, rng, directed=0.15, bidirected=0.05, selection=True)
        *order, outcome = (name for name in graph.order if name in graph.observed)
        causes = [name for name in order if outcome in graph.descendants(name)]
        if not causes:
            continue
        log = draw_model(graph, rng, levels=(2,)).sample_log(ROWS, rng)
        started = process_time()
        report = stress(graph, f"{outcome} | do({causes[len(causes) // 2]})", log)
        seconds = process_time() - started
        edges = len(graph.directed) + len(graph.bidirected)
        widened = sum(bool(each.widened) for each in report.tried)
        print(f"{seed:4}  {edges:5}  {len(report.tried):7}  {widened:7}  {seconds:7.1f}")
