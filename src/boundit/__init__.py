"""From a causal graph and a biased log: bounds on what each arm would earn, with their reasons.

The public names stand in ``__init__.pyi``, and load their room when first used, so that
``import boundit`` and ``boundit --help`` stay quick. What few people need is in the rooms:
``boundit.graph.open_walk``, ``boundit.estimand.exchanges``, ...
"""

from boundit.terms.public_names import attach_names, forward

__version__ = "0.1.0.dev0"

__getattr__, __dir__, __all__ = attach_names(
    __name__,
    __file__,
    moved={
        "adjust_for_confounding_only": "bounds",
        "condition_only": "bounds",
        "count_ruled_out": "bandit",
        "exchanges": "estimand",
        "find_substitutes": "estimand",
        "minimal_separator": "graph",
        "nearest_separator": "graph",
        "open_walk": "graph",
        "project": "graph",
    },
)

forward("choose", "boundit.decisions.choose.choose")
