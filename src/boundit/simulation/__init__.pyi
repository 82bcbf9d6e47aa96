"""The public names of ``boundit.simulation``."""

from boundit.simulation.environment import Environment as Environment
from boundit.simulation.environment import read_environment as read_environment
from boundit.simulation.environments import flipped_environment as flipped_environment
from boundit.simulation.environments import paper_environment as paper_environment
from boundit.simulation.environments import random_environment as random_environment
from boundit.simulation.feedback import Feedback as Feedback
from boundit.simulation.fit import fit_environments as fit_environments
from boundit.simulation.fitted import FittedEnvironment as FittedEnvironment
from boundit.simulation.fitted import FittedEnvironments as FittedEnvironments
from boundit.simulation.regret import Regret as Regret
from boundit.simulation.scm import SCM as SCM

__all__: list[str]
