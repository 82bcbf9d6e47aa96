"""Differences of arms under unknowns that both arms share.

Two intervals say that the mean of arm ``a`` is at most ``U_a - L_b`` above that of ``b``. Where
one unknown affects both, as selection does, the difference can be known far better than either
mean. An arm is *dominated* if another is better in every possible case.
"""

from array import array
from bisect import bisect_left
from collections.abc import ItemsView, Iterator, Mapping, Sequence
from typing import TypeAlias, final

from boundit.results.bound import Arm, Context

Pair: TypeAlias = tuple[Context, Arm, Arm]
"""A context, and two arms in it: the first one's mean less the second one's."""


@final
class StoredContrasts(Mapping[Pair, float]):
    """Contrasts of very many arms and contexts, kept as plain numbers, 16 bytes each.

    ``codes`` grow; each is the numbers of a context, an arm and another in one, so that what
    belongs to a context lies together.

    >>> given = {((0,), ("a",), ("b",)): -0.1, ((1,), ("b",), ("a",)): 0.2}
    >>> stored = StoredContrasts.of(given)
    >>> stored == given, stored[(1,), ("b",), ("a",)], stored.find_within((0,))
    (True, 0.2, {('a',): {('b',): -0.1}})
    """

    def __init__(
        self,
        arms: Sequence[Arm],
        contexts: Sequence[Context],
        codes: "array[int]",
        values: "array[float]",
    ) -> None:
        self._arms, self._contexts = arms, contexts
        self._codes, self.most = codes, values
        self._arm_numbers = {arm: i for i, arm in enumerate(arms)}
        self._context_numbers = {context: i for i, context in enumerate(contexts)}

    @classmethod
    def of(cls, contrasts: Mapping[Pair, float]) -> "StoredContrasts":
        """Store contrasts that are given as any mapping; those stored so already stay."""
        if isinstance(contrasts, cls):
            return contrasts
        arms = list(dict.fromkeys(arm for _, *pair in contrasts for arm in pair))
        contexts = list(dict.fromkeys(context for context, _, _ in contrasts))
        empty = cls(arms, contexts, array("q"), array("d"))
        coded = sorted((empty._encode(pair), most) for pair, most in contrasts.items())
        codes, values = array("q", [c for c, _ in coded]), array("d", [v for _, v in coded])
        return cls(arms, contexts, codes, values)

    def find_within(self, context: Context) -> dict[Arm, dict[Arm, float]]:
        """Find the contrasts of one context: of each arm against others."""
        where, n = self._context_numbers.get(context), len(self._arms)
        if where is None:
            return {}
        start, end = (bisect_left(self._codes, (where + i) * n * n) for i in (0, 1))
        found = dict[Arm, dict[Arm, float]]()
        for code, most in zip(self._codes[start:end], self.most[start:end], strict=True):
            one, other = divmod(code % (n * n), n)
            found.setdefault(self._arms[one], {})[self._arms[other]] = most
        return found

    def __getitem__(self, pair: Pair) -> float:
        code = self._encode(pair)
        i = bisect_left(self._codes, code)
        if i == len(self._codes) or self._codes[i] != code:
            raise KeyError(pair)
        return self.most[i]

    def __iter__(self) -> Iterator[Pair]:
        n = len(self._arms)
        for code in self._codes:
            rest, other = divmod(code, n)
            where, one = divmod(rest, n)
            yield self._contexts[where], self._arms[one], self._arms[other]

    def __len__(self) -> int:
        return len(self._codes)

    def __repr__(self) -> str:
        return repr(dict(self.items()))

    def items(self) -> ItemsView[Pair, float]:
        """Give pairs and their contrasts in the order in which they are stored, unsearched."""
        return _StoredItems(self)

    def _encode(self, pair: Pair) -> int:
        """Write the numbers of a context and two arms as one; an unknown one is a KeyError."""
        context, one, other = pair
        n, numbers = len(self._arms), self._arm_numbers
        return (self._context_numbers[context] * n + numbers[one]) * n + numbers[other]


class _StoredItems(ItemsView[Pair, float]):
    """Pairs of arms and their contrasts, without looking each up."""

    _mapping: StoredContrasts

    def __iter__(self) -> Iterator[tuple[Pair, float]]:
        return zip(self._mapping, self._mapping.most, strict=True)


def find_rival(
    upper: float, lowers: Sequence[float], contrasts: Mapping[int, float]
) -> tuple[int, float] | None:
    """Find which of a context's arms surely earns more than one, by most, and its lead.

    ``upper`` is the one's upper end, ``lowers`` are the lower ends of all arms, itself among
    them, and ``contrasts`` what is stored of the one against others, by their number. None if
    no arm surely earns more.

    >>> find_rival(0.2, [0.1, 0.3, 0.2], {})
    (1, 0.09999999999999998)
    >>> find_rival(0.5, [0.1, 0.1, 0.1], {1: -0.1, 2: -0.2})
    (2, 0.2)
    >>> find_rival(0.5, [0.1, 0.1, 0.1], {1: 0.0}) is None
    True
    """
    leads = [upper - lower for lower in lowers]
    for other, most in contrasts.items():
        leads[other] = min(leads[other], most)
    least = min(leads)
    return (leads.index(least), -least) if least < 0 else None
