"""Bounds on treatment effects from a causal graph and a confounded, selection-biased log.

The public names are listed in ``__init__.pyi`` and load their modules when first used, so that
``import boundit`` and ``boundit --help`` stay fast. Result classes and special functions are in
the packages: ``boundit.estimand.Identification``, ``boundit.graph.open_walk``, ...
"""

from boundit.core.public_names import HINTS, attach_names, forward

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = attach_names(__name__, __file__, hints=HINTS)

# Methods of values that are implemented in a higher package, which is loaded on first use.
forward("choose", "boundit.decisions.choose")
forward("evaluate_identified", "boundit.counts.formula")
forward("format_graph", "boundit.graph.read")
forward("from_networkx", "boundit.graph.read")
forward("to_networkx", "boundit.graph.read")
forward("make_frame", "boundit.report.frame")
forward("plot_bounds", "boundit.report.figures.plots")
forward("plot_sensitivity", "boundit.report.figures.plots")
forward("show_bounds", "boundit.report.notebook.bounds")
forward("show_check", "boundit.report.notebook.check")
forward("show_choice", "boundit.report.notebook.choice")
forward("show_decision", "boundit.report.notebook.decision")
forward("show_graph", "boundit.report.notebook.graph")
forward("show_recovery", "boundit.report.notebook.recovery")
forward("show_sensitivity", "boundit.report.notebook.sensitivity")
