"""The public names of boundit, each listed once, with the file it lives in."""

from boundit import bandit as bandit
from boundit import bounds as bounds
from boundit import estimand as estimand
from boundit import graph as graph
from boundit.bandit.decision import Decision as Decision
from boundit.bandit.fused.policy import Fused as Fused
from boundit.bandit.learned.warm_start import WarmStart as WarmStart
from boundit.bandit.oam.policy import OAM as OAM
from boundit.bandit.policies.kl_ucb import KLUCB as KLUCB
from boundit.bandit.policies.lin_ts import LinTS as LinTS
from boundit.bandit.policies.lin_ucb import LinUCB as LinUCB
from boundit.bandit.policies.ts import TS as TS
from boundit.bandit.policies.ucb import UCB as UCB
from boundit.bandit.policy import Policy as Policy
from boundit.bandit.prior.watch import Watch as Watch
from boundit.bandit.warm_up import warm_up as warm_up
from boundit.bounds.derive import derive_bounds as derive_bounds
from boundit.bounds.sensitivity import SensitivityCurve as SensitivityCurve
from boundit.bounds.sensitivity import sensitivity_curve as sensitivity_curve
from boundit.checks.check import check as check
from boundit.checks.report import CheckReport as CheckReport
from boundit.counts.formulas.evaluate import evaluate as evaluate
from boundit.counts.log import Log as Log
from boundit.counts.read import read_log as read_log
from boundit.decisions.choose.choose import choose as choose
from boundit.estimand.criteria.adjustment import adjusts as adjusts
from boundit.estimand.criteria.adjustment_sets import find_adjustment as find_adjustment
from boundit.estimand.criteria.adjustment_sets import list_adjustments as list_adjustments
from boundit.estimand.query import EffectQuery as EffectQuery
from boundit.estimand.query import parse_query as parse_query
from boundit.estimand.recover import recover as recover
from boundit.estimand.recovery.derivation import Recovery as Recovery
from boundit.graph.causal_graph import CausalGraph as CausalGraph
from boundit.graph.implications import Independence as Independence
from boundit.graph.implications import implications as implications
from boundit.graph.nx import from_networkx as from_networkx
from boundit.graph.nx import to_networkx as to_networkx
from boundit.graph.read import format_graph as format_graph
from boundit.graph.read import parse_graph as parse_graph
from boundit.graph.read import read_graph as read_graph
from boundit.simulation.feedback.feedback import Feedback as Feedback
from boundit.simulation.model import Model as Model
from boundit.simulation.regret import Regret as Regret
from boundit.simulation.simulate import simulate as simulate
from boundit.simulation.world import World as World
from boundit.simulation.worlds import flipped_world as flipped_world
from boundit.simulation.worlds import paper_world as paper_world
from boundit.simulation.worlds import random_world as random_world
from boundit.terms.bound_table import BoundTable as BoundTable
from boundit.terms.choices.choice import Choice as Choice
from boundit.terms.errors import BounditError as BounditError
from boundit.terms.interval import Interval as Interval
from boundit.terms.verdict import Verdict as Verdict

__version__: str
__all__: list[str]
