"""Intervals with reasons, and the answer in words: what ``boundit bound`` says of a project."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from msgspec import Struct

from boundit.bounds.count import KeptCounts
from boundit.bounds.derive import derive_table
from boundit.core.errors import BounditError
from boundit.core.formula import StepRecord
from boundit.core.long_work import Progress
from boundit.report.pages.bound_answer import make_bound_answer
from boundit.report.pages.page_answer import PageAnswer, UseGroup
from boundit.results.bound import Arm, Bound, Context
from boundit.results.bound_table import BoundTable
from boundit.results.choice import Choice
from boundit.results.explanation import RANGE, Reason
from boundit.results.sampling import EndSampling
from boundit.studio.ask import AskedProject, spell_caveat
from boundit.studio.claims import LitParts, join_lit, make_lighter

MOST_ROWS, MOST_EXPLAINED, MOST_CHOSEN = 5_000, 400, 10_000
"""How many rows are sent, for how many of them the reasons too, and contexts to choose in."""

Plain = int | float | str | bool | None


class ReasonStep(Struct, frozen=True):
    """One step of a proof, and what it speaks of in the drawing."""

    words: str
    lit: LitParts


class RuleReason(Struct, frozen=True):
    """Why a kind of bound holds."""

    claim: str
    steps: tuple[ReasonStep, ...]
    lit: LitParts


class RowReason(Struct, frozen=True):
    """Why one end of an interval, or both, are where they are."""

    end: str
    rule: str
    words: str
    numbers: tuple[str, ...]
    steps: tuple[ReasonStep, ...]
    lit: LitParts


class ShownRow(Struct, frozen=True):
    """An arm in a context: its interval, and why."""

    arm: tuple[Plain, ...]
    context: tuple[Plain, ...]
    lower: float
    upper: float
    lower_estimate: float
    upper_estimate: float
    n: float
    lower_rule: str
    upper_rule: str
    effective_rows: tuple[float | None, float | None]
    out: tuple[Plain, ...] | None
    words: str
    widths: str
    reasons: tuple[RowReason, ...]
    marks: tuple[str, ...]


class UseWords(Struct, frozen=True):
    """Contexts with the same answer, in words."""

    known: bool
    use: str
    cost: str
    out: str
    where: tuple[str, ...]


class ContextUse(Struct, frozen=True):
    """What to use in one context: one arm or a lottery, what it may cost, what is out."""

    context: tuple[Plain, ...]
    lottery: tuple[tuple[tuple[Plain, ...], float], ...]
    regret: float
    known: bool
    out: tuple[tuple[Plain, ...], ...]
    words: str


class AnswerWords(Struct, frozen=True):
    """The answer in words: a sentence, remarks, what to use where, and what it rests on."""

    sentence: str
    remarks: tuple[str, ...]
    use: tuple[UseWords, ...]
    basis: dict[str, str]
    choice: tuple[ContextUse, ...]
    sure: str


class BoundAnswer(Struct, frozen=True):
    """Everything that the page shows of bounds."""

    outcome: str
    treatments: tuple[str, ...]
    context: tuple[str, ...]
    levels: dict[str, tuple[Plain, ...]]
    rows: tuple[ShownRow, ...]
    n_rows: int
    rules: dict[str, RuleReason]
    outcome_range: tuple[float, float]
    confidence: float | None
    inference: str | None
    promise: str
    answer: AnswerWords
    caveats: tuple[str, ...]
    explained: int


class CountKeeper:
    """Counts of logs that were read, so that another setting of the same log reads no rows."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._kept: OrderedDict[str, KeptCounts] = OrderedDict()

    def find(self, key: str) -> KeptCounts:
        """Find the counts of a log, none where it is new."""
        self._kept.setdefault(key, {})
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return self._kept[key]


def derive(asked: AskedProject, keeper: CountKeeper, progress: Progress) -> BoundTable:
    """Bound what a project asks, its caveats in the words of the page."""
    request = asked.make_request()
    table = derive_table(request, keeper.find(asked.log_key), progress)
    return replace(table, caveats=tuple(map(spell_caveat, table.caveats)))


def answer_bound(asked: AskedProject, keeper: CountKeeper, progress: Progress) -> BoundAnswer:
    """Bound what a project asks, with reasons and the answer in words.

    A worker finds it in ``ANSWERS`` for the kind "bound".
    """
    table = derive(asked, keeper, progress)
    progress("write the reasons", 0, 1)
    light = make_lighter(asked.project.graph, asked.graph)
    rules = describe_rules(table, light)
    dominations = {
        where: table.find_dominations(where) for where in table.contexts[:MOST_CHOSEN]
    }
    rows = []
    for i, ((arm, where), bound) in enumerate(islice(table.bounds.items(), MOST_ROWS)):
        beaten = dominations.get(where, {}).get(arm)
        out = None if beaten is None else write_values(beaten.arm)
        rows.append(
            _describe_row(table, arm, where, bound, rules, out, with_reasons=i < MOST_EXPLAINED)
        )
    choice = choose_arms(table)
    return BoundAnswer(
        table.outcome,
        table.treatments,
        table.context,
        {name: write_values(levels) for name, levels in table.levels.items()},
        tuple(rows),
        len(table.bounds),
        rules,
        table.outcome_range,
        table.confidence,
        table.inference,
        table.summary(),
        describe_answer(asked, table, choice, sum(map(len, dominations.values()))),
        tuple(map(str, table.caveats)),
        min(MOST_EXPLAINED, len(table.bounds)),
    )


