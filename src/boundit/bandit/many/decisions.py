"""Decisions for several visitors, spelled out one by one when somebody reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import SupportsIndex, final, overload

import numpy as np

from boundit.bandit.decision import Decision
from boundit.bandit.kernels.arrays import Places
from boundit.bandit.many.score_batch import ScoreBatch
from boundit.bandit.many.visitors import Visitors
from boundit.bandit.scores import Scores
from boundit.terms.bound import Arm


@final
@dataclass(frozen=True)
class ExploredArm:
    """An arm that was drawn to explore: its row among the scored arms, -1 if it has none."""

    arm: Arm
    row: int
    features: tuple[float, ...]


@final
class Decisions(Sequence[Decision]):
    """The decisions of ``decide_many``, in the order of the visitors.

    A sequence of ``Decision``; each is made when it is read, and copies are plain lists.
    ``ids`` and ``arms`` give those of all visitors at once, which is quicker.

    >>> from boundit.bandit.policies.ucb import UCB
    >>> decisions = UCB(arms=["A", "B"], horizon=100).decide_many([(), ()], ids=["a", "b"])
    >>> len(decisions), decisions[1].id, decisions.arms
    (2, 'b', [('A',), ('A',)])
    """

    def __init__(
        self,
        ids: list[str],
        visitors: Visitors,
        members: Sequence[Places],
        batches: Sequence[ScoreBatch],
        explored: dict[int, ExploredArm],
    ) -> None:
        self.ids, self._visitors, self._batches = ids, visitors, batches
        best = np.array([batch.shared.best for batch in batches], np.int64)
        self._places, self._winners = np.zeros(len(ids), np.int64), best[visitors.groups]
        for places, batch in zip(members, batches, strict=True):
            if batch.found is not None:
                self._places[places] = np.arange(len(places))
                self._winners[places] = batch.found[:, 0]
        self._explored = explored

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, i: SupportsIndex) -> Decision: ...
    @overload
    def __getitem__(self, i: slice) -> list[Decision]: ...
    def __getitem__(self, i: SupportsIndex | slice) -> Decision | list[Decision]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        name, k = self.ids[i], range(len(self))[i]
        scores = self.make_scores(k)
        return Decision.of(name, scores.arm, self._visitors.contexts[k], scores)

    def make_scores(self, i: int) -> Scores:
        """Make the scores of one visitor, who may have got another arm to explore."""
        scores = self._batches[int(self._visitors.groups[i])].make(int(self._places[i]))
        explored = self._explored.get(i)
        if explored is not None:
            scores = scores.repeat(scores.found, scores.score_table)
            scores.explore_arm(explored.arm, explored.row, explored.features)
        return scores

    @cached_property
    def arms(self) -> list[Arm]:
        """The arm for each visitor."""
        names = [batch.list_arms() for batch in self._batches]
        groups, winners = self._visitors.groups.tolist(), self._winners.tolist()
        found = [names[group][row] for group, row in zip(groups, winners, strict=True)]
        for i, explored in self._explored.items():
            found[i] = explored.arm
        return found

    def group_alike(self) -> tuple[list[Decision], Places]:
        """Group the decisions that were made on one arm in one context.

        Gives one of each kind, in the order they came, and the kind of each.
        """
        most = max((len(batch.shared.ranked_arms) for batch in self._batches), default=1)
        codes = self._visitors.groups * most + self._winners
        for i in self._explored:
            codes[i] = len(self._batches) * most + i
        firsts, kinds = number_by_first(codes)
        return [self[i] for i in firsts], kinds

    def __repr__(self) -> str:
        return f"Decisions({len(self)} in {len(self._batches)} contexts)"

    def __reduce__(self) -> tuple[type[list[Decision]], tuple[list[Decision]]]:
        # A copy has the decisions and not what they were made of.
        return list, (list(self),)


def number_by_first(codes: Places) -> tuple[list[int], Places]:
    """Number what differs in the order it comes first; gives the first places, and numbers.

    >>> firsts, numbers = number_by_first(np.array([7, 3, 7, 5]))
    >>> firsts, numbers.tolist()
    ([0, 1, 3], [0, 1, 0, 2])
    """
    _, firsts, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    numbers = np.empty_like(order)
    numbers[order] = np.arange(order.size)
    return firsts[order].tolist(), numbers[inverse]
