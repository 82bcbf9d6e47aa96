"""Public names that are listed once, in a package's stub, and loaded when first used.

A type checker reads ``__init__.pyi`` as it is: ``from boundit.graph.read import parse_graph as
parse_graph``. At run time the same lines say where each name is found, so that importing a
package imports none of what it offers.
"""

import ast
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, ParamSpec, TypeVar

from boundit.core.errors import BounditError

_NONE: Mapping[str, str] = MappingProxyType({})
_FORWARDED: dict[str, str] = {}


def forward(method: str, home: str) -> None:
    """Register the module with the function that implements a method of a lower package.

    A package imports none above it; the module is loaded when the method is first called.
    """
    _FORWARDED[method] = home


def find_forwarded(method: str) -> Callable[..., Any]:
    """Load the function that implements a method."""
    found: Callable[..., Any] = getattr(import_module(_FORWARDED[method]), method)
    return found


def attach_names(
    package: str, file: str, *, hints: Mapping[str, str] = _NONE
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Make ``__getattr__``, ``__dir__`` and ``__all__`` of a package from its stub.

    Public names and subpackages are loaded on first use. ``hints`` maps names that were removed
    to what to use instead.
    """
    folder = Path(file).parent
    homes = _read_stub(folder / "__init__.pyi", package)

    def find(name: str) -> object:
        if name in homes:
            return getattr(import_module(homes[name]), name)
        if (folder / name / "__init__.py").exists():
            return import_module(f"{package}.{name}")
        hint = f"; {hints[name]}" if name in hints else ""
        raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")

    names = sorted(homes)
    packages = sorted(init.parent.name for init in folder.glob("*/__init__.py"))
    return find, lambda: [*names, *packages], names


def _read_stub(path: Path, package: str) -> dict[str, str]:
    """Read from a package's ``.pyi`` which module each public name is imported from.

    Subpackages that it lists are left out.
    """
    return {
        alias.name: node.module
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module and node.module != package
        for alias in node.names
    }


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
    "ExpectedWidths": "use suggest",
    "Frontier": "use sensitivity for each limit",
    "KLUCB": "use UCB, TS or Fused",
    "Watch": "write monitor=0.05 where the policy is made",
    "breakdown_frontier": "use sensitivity for each limit",
    "expect_widths": "use suggest",
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
OPTIONS: Mapping[str, str] = {
    "confounding": "confounding_limit",
    "contexts": "shares",
    "least_propensity": "min_propensity",
    "lottery": "randomize",
    "new": "policy",
    "nulls": "missing",
    "old": "baseline",
    "reward_range": "outcome_range",
    "sensitivity": "selection_limit",
    "told": "progress",
    "trial": "trial_size",
}
"""Options of functions about logs and tables, and their flags; policies keep ``reward_range``."""


class Renamed:
    """An attribute of release 0.2.0: says what it is called now.

    No ``__getattr__``, which would slow every other attribute down.
    """

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def __get__(self, owner: object, kind: type) -> NoReturn:
        raise AttributeError(f"{kind.__name__} has no {self.old!r}; it is now {self.new}")


def mark_renamed(kind: type, names: Mapping[str, str]) -> None:
    """Make a class refuse the old names of its attributes, and give the new ones."""
    for old, new in names.items():
        setattr(kind, old, Renamed(old, new))


class RenamedOption(BounditError, TypeError):
    """An option that has another name now."""

    def __init__(self, function: str, old: str) -> None:
        new = OPTIONS[old]
        super().__init__(f"{function} has no option {old!r}; write {new}", option=new)


def refuse_renamed(function: Callable[_Asked, _Answer]) -> Callable[_Asked, _Answer]:
    """Make a function refuse options by their old names, and give the new ones."""

    @wraps(function)
    def ask(*args: _Asked.args, **options: _Asked.kwargs) -> _Answer:
        for old in sorted(options.keys() & OPTIONS.keys()):
            raise RenamedOption(function.__name__, old)
        return function(*args, **options)

    return ask
