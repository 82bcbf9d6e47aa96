"""From a causal graph and a biased log: bounds on what each arm would earn, with their reasons.

The public names stand in ``__init__.pyi``, and load their room when first used, so that
``import boundit`` and ``boundit --help`` stay quick. What few people need is in the rooms:
``boundit.graph.open_walk``, ``boundit.estimand.exchanges``, ...
"""

from boundit.core.public_names import attach_names, forward
from boundit.core.renamed import HINTS

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = attach_names(__name__, __file__, hints=HINTS)

# What values of the lower rooms hand to later ones, which are loaded when first asked for.
forward("choose", "boundit.decisions.choose")
forward("evaluate_identified", "boundit.counts.evaluate")
forward("format_graph", "boundit.graph.read")
forward("from_networkx", "boundit.graph.nx")
forward("to_networkx", "boundit.graph.nx")
forward("make_frame", "boundit.report.frame")
for _kind in ("bounds", "effects", "limits"):
    forward(f"plot_{_kind}", "boundit.report.plot")
for _kind in ("bounds", "effect", "choice"):
    forward(f"show_{_kind}", "boundit.report.bounds")
for _kind in ("check", "decision", "graph", "recovery"):
    forward(f"show_{_kind}", "boundit.report.notebook")
forward("make_stress_page", "boundit.decisions.stress.page")
forward("make_suggest_page", "boundit.decisions.suggest.page")
