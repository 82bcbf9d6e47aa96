r"""Shares of contexts: given, arbitrary, or estimated from a sample of units.

The mean of a policy over contexts is :math:`\sum_c p(c) f(c)`. Its maximum is taken over all
shares ``p`` that are possible. For a sample, each share lies in its Clopper-Pearson interval
(half of the error), and all of them together satisfy (other half; Weissman et al. 2003)

.. math:: \sum_c |p(c) - \hat p(c)| \le \sqrt{2 (\log(2^k - 2) + \log(2/\delta)) / n}

for ``n`` units and ``k`` contexts. Both hold for all functions ``f`` at once, so ``f`` may come
from the same rows.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from boundit.bounds.inference.cells import clopper_pearson
from boundit.bounds.inference.time_uniform import bound_share_adaptively
from boundit.core.errors import BounditError, shorten
from boundit.core.interval import Interval
from boundit.core.message import Option, Placeholder
from boundit.counts.log import Log, read_log
from boundit.counts.named_array import Floats
from boundit.decisions.means import EPS
from boundit.results.bound import Context
from boundit.results.bound_table import BoundTable


class BadShares(BounditError):
    """Something that does not say how common each context is."""

    def __init__(self, reason: str) -> None:
        example = Option("shares", {Placeholder("context"): Placeholder("share")})
        super().__init__(
            f"{reason}. Give ", example, ', a log of units, "log" or "any".', option="shares"
        )


@final
@dataclass(frozen=True, eq=False)
class Shares:
    """All shares of contexts that are possible: a box, cut by a distance from those estimated.

    ``error`` is the probability that the true shares are not among them, ``sentence`` says
    where they come from.
    """

    contexts: tuple[Context, ...]
    estimate: Floats
    lowers: Floats
    uppers: Floats
    distance: float
    sentence: str = ""
    error: float = 0.0

    @property
    def ranges(self) -> tuple[Interval, ...]:
        """The least and the greatest share of each context."""
        pairs = zip(self.lowers.tolist(), self.uppers.tolist(), strict=True)
        return tuple(Interval(low, high) for low, high in pairs)

    def largest(self, values: Sequence[float]) -> float:
        """Bound the mean of one value per context from above, over all possible shares."""
        f = np.asarray(values, dtype=np.float64)
        order = np.argsort(-f, kind="stable")
        # Every context has its least share, the best ones as much of the rest as they may.
        gaps, left = (self.uppers - self.lowers)[order], max(0.0, 1 - float(self.lowers.sum()))
        before = np.concatenate([[0.0], np.cumsum(gaps)[:-1]])
        added = np.clip(left - before, 0.0, gaps)
        in_box = math.fsum([*(self.lowers * f), *(added * f[order])])
        # Half of the distance is moved from the worst contexts to the best.
        moved, shares = min(1.0, self.distance / 2), self.estimate.copy()
        for i in order[::-1]:
            taken = min(moved, float(shares[i]))
            shares[i] -= taken
            shares[order[0]] += taken
            moved -= taken
        return min(in_box, math.fsum(shares * f)) + 16 * EPS * float(np.abs(f).max())


def read_shares(given: object, table: BoundTable, *, error: float) -> Shares:
    """Read how common contexts are: a mapping of shares, a log of units, or ``"any"``.

    ``error`` is what may be spent on a sample; 0 takes it for the population.
    """
    n = len(table.contexts)
    if not table.context:
        return _know({(): 1.0}, "")
    if isinstance(given, str) and given == "any":
        said = f"The interval is valid for any mix of the {n:,} contexts." if n > 1 else ""
        low = np.zeros(n) if n > 1 else np.ones(1)
        return Shares(table.contexts, np.full(n, 1 / n), low, np.ones(n), 2.0 * (n > 1), said)
    if isinstance(given, Mapping) and given and all(map(_is_share, given.values())):
        return _read_known(given, table)
    if given is None or isinstance(given, int | float):
        raise BadShares(f"{given!r} does not say how common contexts are")
    return _count_shares(read_log(given), table, error=error)


def is_sample(given: object, table: BoundTable) -> bool:
    """Tell whether shares are to be estimated from a sample."""
    if not table.context or given is None or (isinstance(given, str) and given == "any"):
        return False
    if isinstance(given, Mapping) and all(map(_is_share, given.values())):
        return False
    return not read_log(given).exact


def _is_share(found: object) -> bool:
    """Whether something is a number and not a column of a log."""
    return (
        hasattr(found, "__float__")
        and not isinstance(found, bool)
        and not getattr(found, "ndim", 0)
        and not hasattr(found, "__len__")
    )


def _know(shares: Mapping[Context, float], sentence: str) -> Shares:
    total = math.fsum(shares.values())
    found = {where: share / total for where, share in shares.items() if share}
    known = np.array(list(found.values()))
    return Shares(tuple(found), known, known, known, 0.0, sentence)


def _read_known(given: Mapping[object, object], table: BoundTable) -> Shares:
    found = dict[Context, float]()
    for key, share in given.items():
        where, number = table.read_context(key), float(share)  # type: ignore[arg-type]
        if where in found:
            raise BadShares(f"The context {where} has two shares")
        if not 0 <= number < math.inf:
            raise BadShares(f"The share of {where} is {share!r}")
        found[where] = number
    if not math.fsum(found.values()) > 0:
        raise BadShares("All shares are 0")
    sentence = f"Contexts have the given shares ({sum(map(bool, found.values())):,} contexts)."
    if left := sum(not found.get(where) for where in table.contexts):
        sentence += f" {left:,} contexts of the bounds have no share and do not count."
    return _know(found, sentence)


def _count_shares(log: Log, table: BoundTable, *, error: float) -> Shares:
    """Estimate shares of contexts from a log of units, with the error of a sample."""
    counts, label = log.count(table.context), shorten(log.source.label)
    levels = [counts.levels[name] for name in table.context]
    seen = {
        table.read_context(tuple(of[code] for of, code in zip(levels, codes, strict=True))): n
        for codes, n in zip(counts.codes.tolist(), counts.n.tolist(), strict=True)
    }
    total = math.fsum(seen.values())
    if not total > 0:
        raise BadShares(f"{label} has no rows")
    if counts.exact or not error:
        how = "the distribution" if counts.exact else f"the {total:,.0f} rows"
        return _know(seen, f"Contexts have the shares of {how} of {label}.")
    contexts = tuple(dict.fromkeys((*table.contexts, *seen)))
    n, k = np.array([seen.get(where, 0.0) for where in contexts]), len(contexts)
    whole = np.full(k, total)
    if counts.adaptive:  # when its policy was stopped may depend on who came
        lowers, uppers = bound_share_adaptively(n, whole, error / k)
        distance = 2.0
    else:
        lowers, uppers = clopper_pearson(n, whole, error / 2 / k)
        several = math.log(2**k - 2) if 1 < k < 1_000 else k * math.log(2)
        distance = min(2.0, math.sqrt(2 * (several + math.log(2 / error)) / total))
    if k == 1:
        lowers, distance = np.ones(1), 0.0
    sentence = f"Shares of contexts are estimated from {total:,.0f} rows of {label}."
    return Shares(contexts, n / total, lowers, uppers, distance, sentence, error)
