"""Bounds on treatment effects from a causal graph and a confounded, selection-biased log.

The public names are listed in ``__init__.pyi`` and load their modules when first used, so that
``import boundit`` and ``boundit --help`` stay fast. Result classes and special functions are in
the packages: ``boundit.estimand.Identification``, ``boundit.graph.open_walk``, ...
"""

from boundit.core.public_names import HINTS, attach_names, forward

__version__ = "0.3.0.dev0"

__getattr__, __dir__, __all__ = attach_names(__name__, __file__, hints=HINTS)

# Methods of values that are implemented in a higher package, which is loaded on first use.
forward("choose", "boundit.decisions.choose")
forward("evaluate_identified", "boundit.counts.formula")
forward("format_graph", "boundit.graph.read")
forward("from_networkx", "boundit.graph.read")
forward("to_networkx", "boundit.graph.read")
forward("list_paths", "boundit.estimand.derivation")
forward("open_walk", "boundit.graph.separation")
forward("make_frame", "boundit.report.frame")
for _kind in ("bounds", "effects", "limits"):
    forward(f"plot_{_kind}", "boundit.report.plot")
for _kind in ("bounds", "effect", "choice"):
    forward(f"show_{_kind}", "boundit.report.bounds")
for _kind in ("check", "decision", "graph", "recovery"):
    forward(f"show_{_kind}", "boundit.report.notebook")
