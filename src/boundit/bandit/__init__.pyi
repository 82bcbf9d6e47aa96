"""The names of ``boundit.bandit``; the policies are names of ``boundit`` too."""

from boundit.bandit.decision import Decision as Decision
from boundit.bandit.fused.policy import Fused as Fused
from boundit.bandit.ids import IdStore as IdStore
from boundit.bandit.lin_ts import LinTS as LinTS
from boundit.bandit.lin_ucb import LinUCB as LinUCB
from boundit.bandit.oam.policy import OAM as OAM
from boundit.bandit.policy import Policy as Policy
from boundit.bandit.ridge import WarmStart as WarmStart
from boundit.bandit.ts import TS as TS
from boundit.bandit.ucb import UCB as UCB

__all__: list[str]
