r"""How often each context comes: given, whatever they are, or read off a sample of visitors.

What a policy earns over all contexts is :math:`\sum_c p(c) f(c)`. Its greatest value is taken
over all shares ``p`` that are possible. Shares of a sample are uncertain: with half of its
error every single share lies in its exact (Clopper-Pearson) interval, with the other half the
shares together lie within

.. math:: \sum_c |p(c) - \hat p(c)| \le \sqrt{2 (\log(2^k - 2) + \log(2/\delta)) / n}

of those seen among ``n`` visitors and ``k`` contexts (Weissman et al. 2003). Both hold for all
functions ``f`` at once, so that ``f`` may come from the same rows.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from boundit.bounds.inference.cells import clopper_pearson
from boundit.bounds.inference.time_uniform import bound_share_adaptively
from boundit.core.errors import BounditError, shorten
from boundit.core.interval import Interval
from boundit.core.message import Option, Placeholder
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import Floats
from boundit.results.bound import Context
from boundit.results.bound_table import BoundTable

ANY_CONTEXTS = "any"
"""What users write for contexts that come as often as they may."""
_EPS = float(np.finfo(np.float64).eps)


class BadShares(BounditError):
    """Something that does not say how often each context comes."""

    def __init__(self, reason: str) -> None:
        example = Option("contexts", {Placeholder("context"): Placeholder("share")})
        super().__init__(
            f"{reason}; give ", example, ", a log of visitors, or 'any'", option="contexts"
        )


class ContextShares(Protocol):
    """What is known of how often each context comes."""

    @property
    def contexts(self) -> tuple[Context, ...]:
        """The contexts that may come at all."""
        ...

    @property
    def chance(self) -> float:
        """With which chance the shares miss, 0 where they hold surely."""
        ...

    @property
    def sentence(self) -> str:
        """What was taken for the shares, as a reader is told."""
        ...

    def list_ranges(self) -> tuple[Interval, ...]:
        """List the least and the greatest share of each context."""
        ...

    def find_largest(self, values: Sequence[float]) -> float:
        """Bound from above the mean of one value a context, over all shares that may be."""
        ...


@final
@dataclass(frozen=True)
class AnyShares:
    """Contexts come as often as they may: the worst case is the worst context."""

    contexts: tuple[Context, ...]
    chance: float = 0.0

    @property
    def sentence(self) -> str:
        """What was taken for the shares, as a reader is told."""
        if len(self.contexts) == 1:
            return ""
        return (
            f"The {len(self.contexts):,} contexts may come as often as they will: the interval "
            "goes from the worst of them to the best."
        )

    def list_ranges(self) -> tuple[Interval, ...]:
        """List the shares of each context: 0 to 1, or 1 of the only one."""
        alone = len(self.contexts) == 1
        return (Interval(1.0 if alone else 0.0, 1.0),) * len(self.contexts)

    def find_largest(self, values: Sequence[float]) -> float:
        """Find the greatest of the values."""
        return max(values)


@final
@dataclass(frozen=True)
class KnownShares:
    """Shares that are known: given as a table, or those of an exact law."""

    contexts: tuple[Context, ...]
    shares: tuple[float, ...]
    sentence: str
    chance: float = 0.0

    def list_ranges(self) -> tuple[Interval, ...]:
        """List the share of each context, as both ends."""
        return tuple(Interval(share, share) for share in self.shares)

    def find_largest(self, values: Sequence[float]) -> float:
        """Add up values by their shares, rounded up."""
        parts = [share * value for share, value in zip(self.shares, values, strict=True)]
        slack = 8 * _EPS * math.fsum(map(abs, parts))
        return math.fsum([*parts, slack])


@final
@dataclass(frozen=True, eq=False)
class SampledShares:
    """Shares as a sample of visitors shows them, with the chance of missing them all.

    The sample of ``n`` visitors has ``shown`` of them in each context, ``lowers`` and
    ``uppers`` are what each share may be, and ``distance`` is how far all of them may lie from
    those seen, added up.
    """

    contexts: tuple[Context, ...]
    shown: Floats
    lowers: Floats
    uppers: Floats
    distance: float
    chance: float
    sentence: str

    @classmethod
    def count(
        cls,
        contexts: tuple[Context, ...],
        n: Floats,
        chance: float,
        *,
        adaptive: bool,
        sentence: str,
    ) -> "SampledShares":
        """Make the region of shares from how many visitors came in each context."""
        total, k = float(n.sum()), len(contexts)
        whole = np.full(k, total)
        if adaptive:  # when its policy was stopped may hang on who came
            lowers, uppers = bound_share_adaptively(n, whole, chance / k)
            distance = 2.0
        else:
            lowers, uppers = clopper_pearson(n, whole, chance / 2 / k)
            several = math.log(2**k - 2) if 1 < k < 1_000 else k * math.log(2)
            distance = min(2.0, math.sqrt(2 * (several + math.log(2 / chance)) / total))
        if k == 1:
            lowers, distance = np.ones(1), 0.0
        return cls(contexts, n / total, lowers, uppers, distance, chance, sentence)

    def list_ranges(self) -> tuple[Interval, ...]:
        """List what the share of each context may be."""
        return tuple(
            Interval(float(low), float(high))
            for low, high in zip(self.lowers, self.uppers, strict=True)
        )

    def find_largest(self, values: Sequence[float]) -> float:
        """Bound from above the mean of one value a context: the better of two bounds.

        Both hold.
        """
        f = np.asarray(values, dtype=np.float64)
        order = np.argsort(-f, kind="stable")
        found = min(self._fill_box(f, order), self._move_mass(f, order))
        return found + 16 * _EPS * float(np.abs(f).max())

    def _fill_box(self, f: Floats, order: np.ndarray) -> float:
        """Give every context its least share, then the best ones as much as they may have."""
        room = (self.uppers - self.lowers)[order]
        left = max(0.0, 1 - float(self.lowers.sum()))
        before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
        added = np.clip(left - before, 0.0, room)
        return float(math.fsum(self.lowers * f) + math.fsum(added * f[order]))

    def _move_mass(self, f: Floats, order: np.ndarray) -> float:
        """Move as many visitors as may be miscounted from the worst contexts to the best."""
        moved, shares = min(1.0, self.distance / 2), self.shown.copy()
        for i in order[::-1]:
            taken = min(moved, float(shares[i]))
            shares[i] -= taken
            shares[order[0]] += taken
            moved -= taken
        return float(math.fsum(shares * f))


def read_shares(given: object, table: BoundTable, *, chance: float) -> ContextShares:
    """Read how often contexts come: a table of shares, a log of visitors, or ``"any"``.

    ``chance`` is what a sample may miss with; 0 takes it as if it were everyone.
    """
    if not table.context:
        return AnyShares(((),))
    if isinstance(given, str) and given == ANY_CONTEXTS:
        return AnyShares(table.contexts)
    if isinstance(given, Mapping) and given and all(map(_is_share, given.values())):
        return _read_known(given, table)
    if given is None or isinstance(given, int | float):
        raise BadShares(f"{given!r} says nothing of contexts")
    return count_shares(read_log(given), table, chance=chance)


def is_sample(given: object, table: BoundTable) -> bool:
    """Tell whether shares are to be read off a sample, whose error counts."""
    if not table.context or given is None or (isinstance(given, str) and given == ANY_CONTEXTS):
        return False
    if isinstance(given, Mapping) and all(map(_is_share, given.values())):
        return False
    return not read_log(given).exact


def _is_share(found: object) -> bool:
    """Tell whether something is a number and no column of a log."""
    return (
        hasattr(found, "__float__")
        and not isinstance(found, bool)
        and not getattr(found, "ndim", 0)
        and not hasattr(found, "__len__")
    )


def _read_known(given: Mapping[object, object], table: BoundTable) -> KnownShares:
    """Read a table of shares; they are weights, and are divided by their sum."""
    found = dict[Context, float]()
    for key, share in given.items():
        where, number = table.read_context(key), float(share)  # type: ignore[arg-type]
        if where in found:
            raise BadShares(f"the context {where} has two shares")
        if not 0 <= number < math.inf:
            raise BadShares(f"the share of {where} is {share!r}")
        found[where] = number
    total = math.fsum(found.values())
    if not total > 0:
        raise BadShares("all shares are 0")
    kept = {where: share / total for where, share in found.items() if share}
    left = sum(where not in kept for where in table.contexts)
    sentence = f"Contexts weigh as given, {len(kept):,} of them."
    if left:
        sentence += f" {left:,} of the bounds have no share and do not count."
    return KnownShares(tuple(kept), tuple(kept.values()), sentence)


def count_shares(log: Log, table: BoundTable, *, chance: float) -> ContextShares:
    """Read shares of contexts off a log of visitors, with the error of a sample."""
    counts = log.count(table.context)
    levels = [counts.levels[name] for name in table.context]
    seen = {
        table.read_context(tuple(of[code] for of, code in zip(levels, codes, strict=True))): n
        for codes, n in zip(counts.codes.tolist(), counts.n.tolist(), strict=True)
    }
    total = math.fsum(seen.values())
    if not total > 0:
        raise BadShares(f"{shorten(log.source.label)} has no visitors")
    label = shorten(log.source.label)
    if counts.exact or not chance:
        kept = {where: n / total for where, n in seen.items() if n}
        how = "the exact law in" if counts.exact else f"the {total:,.0f} visitors in"
        taken = "" if counts.exact else ", as if they were everyone"
        sentence = f"Contexts weigh as in {how} {label}{taken}."
        return KnownShares(tuple(kept), tuple(kept.values()), sentence)
    contexts = tuple(dict.fromkeys((*table.contexts, *seen)))
    n = np.array([seen.get(where, 0.0) for where in contexts])
    sentence = (
        f"Contexts weigh as in {total:,.0f} visitors of {label}, a sample: its error counts."
    )
    return SampledShares.count(contexts, n, chance, adaptive=counts.adaptive, sentence=sentence)
