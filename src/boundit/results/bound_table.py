"""Tables of bounds: an interval for the mean under each arm in each context, with its reasons.

A table carries its explanations as finished words and numbers, so a bandit, a service or a
report reads it without the packages that made it. Experts write one with
``BoundTable.from_rows``; ``save`` and ``load`` keep it in a file.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property, partial
from operator import attrgetter, itemgetter
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

from boundit.core.codec import decode, encode
from boundit.core.errors import (
    DamagedFile,
    MalformedRow,
    NotAKey,
    OutsideDomain,
    ReservedName,
    WrongLength,
)
from boundit.core.formula import Sentence, StepRecord, Term, Variable
from boundit.core.frames import FrameKind
from boundit.core.interval import Interval
from boundit.core.message import Caveat, Kind, drop_numbers
from boundit.core.names import unwrap_scalar
from boundit.core.public_names import ATTRIBUTES, find_forwarded, refuse_renamed
from boundit.core.rounding import choose_decimals
from boundit.results import bound_file
from boundit.results.bound import MEASURES, Arm, Bound, Context, Goal, Key, RuleRecord, Value
from boundit.results.choice import Choice, ChoiceRule
from boundit.results.contrast import (
    Pair,
    StoredContrasts,
    find_rival,
)
from boundit.results.effect import Effect, InvalidShares, Shares
from boundit.results.explanation import (
    RANGE,
    Domination,
    Explanation,
    describe_domination,
    find_reasons,
    is_proved,
)
from boundit.results.fused_plan import FusedPlan, NoFusedPlan
from boundit.results.sampling import ROWS, Inference
from boundit.results.text import name_mean, summarize_bounds, write_arm, write_bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPERT = "given"
_CAVEATS: tuple[tuple[Kind, str, str], ...] = (
    ("critical", "critical caveat", "critical caveats"),
    ("assumes", "assumption", "assumptions"),
    ("skipped", "limit met", "limits met"),
)
NO_LOG = NoFusedPlan("these bounds came without a log, so they have no rows to count")
NO_COUNTS = NoFusedPlan("counts of the log were left out of this table, to keep them private")
"""What bounds of an expert have for a plan."""
PLAIN = NoFusedPlan("these are plain intervals, without the counts behind them")


@dataclass(frozen=True)
class BoundTable:
    """An interval for every arm and context.

    ``contrasts`` are the largest differences of two arms in a context, kept where they are less
    than the difference of two intervals. They and the intervals ``compared`` are one
    simultaneous statement at the stated confidence, apart from that of ``bounds``; where
    ``compared`` is empty the intervals are those of ``bounds``. ``inference`` says how sampling
    error was allowed for, and is None where it was not; ``units`` what the log is made of.
    ``pooling`` says in which cells rows of the log and rounds of a policy count together.
    ``bins`` has the edges of treatments, contexts and what a policy may observe that were cut
    into bins: below the first edge a number is in the first bin, from that edge on in the next.
    ``confounding_limit`` has the limits on hidden confounding under which the intervals hold, by
    the edges that they are on. ``models`` says which models were fitted, where some were.
    ``complete`` tells whether no limit cut the search for rules, so that what they leave open
    would stay however many rows there were.
    ``goal`` says whether a greater or a smaller outcome is better; choices and what is ruled out
    follow it.

    >>> table = BoundTable.from_rows(
    ...     [{"Ad": "A", "lower": 0.1, "upper": 0.3}, {"Ad": "B", "lower": 0.2, "upper": 0.6}],
    ...     outcome="Click", treatments=["Ad"], outcome_range=(0, 1),
    ... )
    >>> table["B"]
    Interval(0.200, 0.600)
    """

    outcome: str
    treatments: tuple[str, ...]
    context: tuple[str, ...]
    levels: Mapping[str, tuple[Value, ...]]
    outcome_range: tuple[float, float]
    bounds: Mapping[Key, Bound]
    rules: Mapping[str, RuleRecord] = field(default_factory=dict)
    profile: str = EXPERT
    confidence: float | None = None
    caveats: tuple[Caveat, ...] = field(default_factory=tuple)
    contrasts: Mapping[Pair, float] = field(default_factory=dict)
    compared: Mapping[Key, Interval] = field(default_factory=dict)
    contrast_estimates: Mapping[Pair, float] = field(default_factory=dict)
    inference: Inference | None = None
    units: str = ROWS
    bins: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    pooling: FusedPlan | NoFusedPlan = field(default_factory=lambda: NO_LOG)
    confounding_limit: Mapping[str, float] = field(default_factory=dict)
    models: str = ""
    complete: bool = False
    goal: Goal = "max"

    def __post_init__(self) -> None:
        # Files of releases that knew one method alone do not name it; plug-in ends have none.
        if (self.inference is None) != (self.confidence is None):
            found = None if self.confidence is None else "exact"
            object.__setattr__(self, "inference", found)
        if "caveats" in self.__dict__:
            object.__setattr__(self, "caveats", tuple(map(Caveat.read, self.caveats)))
        for name in self.treatments + self.context:
            if name in MEASURES:
                raise ReservedName(name, MEASURES)

    @classmethod
    def compute_later(
        cls,
        parts: Mapping[str, Callable[[], object]],
        intervals: Mapping[Key, Interval],
        **known: object,
    ) -> Self:
        """Make a table with its intervals, whose other ``parts`` are computed when first read."""
        made = cls.__new__(cls)
        for part in fields(cls):
            if part.name in known:
                made.__dict__[part.name] = known[part.name]
            elif part.name not in parts:
                factory = part.default_factory
                made.__dict__[part.name] = part.default if factory is MISSING else factory()
        made.__dict__.update(intervals=intervals, _later=dict(parts))
        made.__post_init__()
        return made

    def __getstate__(self) -> dict[str, object]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @classmethod
    @refuse_renamed
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, object]],
        *,
        outcome: str,
        treatments: Sequence[str],
        context: Sequence[str] = (),
        outcome_range: tuple[float, float],
        goal: Goal = "max",
    ) -> Self:
        """Make a table of bounds that an expert or another tool wrote, one mapping a row.

        A row has a value for every treatment and context, ``lower`` and ``upper``; the other
        columns that ``rows`` writes may be there too.
        """
        treatments, context = _read_names(treatments), _read_names(context)
        found: dict[Key, Bound] = {}
        for i, row in enumerate(rows):
            key = _pick_values(row, treatments, i), _pick_values(row, context, i)
            if key in found:
                raise MalformedRow(i, f"the arm {key[0]} in context {key[1]} has a row already")
            found[key] = _read_bound(row, i, outcome_range)
        parts = (dict.fromkeys(map(itemgetter(part), found)) for part in (0, 1))
        levels = {
            name: tuple(dict.fromkeys(values[k] for values in part))
            for names, part in zip((treatments, context), parts, strict=True)
            for k, name in enumerate(names)
        }
        return cls(outcome, treatments, context, levels, outcome_range, found, goal=goal)

    @cached_property
    def intervals(self) -> Mapping[Key, Interval]:
        """The interval of every arm and context that has a row."""
        return {key: bound.interval for key, bound in self.bounds.items()}

    @cached_property
    def arms(self) -> tuple[Arm, ...]:
        """The arms that have a row, in order: tuples of treatment values."""
        return tuple(dict.fromkeys(arm for arm, _ in self.intervals))

    @cached_property
    def contexts(self) -> tuple[Context, ...]:
        """The contexts that have a row, in order: tuples of context values."""
        return tuple(dict.fromkeys(context for _, context in self.intervals))

    def __getitem__(self, key: object) -> Interval:
        if not self.context and not (isinstance(key, tuple) and len(key) == 2 and key[1] == ()):
            key = (key, ())
        if not (isinstance(key, tuple) and len(key) == 2):
            raise NotAKey(key)
        return self.intervals.get(self._read_key(*key), Interval(*self.outcome_range))

    def effect(
        self,
        arm: object,
        baseline: object = None,
        *,
        shares: Mapping[object, float] | Literal["any"] = "any",
    ) -> Effect:
        """Bound the average treatment effect of ``arm`` relative to ``baseline``.

        Unknowns that both arms share are held equal. The effects of all pairs of arms are one
        simultaneous statement at the table's confidence, apart from that of the intervals: with
        sampling error an effect can be wider than the difference of the table's two intervals.

        Parameters
        ----------
        arm, baseline : value or tuple
            Values of the treatments. Default baseline: the level 0, False or "no" where there
            is one, else the arm with most rows.
        shares : mapping or "any"
            The share of each context in the average; "any" gives an interval that is valid for
            every mix of contexts.

        Returns
        -------
        Effect
            One interval per context, and ``lower`` and ``upper`` of the average.
        """
        one = self.read_arm(arm)
        other = self._find_baseline() if baseline is None else self.read_arm(baseline)
        weights: Shares = shares if shares == "any" else self._read_shares(shares)
        return Effect(self, one, other, weights)

    def effects(
        self,
        baseline: object = None,
        *,
        shares: Mapping[object, float] | Literal["any"] = "any",
    ) -> dict[Arm, Effect]:
        """Bound the effects of all other arms relative to ``baseline``, by arm."""
        other = self._find_baseline() if baseline is None else self.read_arm(baseline)
        return {
            arm: self.effect(arm, other, shares=shares) for arm in self.arms if arm != other
        }

    def _find_baseline(self) -> Arm:
        """The arm of levels 0, False or "no", else the arm with most rows."""
        for arm in self.arms:
            if all(level in {0, "0", "no", "No", "none"} for level in arm):
                return arm
        rows = dict.fromkeys(self.arms, 0.0)
        for (arm, _), bound in self.bounds.items():
            rows[arm] += bound.n
        return max(rows, key=lambda arm: rows[arm])

    def _read_shares(self, given: Mapping[object, float]) -> dict[Context, float]:
        """Read the share of each context; refuse what is not a distribution."""
        found = {self.read_context(context): float(share) for context, share in given.items()}
        total = math.fsum(found.values())
        if any(not share >= 0 for share in found.values()) or abs(total - 1) > 1e-6:
            raise InvalidShares(total)
        return {context: share / total for context, share in found.items()}

    def find_largest_difference(self, one: Arm, other: Arm, context: Context) -> float:
        """Find how much larger the mean under ``one`` may be than under ``other``, at most."""
        if one == other:
            return 0.0
        apart = (
            self.find_compared(one, context).upper - self.find_compared(other, context).lower
        )
        return min(self.contrasts.get((context, one, other), math.inf), apart)

    def find_estimated_difference(self, one: Arm, other: Arm, context: Context) -> float:
        """Find the same on the estimates, without sampling error."""
        rows = self.bounds.get((one, context)), self.bounds.get((other, context))
        if one == other:
            return 0.0
        if rows[0] is None or rows[1] is None:
            return math.inf
        apart = rows[0].upper_estimate - rows[1].lower_estimate
        return min(self.contrast_estimates.get((context, one, other), math.inf), apart)

    def find_compared(self, arm: Arm, context: Context) -> Interval:
        """Find the interval that holds together with the contrasts."""
        known = self.compared or self.intervals
        return known.get((arm, context)) or Interval(*self.outcome_range)

    def ruled_out(self, context: object = ()) -> dict[Arm, Arm]:
        """Map each arm that is worse than another in every possible case to that other arm.

        Which is worse follows the ``goal`` of the table.
        """
        where = self.read_context(context)
        return {arm: found.arm for arm, found in self.find_dominations(where).items()}

    def find_dominations(self, context: Context) -> dict[Arm, Domination]:
        """Find for each arm that another surely beats in a context the best one, and its lead."""
        leads = self._find_leads(context)
        found = ((arm, self._find_domination(arm, context, leads)) for arm in self.arms)
        return {arm: by for arm, by in found if by}

    @refuse_renamed
    def choose(
        self,
        rule: ChoiceRule = "minimax-regret",
        *,
        optimism: float | None = None,
        randomize: bool = False,
        costs: Mapping[object, float] | None = None,
        goal: Goal | None = None,
    ) -> Choice:
        """Choose an arm for every context.

        Parameters
        ----------
        rule : {"minimax-regret", "maximin", "optimism"}
            Least maximum regret; greatest lower endpoint; or greatest
            ``(1 - optimism) * lower + optimism * upper``.
        optimism : float, optional
            A number from 0 to 1, for the rule ``"optimism"`` alone.
        randomize : bool
            With minimax regret, whether arms may be drawn with probabilities.
        costs : mapping, optional
            Cost of arms, in units of the outcome; arms that are not named cost nothing.
        goal : {"max", "min"}, optional
            Whether a greater or a smaller outcome is better. Default: the goal of the table.

        Returns
        -------
        Choice
            The arm of every context, its maximum regret and the arms that are ruled out.
        """
        made: Choice = find_forwarded("choose")(
            self, rule=rule, optimism=optimism, randomize=randomize, costs=costs, goal=goal
        )
        return made

    def intervals_only(self) -> Self:
        """The same table with its intervals alone: no contrasts, no counts."""
        return replace(self, contrasts={}, compared={}, contrast_estimates={}, pooling=PLAIN)

    @property
    def critical(self) -> tuple[Caveat, ...]:
        """The caveats that are shown wherever the intervals are."""
        return tuple(caveat for caveat in self.caveats if caveat.kind == "critical")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            later = self.__dict__.get("_later", {})
            if (compute := later.get(name)) is not None:
                self.__dict__[name] = compute()
                later.pop(name, None)
            if name in self.__dict__:  # by now, or by another thread
                return self.__dict__[name]
            now = f"; it is now {ATTRIBUTES[name]}" if name in ATTRIBUTES else ""
            raise AttributeError(f"'BoundTable' object has no attribute {name!r}{now}")

    def __repr__(self) -> str:
        sure = "estimates"
        if self.confidence is not None:
            sure = f"{100 * self.confidence:.10g}% confidence"
        counted = [
            f"{_count(len(self.arms), 'arm')}, {_count(len(self.contexts), 'context')}",
            sure,
        ]
        kinds = Counter(caveat.kind for caveat in self.caveats)
        for kind, one, several in _CAVEATS:
            if kinds[kind]:
                counted.append(f"{kinds[kind]} {one if kinds[kind] == 1 else several}")
        return f"<BoundTable {name_mean(self)}: {', '.join(counted)}>"

    def _repr_html_(self) -> str:
        """Show the intervals in a notebook, drawn and in numbers."""
        shown: str = find_forwarded("show_bounds")(self)
        return shown

    def __str__(self) -> str:
        return write_bounds(self)

    def rows(self) -> list[dict[str, object]]:
        """Write the table as a list of mappings: treatments, context, ends, estimates, rules."""
        names, measure = (*self.treatments, *self.context, *MEASURES), attrgetter(*MEASURES)
        return [
            dict(zip(names, (*arm, *context, *measure(bound)), strict=True))
            for (arm, context), bound in self.bounds.items()
        ]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the table as a frame, a line for each arm and context. For users.

        A frame of pandas, of ``"polars"``, or an ``"arrow"`` table.
        """
        names = [*self.treatments, *self.context, *MEASURES]
        return find_forwarded("make_frame")(self.rows(), to, columns=names)

    def plot(self, path: str | PathLike[str] | None = None) -> "tuple[Axes, ...]":
        """Draw the intervals, a panel for each context, and give the axes of the panels.

        A large table has the contexts with the most rows and the arms with the highest ends. A
        notebook shows the figure, pyplot's ``show`` elsewhere; with a ``path`` it is saved as
        PNG or SVG instead. For users.
        """
        drawn: tuple[Axes, ...] = find_forwarded("plot_bounds")(self, path)
        return drawn

    def summary(self) -> str:
        """Say in a few lines which arms may be best, how wide the intervals are, and how surely."""
        said = summarize_bounds(self) if self.bounds else ["No rows."]
        return "\n".join([*self.critical, *said])

    def explain(self, arm: object, context: object = ()) -> Explanation:
        """Explain one interval: rules, data, derivation, and what its width is made of.

        Returns
        -------
        Explanation
            ``str`` is the text, ``record()`` the data.
        """
        key = self._read_key(arm, context)
        low, high = self.outcome_range
        unseen = Bound(low, high, low, high, 0, RANGE, RANGE, marks=("it has no row",))
        row = self.bounds.get(key, unseen)
        worse = self._find_domination(*key, self._find_leads(key[1]))
        return Explanation(
            self.write_mean(key),
            row,
            find_reasons(row, self.rules),
            self.outcome_range,
            self.confidence,
            self.complete and is_proved(row),
            self.critical,
            ""
            if worse is None
            else describe_domination(
                write_arm(self.treatments, worse.arm),
                worse.lead,
                self.goal,
                choose_decimals(*self.outcome_range),
            ),
        )

    @cached_property
    def level_ranks(self) -> dict[str, dict[Value, int]]:
        """Where the levels of each treatment and context variable stand in their order."""
        return {name: {v: i for i, v in enumerate(self.levels[name])} for name in self.levels}

    def record(self) -> dict[str, object]:
        """Write the whole table, reasons included, as an object for JSON."""
        found: dict[str, object] = encode(self)
        if not self.models:
            del found["models"]  # so that releases without models read the file
        if self.goal == "max":
            del found["goal"]
        return found

    def save(self, path: str | PathLike[str], *, counts: bool = True) -> None:
        """Write the table to a JSON file, whole or not at all; without counts of rows if asked."""
        table = self if counts else self.drop_counts()
        bound_file.write(path, table.record())

    def drop_counts(self) -> Self:
        """Give the same intervals and reasons without any count of the log's rows.

        A policy can then count no rows (``pooling``). The endpoints stay, and may allow
        guesses at counts for those who know the method.
        """
        bounds = {
            key: replace(
                bound, n=0, lower_cells=(), upper_cells=(), sampling=None, unadjusted=None
            )
            for key, bound in self.bounds.items()
        }
        rules = {
            name: replace(rule, steps=tuple(map(_drop_numbers_of_step, rule.steps)))
            for name, rule in self.rules.items()
        }
        return replace(
            self,
            bounds=bounds,
            rules=rules,
            pooling=NO_COUNTS,
            caveats=(
                *(caveat.drop_counts() for caveat in self.caveats),
                Caveat(NO_COUNTS.reason, code="no-counts"),
            ),
            models=str(drop_numbers(self.models)),
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a table from a file that ``save`` wrote; refuse anything else whole."""
        return cls.from_record(bound_file.read(path), error=partial(DamagedFile, path))

    @classmethod
    def from_record(
        cls, record: Mapping[str, object], *, error: Callable[[str], Exception] = ValueError
    ) -> Self:
        """Make a table of the JSON object that ``record`` wrote; refuse what does not fit.

        ``error`` makes the error that is raised.
        """
        is_early = isinstance(record, dict) and "reward_range" in record
        if isinstance(record, dict):  # as release 0.2.0 wrote it, with more parts
            record = {str(ATTRIBUTES.get(name, name)): part for name, part in record.items()}
            if not record.get("joint", True) and record.get("confidence") is not None:
                record["contrasts"] = []  # they held one at a time, not together
            for gone in ("living", "joint", "contrast_cost", "others"):
                record.pop(gone, None)
        table = decode(cls, record, error=error)
        if not is_early:
            return table
        return replace(table, bounds={key: _name_range(b) for key, b in table.bounds.items()})

    def _read_key(self, arm: object, context: object) -> Key:
        """Read an arm and a context as a user wrote them, and refuse levels the table lacks."""
        return self.read_arm(arm), self.read_context(context)

    def read_arm(self, given: object) -> Arm:
        """Read an arm as a user wrote it, and refuse levels the table lacks.

        A tuple, a mapping of names, or a scalar for one treatment.
        """
        return self._read_values("arm", given, self.treatments)

    def read_context(self, given: object) -> Context:
        """Read a context as a user wrote it, and refuse levels the table lacks."""
        return self._read_values("context", given, self.context)

    def _read_values(
        self, what: str, given: object, names: tuple[str, ...]
    ) -> tuple[Value, ...]:
        """Read an arm or a context: a tuple, a mapping, or a scalar for one variable."""
        if isinstance(given, Mapping) and given.keys() == set(names):
            given = tuple(given[name] for name in names)
        values = tuple(given) if isinstance(given, tuple | list) else (given,)
        if len(values) != len(names):
            raise WrongLength(what, values, names)
        for name, value in zip(names, values, strict=True):
            if not self._is_level(name, value):
                raise OutsideDomain(name, value, self.levels[name])
        return values

    def _is_level(self, name: str, value: object) -> bool:
        """Tell whether a variable takes a value; one without a hash is not a level."""
        try:
            return value in self._level_sets[name]
        except TypeError:
            return False

    @cached_property
    def _level_sets(self) -> dict[str, frozenset[Value]]:
        """The levels of each variable as a set; ``BoundTable._is_level`` looks them up."""
        return {name: frozenset(levels) for name, levels in self.levels.items()}

    def write_mean(self, key: Key) -> Sentence:
        """Write the mean of one arm in one context as a formula, ``E[Y | do(X=1), W=0]``."""
        arm, context = key
        outcome = Variable(self.outcome, bare=True)
        done = Term("do", _make_assignments(self.treatments, arm))
        return Sentence.of(
            Term("E", (outcome,), (done, *_make_assignments(self.context, context)))
        )

    def _find_domination(
        self, arm: Arm, context: Context, leads: Mapping[Arm, Mapping[Arm, float]]
    ) -> Domination | None:
        """Find the arm that beats this one by most in its context in every possible case."""
        _, upper = self._turn(self.find_compared(arm, context))
        lowers, reached = self._list_lowers(context)
        if upper >= reached and arm not in leads:
            return None
        numbers = self._arm_numbers
        stored = {
            numbers[other]: most
            for other, most in leads.get(arm, {}).items()
            if other != arm and other in numbers
        }
        found = find_rival(upper, lowers, stored)
        return Domination(self.arms[found[0]], found[1]) if found else None

    def _turn(self, interval: Interval) -> tuple[float, float]:
        """Endpoints of a mean, or of its opposite where less is better."""
        if self.goal == "max":
            return interval.lower, interval.upper
        return -interval.upper, -interval.lower

    @cached_property
    def _lowers(self) -> dict[Context, tuple[list[float], float]]:
        """Where ``_list_lowers`` keeps what it found."""
        return {}

    def _list_lowers(self, context: Context) -> tuple[list[float], float]:
        """The least that all arms attain in a context, and the greatest of these.

        Arms without a row have the outcome's range.
        """
        if context not in self._lowers:
            found = [self._turn(self.find_compared(arm, context))[0] for arm in self.arms]
            self._lowers[context] = found, max(found, default=-math.inf)
        return self._lowers[context]

    def _find_leads(self, context: Context) -> Mapping[Arm, Mapping[Arm, float]]:
        """By how much each arm may be better than others in a context, at most, where kept."""
        contrasts = self.find_contrasts(context)
        if self.goal == "max":
            return contrasts
        turned = dict[Arm, dict[Arm, float]]()
        for one, others in contrasts.items():
            for other, most in others.items():
                turned.setdefault(other, {})[one] = most
        return turned

    def find_contrasts(self, context: Context) -> dict[Arm, dict[Arm, float]]:
        """Find the contrasts that are kept for a context: of each arm against others."""
        return self._stored_contrasts.find_within(context) if self.contrasts else {}

    @cached_property
    def _stored_contrasts(self) -> StoredContrasts:
        """The contrasts in an order by context; read by ``BoundTable.find_contrasts``."""
        return StoredContrasts.of(self.contrasts)

    @cached_property
    def _arm_numbers(self) -> dict[Arm, int]:
        """The place of each arm among all; read by ``BoundTable._number_rivals``."""
        return {arm: i for i, arm in enumerate(self.arms)}


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _name_range(bound: Bound) -> Bound:
    """Name ends that no rule gave as they are named now; 0.2.0 called them "range"."""
    low, high = (RANGE if n == "range" else n for n in (bound.lower_rule, bound.upper_rule))
    return replace(bound, lower_rule=low, upper_rule=high)


def _drop_numbers_of_step(step: StepRecord) -> StepRecord:
    """Drop counts of rows from the words of a step, such as those on models."""
    said = step.line
    return replace(step, line=str(drop_numbers(said))) if isinstance(said, str) else step


def _make_assignments(names: Sequence[str], values: Sequence[Value]) -> tuple[Variable, ...]:
    """Pair variables with their values, as ``X=1`` in a formula."""
    return tuple(
        Variable(name, value=str(value), bare=True)
        for name, value in zip(names, values, strict=True)
    )


def _pick_values(row: Mapping[str, object], names: Sequence[str], i: int) -> tuple[Value, ...]:
    """Pick the values of an arm or a context from row ``i``, or refuse the row."""
    for name in names:
        if name not in row:
            raise MalformedRow(i, f"it has no value for {name!r}")
    values = tuple([unwrap_scalar(row[name]) for name in names])
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, Hashable):
            raise MalformedRow(i, f"{name!r} has {value!r}, which is not a value of a variable")
    return values


def _read_names(given: Sequence[str]) -> tuple[str, ...]:
    """Read the names of treatments or context variables; a lone string is one name."""
    return (given,) if isinstance(given, str) else tuple(given)


def _read_bound(row: Mapping[str, object], i: int, outcome_range: tuple[float, float]) -> Bound:
    """Read the bound of row ``i``: both ends and, where given, estimates, rows and rules.

    Refuses endpoints that are not an interval in the range of the outcome.
    """
    lower, upper = _read_end(row, "lower", i), _read_end(row, "upper", i)
    low, high = outcome_range
    if not low <= lower <= upper <= high:
        raise MalformedRow(
            i, f"[{lower}, {upper}] is not an interval within the range [{low}, {high}]"
        )
    return Bound(
        lower,
        upper,
        row.get("lower_estimate", lower),  # type: ignore[arg-type]
        row.get("upper_estimate", upper),  # type: ignore[arg-type]
        row.get("n", 0),  # type: ignore[arg-type]
        row.get("lower_rule", EXPERT),  # type: ignore[arg-type]
        row.get("upper_rule", EXPERT),  # type: ignore[arg-type]
        unadjusted=_read_end(row, "unadjusted", i) if _has_number(row, "unadjusted") else None,
    )


def _has_number(row: Mapping[str, object], name: str) -> bool:
    """Return True unless a frame or a row has nothing there."""
    value = row.get(name)
    return value is not None and value == value


def _read_end(row: Mapping[str, object], name: str, i: int) -> float:
    """Read the lower or upper end of row ``i``, or refuse what is not a number."""
    value = row.get(name)
    if not isinstance(value, int | float) or math.isnan(value):
        raise MalformedRow(i, f"{name!r} must be a number, found {value!r}")
    return float(value)
