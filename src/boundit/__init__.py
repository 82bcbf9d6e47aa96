"""From a causal graph and a biased log: bounds on what each arm would earn, with their reasons.

The public names load their room when first used, so that ``import boundit`` and
``boundit --help`` stay quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boundit.bandit.decision import Decision as Decision
    from boundit.bandit.learned.warm_start import WarmStart as WarmStart
    from boundit.bandit.oam.policy import OAM as OAM
    from boundit.bandit.policies.kl_ucb import KLUCB as KLUCB
    from boundit.bandit.policies.lin_ts import LinTS as LinTS
    from boundit.bandit.policies.lin_ucb import LinUCB as LinUCB
    from boundit.bandit.policies.ts import TS as TS
    from boundit.bandit.policies.ucb import UCB as UCB
    from boundit.bandit.policy import Policy as Policy
    from boundit.bandit.prior.watch import Watch as Watch
    from boundit.bandit.theory import count_ruled_out as count_ruled_out
    from boundit.bounds.baselines import (
        adjust_for_confounding_only as adjust_for_confounding_only,
    )
    from boundit.bounds.baselines import condition_only as condition_only
    from boundit.bounds.derive import derive_bounds as derive_bounds
    from boundit.bounds.sensitivity import SensitivityCurve as SensitivityCurve
    from boundit.bounds.sensitivity import sensitivity_curve as sensitivity_curve
    from boundit.checks.check import check as check
    from boundit.checks.report import CheckReport as CheckReport
    from boundit.counts.evaluate import evaluate as evaluate
    from boundit.counts.log import Log as Log
    from boundit.counts.read import read_log as read_log
    from boundit.estimand.criteria.adjustment import adjusts as adjusts
    from boundit.estimand.criteria.adjustment_sets import find_adjustment as find_adjustment
    from boundit.estimand.criteria.adjustment_sets import list_adjustments as list_adjustments
    from boundit.estimand.criteria.exchange import exchanges as exchanges
    from boundit.estimand.criteria.substitutes import find_substitutes as find_substitutes
    from boundit.estimand.query import EffectQuery as EffectQuery
    from boundit.estimand.query import parse_query as parse_query
    from boundit.estimand.recover import recover as recover
    from boundit.estimand.recovery.derivation import Recovery as Recovery
    from boundit.graph.causal_graph import CausalGraph as CausalGraph
    from boundit.graph.implications import Independence as Independence
    from boundit.graph.implications import implications as implications
    from boundit.graph.nx import from_networkx as from_networkx
    from boundit.graph.nx import to_networkx as to_networkx
    from boundit.graph.projection import project as project
    from boundit.graph.read import format_graph as format_graph
    from boundit.graph.read import parse_graph as parse_graph
    from boundit.graph.read import read_graph as read_graph
    from boundit.graph.separation import open_walk as open_walk
    from boundit.graph.separators import minimal_separator as minimal_separator
    from boundit.graph.separators import nearest_separator as nearest_separator
    from boundit.simulation.model import Model as Model
    from boundit.simulation.regret import Regret as Regret
    from boundit.simulation.simulate import simulate as simulate
    from boundit.simulation.world import World as World
    from boundit.simulation.worlds import flipped_world as flipped_world
    from boundit.simulation.worlds import paper_world as paper_world
    from boundit.simulation.worlds import random_world as random_world
    from boundit.terms.bound_table import BoundTable as BoundTable
    from boundit.terms.errors import BounditError as BounditError
    from boundit.terms.interval import Interval as Interval
    from boundit.terms.verdict import Verdict as Verdict

__version__ = "0.1.0.dev0"

_HOMES = {
    "BoundTable": "terms.bound_table",
    "BounditError": "terms.errors",
    "CausalGraph": "graph.causal_graph",
    "CheckReport": "checks.report",
    "Decision": "bandit.decision",
    "EffectQuery": "estimand.query",
    "Independence": "graph.implications",
    "Interval": "terms.interval",
    "KLUCB": "bandit.policies.kl_ucb",
    "LinTS": "bandit.policies.lin_ts",
    "LinUCB": "bandit.policies.lin_ucb",
    "Log": "counts.log",
    "Model": "simulation.model",
    "OAM": "bandit.oam.policy",
    "Policy": "bandit.policy",
    "Recovery": "estimand.recovery.derivation",
    "Regret": "simulation.regret",
    "SensitivityCurve": "bounds.sensitivity",
    "TS": "bandit.policies.ts",
    "UCB": "bandit.policies.ucb",
    "Verdict": "terms.verdict",
    "WarmStart": "bandit.learned.warm_start",
    "Watch": "bandit.prior.watch",
    "World": "simulation.world",
    "adjust_for_confounding_only": "bounds.baselines",
    "adjusts": "estimand.criteria.adjustment",
    "check": "checks.check",
    "condition_only": "bounds.baselines",
    "count_ruled_out": "bandit.theory",
    "derive_bounds": "bounds.derive",
    "evaluate": "counts.evaluate",
    "exchanges": "estimand.criteria.exchange",
    "find_adjustment": "estimand.criteria.adjustment_sets",
    "find_substitutes": "estimand.criteria.substitutes",
    "flipped_world": "simulation.worlds",
    "format_graph": "graph.read",
    "from_networkx": "graph.nx",
    "implications": "graph.implications",
    "list_adjustments": "estimand.criteria.adjustment_sets",
    "minimal_separator": "graph.separators",
    "nearest_separator": "graph.separators",
    "open_walk": "graph.separation",
    "paper_world": "simulation.worlds",
    "parse_graph": "graph.read",
    "parse_query": "estimand.query",
    "project": "graph.projection",
    "random_world": "simulation.worlds",
    "read_graph": "graph.read",
    "read_log": "counts.read",
    "recover": "estimand.recover",
    "sensitivity_curve": "bounds.sensitivity",
    "simulate": "simulation.simulate",
    "to_networkx": "graph.nx",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605, one list of names, kept once


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'boundit' has no attribute {name!r}")
    return getattr(import_module(f"boundit.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
