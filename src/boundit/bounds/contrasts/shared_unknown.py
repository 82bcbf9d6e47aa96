"""What a rule must say so that arms can be compared under it: which unknown they share.

An *arm place* is the index of an arm on the axes of the treatments, as in ``(0, 2)`` for the
first level of the first treatment and the third of the second.
"""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from boundit.bounds.numbers import Numbers
from boundit.counts.named_array import Floats
from boundit.estimand.query import EffectQuery
from boundit.terms.long_work import TimeBudget
from boundit.terms.names import Nodes

ArmPlace: TypeAlias = tuple[int, ...]


class GreatestDifferences(Protocol):
    """What one rule proves of the differences of arms."""

    def find_greatest(self, one: ArmPlace, others: Sequence[ArmPlace]) -> Floats:
        """Bound from above one arm's mean reward less that of each other arm, in every context.

        The others all differ from it in the same treatments; they are the first axis of what
        comes out.
        """


class SharedUnknown(Protocol):
    """A rule in which arms share something unknown."""

    @property
    def is_programmed(self) -> bool:
        """Whether comparing arms under this rule needs linear programs, which cost time."""

    def may_share(self, treatments: Nodes) -> bool:
        """Tell whether any two arms may share an unknown law under this rule.

        If not, a difference of two arms says no more than their bounds.
        """

    def make_differences(
        self, numbers: Numbers, query: EffectQuery, budget: TimeBudget
    ) -> GreatestDifferences:
        """Make what compares arms under this rule: its laws, read off the numbers."""


def find_differing(treatments: Sequence[str], one: ArmPlace, other: ArmPlace) -> Nodes:
    """Find the treatments in which two arms differ.

    Laws that depend on none of them are the same for both.

    >>> sorted(find_differing(("A", "B"), (0, 1), (0, 2)))
    ['B']
    """
    pairs = zip(treatments, one, other, strict=True)
    return frozenset(name for name, i, j in pairs if i != j)