def describe_rules(
    table: BoundTable, light: Callable[[StepRecord], LitParts]
) -> dict[str, RuleReason]:
    """Describe every rule of a table once, with what each of its steps lights up."""
    found = dict[str, RuleReason]()
    for name, rule in table.rules.items():
        steps = tuple(ReasonStep(str(step), light(step)) for step in rule.steps)
        found[name] = RuleReason(str(rule.claim), steps, join_lit(step.lit for step in steps))
    return found


def _describe_row(
    table: BoundTable,
    arm: Arm,
    where: Context,
    bound: Bound,
    rules: dict[str, RuleReason],
    out: tuple[Plain, ...] | None,
    *,
    with_reasons: bool,
) -> ShownRow:
    """Describe one row of a table, and its reasons where they are shown."""
    sampling = bound.sampling
    ends = (sampling.lower, sampling.upper) if sampling else (None, None)
    explained = table.explain(arm, where) if with_reasons else None
    return ShownRow(
        write_values(arm),
        write_values(where),
        bound.lower,
        bound.upper,
        bound.lower_estimate,
        bound.upper_estimate,
        bound.n,
        bound.lower_rule,
        bound.upper_rule,
        (_count_rows(ends[0]), _count_rows(ends[1])),
        out,
        str(explained.title) if explained else "",
        f"Width {explained.width}." if explained else "",
        tuple(_describe_reason(each, rules) for each in explained.reasons) if explained else (),
        bound.marks,
    )


def _describe_reason(reason: Reason, rules: dict[str, RuleReason]) -> RowReason:
    """Describe why a bound is where it is; of one that no rule gave, what would help."""
    name = reason.rule.name
    if name == RANGE or name not in rules:
        which = (
            "Neither bound says"
            if reason.which == "both"
            else f"The {reason.which} bound says no"
        )
        words = (
            f"{which} more than the range of the outcome: under this graph the log leaves it "
            "open. “What would narrow this?” lists what would help."
        )
        return RowReason(reason.which, name, words, (), (), LitParts())
    rule = rules[name]
    words = f"{reason.title}. {rule.claim}"
    return RowReason(
        reason.which, name, words, tuple(map(str, reason.shown)), rule.steps, rule.lit
    )


def _count_rows(end: EndSampling | None) -> float | None:
    """Give as how many rows of equal weight an end counts."""
    return None if end is None else end.effective_rows


def choose_arms(table: BoundTable) -> Choice | None:
    """Choose what to use in each context; None where that takes long or makes no sense."""
    if len(table.contexts) > MOST_CHOSEN:
        return None
    try:
        return table.choose()
    except BounditError:
        return None


def describe_answer(
    asked: AskedProject, table: BoundTable, choice: Choice | None, dominated: int
) -> AnswerWords:
    """Say in words which arm to use where, how sure that is, and what it rests on."""
    page = make_bound_answer(table, asked.query, choice, dominated=dominated, drawn=False)
    return AnswerWords(
        str(page.verdict),
        tuple(map(str, page.said)),
        _describe_uses(page),
        {name: str(line) for name, line in page.basis.items()},
        () if choice is None else describe_choice(choice),
        "" if choice is None else choice.sure,
    )


def _describe_uses(page: PageAnswer) -> tuple[UseWords, ...]:
    """Describe what to use where, by contexts that have the same answer."""
    groups: Sequence[UseGroup] = (*page.groups, *page.more)
    return tuple(
        UseWords(group.standing == "known", group.use, group.cost, group.out, group.where)
        for group in groups
    )


def describe_choice(choice: Choice) -> tuple[ContextUse, ...]:
    """Describe what to use in each context."""
    return tuple(
        ContextUse(
            write_values(found.context),
            tuple((write_values(arm), chance) for arm, chance in found.lottery.items()),
            found.regret,
            found.single_against is None,
            tuple(map(write_values, found.ruled_out)),
            choice.write_answer(found),
        )
        for found in islice(choice.values(), MOST_ROWS)
    )


def write_values(values: Sequence[object]) -> tuple[Plain, ...]:
    """Write levels for JSON as ``boundit bound --json`` does: dates and times as text."""
    return tuple(v if isinstance(v, int | float | str | None) else str(v) for v in values)
