"""A causal graph in a notebook: its drawing, and its text to copy."""

from html import escape

from boundit.graph.causal_graph import CausalGraph
from boundit.report.graph.svg import draw_graph
from boundit.report.notebook.snippet import write_snippet, write_words

MOST_NODES = 60
"""A graph of more nodes is no help to the eye; its text is shown instead."""
_LONGEST = 4000


def show_graph(graph: CausalGraph) -> str:
    """Write a causal graph as HTML for a notebook: drawn, with its text to be unfolded."""
    nodes, edges = len(graph.nodes), len(graph.directed) + len(graph.bidirected)
    text = str(graph)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    size = f"{nodes:,} node{'s' * (nodes != 1)}, {edges:,} edge{'s' * (edges != 1)}"
    if not 0 < nodes <= MOST_NODES:
        return write_snippet(f"Causal graph of {size}", write_words(text))
    return write_snippet(
        "",
        '<div class="scroll" tabindex="0" role="group" aria-label="graph">',
        f"{draw_graph(graph)}</div>",
        f"<details><summary>{size}, as text</summary><p>{escape(text)}</p></details>",
    )
