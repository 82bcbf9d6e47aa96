"""What public names of 0.2.0 are called now; an old one is refused, and the new one is given."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

from boundit.core.errors import BounditError

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")

NAMES: Mapping[str, str] = {
    "Breakdown": "decisions.Breakdown",
    "CheckReport": "checks.CheckReport",
    "Choice": "decisions.Choice",
    "Comparison": "decisions.Comparison",
    "EffectQuery": "estimand.EffectQuery",
    "Estimate": "decisions.Estimate",
    "FittedWorlds": "simulation.FittedEnvironments",
    "Independence": "graph.Independence",
    "Interval": "results.Interval",
    "Log": "counts.Log",
    "Measured": "decisions.Measured",
    "Model": "SCM",
    "Recovery": "estimand.Identification",
    "Regret": "simulation.Regret",
    "SensitivityCurve": "decisions.Sensitivity",
    "StressReport": "decisions.StressReport",
    "SuggestReport": "decisions.SuggestReport",
    "Verdict": "graph.Verdict",
    "WarmStart": "bandit.WarmStart",
    "World": "Environment",
    "adjust_for_confounding_only": "bounds.paper.adjust_for_confounding_only",
    "adjusts": "is_adjustment_set",
    "bound_rivals": "derive_bounds",
    "breakdown": "sensitivity",
    "choose": "BoundTable.choose",
    "condition_only": "bounds.paper.condition_only",
    "estimate_value": "evaluate_policy",
    "evaluate": "identify(...).evaluate",
    "exchanges": "estimand.exchanges",
    "find_adjustment": "adjustment_sets",
    "find_substitutes": "estimand.find_substitutes",
    "fit_worlds": "fit_environments",
    "flipped_world": "simulation.flipped_environment",
    "format_graph": "CausalGraph.format",
    "from_networkx": "CausalGraph.from_networkx",
    "list_adjustments": "adjustment_sets",
    "minimal_separator": "graph.minimal_separator",
    "nearest_separator": "graph.nearest_separator",
    "open_walk": "graph.open_walk",
    "paper_world": "simulation.paper_environment",
    "project": "graph.project",
    "random_world": "simulation.random_environment",
    "recover": "identify",
    "sensitivity_curve": "sensitivity",
    "to_networkx": "CausalGraph.to_networkx",
}
"""Names of ``boundit``."""
HINTS: Mapping[str, str] = {
    **{old: f"it is now boundit.{new}" for old, new in NAMES.items()},
    "Best": "write sensitivity(..., arm=)",
    "Better": "write sensitivity(..., arm=, baseline=, at_least=)",
    "Earns": "write sensitivity(..., arm=, at_least=)",
    "Regrets": "write sensitivity(..., arm=, max_regret=)",
    "KLUCB": "use UCB, TS or Fused",
    "Watch": "write monitor=0.05 where the policy is made",
}
"""What to write instead of a name that ``boundit`` no longer has."""
ATTRIBUTES: Mapping[str, str] = {
    "contrast": "effect",
    "explanation": "explain",
    "promise": "summary",
    "confounding": "confounding_limit",
    "dominated": "ruled_out",
    "fused": "pooling",
    "plain": "intervals_only",
    "reward_range": "outcome_range",
}
"""What a table of bounds has; files of 0.2.0 use the old names of parts."""
POLICY_ATTRIBUTES: Mapping[str, str] = {
    "capped": "truncated",
    "fresh": "clone",
    "index": "scores",
    "merged": "merge",
    "observes": "auxiliary_variables",
    "plan_reason": "pooling_reason",
}
"""What policies and decisions have."""
OPTIONS: Mapping[str, str] = {
    "confounding": "confounding_limit",
    "nulls": "missing",
    "reward_range": "outcome_range",
    "sensitivity": "selection_limit",
    "told": "progress",
}
"""Options of functions about logs, and their flags; policies keep ``reward_range``."""


class RenamedOption(BounditError, TypeError):
    """An option that has another name now."""

    def __init__(self, function: str, old: str) -> None:
        new = OPTIONS[old]
        super().__init__(f"{function} has no option {old!r}; write {new}", option=new)


def refuse_renamed(function: Callable[_Asked, _Answer]) -> Callable[_Asked, _Answer]:
    """Make a function refuse options by their old names, and give the new ones."""

    @wraps(function)
    def ask(*args: _Asked.args, **options: _Asked.kwargs) -> _Answer:
        for old in options.keys() & OPTIONS.keys():
            raise RenamedOption(function.__name__, old)
        return function(*args, **options)

    return ask
