"""The contract of the service in plain Python, written without looking at the engine.

One dictionary of decisions, one policy of the library, one list of closings: what each call
must answer, and what the policy must have learned.
"""

from dataclasses import dataclass, field
from typing import Any

from boundit.results.bound_table import BoundTable
from boundit.service.config import PolicyConfig, make_policy


@dataclass
class PlainDecision:
    """What is known of one decision."""

    position: int
    context: tuple[Any, ...]
    asked: tuple[Any, ...]
    arm: tuple[Any, ...]
    at: int
    rewards: dict[str, float] = field(default_factory=dict)
    told: set[tuple[str, float]] = field(default_factory=set)
    observed: dict[str, Any] = field(default_factory=dict)
    played: Any = None
    closed: bool = False


class Refused(Exception):
    """A call that the service must refuse, with the status that it must have."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(str(status))


class PlainService:
    """One policy behind the contract."""

    def __init__(self, config: PolicyConfig) -> None:
        self.config = config
        self.policy = make_policy(config)
        self.decisions: dict[str, PlainDecision] = {}
        self.pruned: set[str] = set()
        self.position = 1
        self.now = self.last = 0
        self.closed: list[tuple[str, float | None]] = []

    def decide(self, name: str, age: int, played: str | None = None) -> tuple[bool, str]:
        """Decide; gives whether it is a repeat, and the arm."""
        if name in self.pruned:
            raise Refused(410)
        found = self.decisions.get(name)
        if found:
            if found.asked != (age, played):
                raise Refused(409)
            return True, str(found.arm[0])
        if age not in range(3):
            raise Refused(422)
        made = self.policy.decide((age,), id=name)
        self.position += 1
        self.last = max(self.now, self.last)
        self.decisions[name] = PlainDecision(
            self.position, (age,), (age, played), made.arm_values, self.last, played=played
        )
        return False, str(made.arm)

    def reward(
        self, name: str, reward: float | None, reward_id: str, observed: dict[str, Any]
    ) -> str:
        """Tell a reward; gives the status."""
        found = self._find(name)
        if reward is None and not observed:
            raise Refused(422)
        if any(found.observed.get(key, value) != value for key, value in observed.items()):
            raise Refused(409)
        news = any(key not in found.observed for key in observed)
        overdue = not found.closed and self._is_due(found, max(self.now, self.last) - 1)
        late = found.closed or overdue
        rewards = dict(found.rewards)
        if reward is not None and (reward_id, reward) not in found.told:
            replaces = self.config.reward_aggregation == "last" and not reward_id
            if reward_id in rewards and not replaces:
                raise Refused(409)
            rewards.pop(reward_id, None)
            rewards[reward_id] = reward
            adds = self.config.reward_aggregation == "sum" and not late
            if not 0 <= (sum(rewards.values()) if adds else reward) <= 1:
                raise Refused(422)
            news = True
        if overdue:
            self._close(name, found)
        if not news:
            return "duplicate"
        found.rewards = rewards
        if reward is not None:
            found.told.add((reward_id, reward))
        found.observed.update(observed)
        self.position += 1
        self.last = max(self.now, self.last)
        if late:
            return "late"
        if self.config.window is None and rewards:
            self._close(name, found)
            return "learned"
        return "pending"

    def _find(self, name: str) -> PlainDecision:
        if name in self.pruned:
            raise Refused(410)
        if name not in self.decisions:
            raise Refused(404)
        return self.decisions[name]

    def close_due(self) -> int:
        """Close the windows that are over."""
        due = [
            (one.at, one.position, name)
            for name, one in self.decisions.items()
            if not one.closed and self._is_due(one, max(self.now, self.last))
        ]
        for _, _, name in sorted(due):
            self._close(name, self.decisions[name])
        return len(due)

    def _is_due(self, found: PlainDecision, now: int) -> bool:
        window = self.config.window
        return window is not None and found.at + round(window * 1e6) <= now

    def _close(self, name: str, found: PlainDecision) -> None:
        values = list(found.rewards.values())
        reward = self.config.default_reward
        if values:
            reward = {"first": values[0], "last": values[-1], "sum": sum(values)}[
                self.config.reward_aggregation
            ]
        self.position += 1
        self.last = max(self.now, self.last)
        found.closed = True
        if self.config.shadow and found.played is None:
            reward = None
        self.closed.append((name, reward))
        if reward is None:
            return
        arm = (found.played,) if found.played else found.arm
        decision = self.policy.adopt(found.context, arm, id=name)
        self.policy.learn(decision, reward, observed=found.observed or None)

    def refresh(self, table: BoundTable) -> None:
        """Replace the bounds."""
        self.policy.refresh(table)
        self.position += 1
        self.last = max(self.now, self.last)

    def prune(self) -> int:
        """Erase what is over by now."""
        gone = [
            name
            for name, one in self.decisions.items()
            if one.closed or self.config.window is None
        ]
        for name in gone:
            del self.decisions[name]
        self.pruned.update(gone)
        return len(gone)
