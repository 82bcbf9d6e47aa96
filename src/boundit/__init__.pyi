"""The public names of boundit, each listed once, with the file it lives in."""

from boundit import bandit as bandit
from boundit import decisions as decisions
from boundit import estimand as estimand
from boundit import graph as graph
from boundit import service as service
from boundit import simulation as simulation
from boundit.bandit.decision import Decision as Decision
from boundit.bandit.fused.policy import Fused as Fused
from boundit.bandit.lin_ts import LinTS as LinTS
from boundit.bandit.lin_ucb import LinUCB as LinUCB
from boundit.bandit.oam.policy import OAM as OAM
from boundit.bandit.policy import Policy as Policy
from boundit.bandit.ts import TS as TS
from boundit.bandit.ucb import UCB as UCB
from boundit.bandit.warm_up import warm_up as warm_up
from boundit.bounds.derive import derive_bounds as derive_bounds
from boundit.bounds.models.options import Models as Models
from boundit.checks.check import check as check
from boundit.core.errors import BounditError as BounditError
from boundit.core.errors import BounditWarning as BounditWarning
from boundit.counts.log import read_log as read_log
from boundit.decisions.compare import compare as compare
from boundit.decisions.evaluation import evaluate_policy as evaluate_policy
from boundit.decisions.policies import LOGGED as LOGGED
from boundit.decisions.sensitivity import sensitivity as sensitivity
from boundit.decisions.stress import stress as stress
from boundit.decisions.suggest import suggest as suggest
from boundit.estimand.adjustment import adjustment_sets as adjustment_sets
from boundit.estimand.adjustment import is_adjustment_set as is_adjustment_set
from boundit.estimand.identify import identify as identify
from boundit.estimand.query import parse_query as parse_query
from boundit.graph.causal_graph import CausalGraph as CausalGraph
from boundit.graph.implications import implications as implications
from boundit.graph.read import parse_graph as parse_graph
from boundit.graph.read import read_graph as read_graph
from boundit.results.bound_table import BoundTable as BoundTable
from boundit.service.client import Client as Client
from boundit.simulation.environment import Environment as Environment
from boundit.simulation.feedback import Feedback as Feedback
from boundit.simulation.fit import fit_environments as fit_environments
from boundit.simulation.scm import SCM as SCM
from boundit.simulation.simulate import simulate as simulate

__version__: str
__all__: list[str]
