"""What a policy says when its rounds contradict the log that it started from."""

from dataclasses import dataclass
from typing import final

from boundit.terms.bound import Arm, Context, Value
from boundit.terms.names import join_names


@final
@dataclass(frozen=True)
class LogRefutation:
    """The log and the rounds cannot come from one world as the graph says.

    ``evidence`` is the mean of all e-processes, ``level`` the chance of a false alarm. Of all
    cells the one that differs most is named by an arm and a context in it, and the values of
    the plan's variables; rewards are on the scale from 0 to 1.
    """

    arm: Arm
    context: Context
    variables: tuple[str, ...]
    values: tuple[Value, ...]
    evidence: float
    level: float

    def __str__(self) -> str:
        shown = f" where {join_names(self.variables)} is {self.values!r}" if self.values else ""
        where = f" in context {self.context!r}" if self.context else ""
        return (
            f"rounds contradict the log, most of all for arm {self.arm!r}{where}{shown}: "
            f"evidence {self.evidence:.3g}, refuted at level {self.level:.3g}; graph or log "
            "cannot be right, and the policy goes on with the log discounted as it learned"
        )
