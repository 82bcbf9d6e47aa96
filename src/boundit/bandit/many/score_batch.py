"""What the visitors of one context scored: a table for all, or one each where they draw."""

from typing import final

from boundit.bandit.kernels.arrays import Floats, Places
from boundit.bandit.scores import Scores
from boundit.terms.bound import Arm


@final
class ScoreBatch:
    """The scores of some visitors of one context, who differ in what was drawn for them.

    ``shared`` are those of one of them. Where something is drawn, ``found`` has for each the
    row that won and how many arms needed no score, and ``tables`` their score tables. Made by
    ``BasePolicy.choose_many``.
    """

    __slots__ = ("_tables", "found", "shared")

    def __init__(
        self, shared: Scores, found: Places | None = None, tables: Floats | None = None
    ) -> None:
        self.shared, self.found, self._tables = shared, found, tables

    def make(self, i: int) -> Scores:
        """Make the scores of the ``i``-th visitor of this context.

        The same for all where nothing is drawn.
        """
        if self.found is None or self._tables is None:
            return self.shared
        winner, unscored = self.found[i].tolist()
        return self.shared.repeat((winner, unscored), self._tables[i])

    def list_arms(self) -> list[Arm]:
        """List the arms of the context, as the rows of its score tables have them."""
        return [ranked.arm for ranked in self.shared.ranked_arms]
