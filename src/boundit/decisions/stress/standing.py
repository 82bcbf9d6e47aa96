"""Where a table of bounds leaves the choice: the arm to use, and what is told surely."""

from collections.abc import Sequence
from dataclasses import dataclass

from boundit.core.rounding import ROUNDING
from boundit.decisions.choose import choose
from boundit.decisions.means import MeanSet
from boundit.results.bound import Arm, Context, Key
from boundit.results.bound_table import BoundTable
from boundit.results.choice import ChoiceRule, ContextChoice


@dataclass(frozen=True, slots=True)
class ContextStanding:
    """What one table says to do in one context.

    ``chosen`` are the arms that do best by the rule, one unless several do equally well;
    ``regrets`` how much more the best arm may earn than each, in the worst case; ``sure`` the
    arm that earns most whatever is true.
    """

    context: Context
    chosen: tuple[Arm, ...]
    regrets: tuple[tuple[Arm, float], ...]
    sure: Arm | None

    @property
    def choice(self) -> Arm | None:
        """The arm to use, or None where several do equally well: there is nothing to overturn."""
        return self.chosen[0] if len(self.chosen) == 1 else None

    def find_regret(self, arm: Arm) -> float:
        """Find the worst-case regret of an arm."""
        return dict(self.regrets)[arm]


def find_standing(
    table: BoundTable, rule: ChoiceRule, optimism: float | None
) -> tuple[ContextStanding, ...]:
    """Find in every context of a table the arms that do best by a rule, and what is sure."""
    found = choose(table, rule=rule, optimism=optimism)
    return tuple(_judge_context(table, each) for each in found.values())


def _judge_context(table: BoundTable, found: ContextChoice) -> ContextStanding:
    """Find what a choice leaves open in one context: ties, all regrets, and what is sure.

    The best arm is never ruled out, so the last that is not is surely best.
    """
    means = MeanSet.from_table(table, found.context)
    means = means if table.goal == "max" else means.turn()
    worst = means.leads.max(axis=0)
    left = [arm for arm in means.arms if arm not in found.ruled_out]
    return ContextStanding(
        found.context,
        tuple(dict.fromkeys((found.single, *found.ties))),
        tuple(
            (arm, max(float(most), 0.0)) for arm, most in zip(means.arms, worst, strict=True)
        ),
        left[0] if len(left) == 1 < len(means.arms) else None,
    )


@dataclass(frozen=True, slots=True)
class StandingChange:
    """What of today's choices and sure statements another table no longer says.

    ``fallen`` are contexts whose choice is no longer the only best one, with the arms that do
    best instead; ``lost`` those in which an arm is no longer surely best. ``regret`` is the
    worst-case regret of today's choices under the other table, in the worst context.
    """

    fallen: tuple[tuple[Context, tuple[Arm, ...]], ...]
    lost: tuple[Context, ...]
    regret: float


def compare_standings(
    before: Sequence[ContextStanding], after: Sequence[ContextStanding]
) -> StandingChange:
    """Compare what two tables of the same arms and contexts say to do."""
    fallen, lost, regret = list[tuple[Context, tuple[Arm, ...]]](), list[Context](), 0.0
    for old, new in zip(before, after, strict=True):
        if old.choice is not None:
            regret = max(regret, new.find_regret(old.choice))
            if new.choice != old.choice:
                fallen.append((old.context, new.chosen))
        if old.sure is not None and new.sure != old.sure:
            lost.append(old.context)
    return StandingChange(tuple(fallen), tuple(lost), regret)


def list_widened(before: BoundTable, after: BoundTable) -> tuple[Key, ...]:
    """List the arms and contexts whose interval is wider in the second table."""
    return tuple(
        key
        for key, bound in before.bounds.items()
        if (after.bounds[key].upper - after.bounds[key].lower)
        > bound.upper - bound.lower + ROUNDING
    )


def measure_widths(table: BoundTable) -> tuple[float, float]:
    """Measure the mean and the largest width of a table's intervals."""
    widths = [bound.upper - bound.lower for bound in table.bounds.values()]
    return sum(widths) / len(widths), max(widths)
