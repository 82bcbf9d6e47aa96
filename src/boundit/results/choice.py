"""Which arm, or which randomized arm, is chosen in each context, with its maximum regret."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

from boundit.core.codec import encode
from boundit.core.errors import shorten
from boundit.core.frames import FrameKind
from boundit.core.public_names import find_forwarded, mark_renamed
from boundit.results.bound import Arm, Context, Goal
from boundit.results.text import MOST_ROWS, align_columns, write_arm, write_levels

ChoiceRule: TypeAlias = Literal["minimax-regret", "maximin", "optimism"]
"""By what arms are chosen: least worst-case regret, greatest lower end, or a stated mixture."""
MOST_DRAWN = 5
"""How many arms of a randomized choice texts name."""
MOST_SENTENCES = 20
"""Of how many contexts the text of a choice has sentences; others have a line of the table."""


@dataclass(frozen=True, slots=True)
class ContextChoice:
    """What is chosen in one context.

    ``probabilities`` has every arm that may be drawn. The mean, over the draw too, is worse than
    that of the best arm by at most ``max_regret``, attained only if ``against`` is the best;
    that is None where nothing but rounding is lost. ``floor`` is the guaranteed mean. ``single``
    is the best non-randomized choice by the rule and ``ties`` are arms that do as well.
    ``ruled_out`` maps arms that are worse than another in every case to that one.
    ``by_differences`` tells whether bounds on differences of arms lowered the regret. ``marks``
    is what a reader must know of this context, ``summary`` the choice in words.
    """

    context: Context
    probabilities: Mapping[Arm, float]
    max_regret: float
    against: Arm | None
    floor: float
    single: Arm
    single_regret: float
    single_against: Arm | None
    ties: tuple[Arm, ...]
    ruled_out: Mapping[Arm, Arm]
    by_differences: bool
    marks: tuple[str, ...] = ()
    summary: str = ""

    @property
    def arm(self) -> Arm | None:
        """The arm that is chosen; None where arms are drawn."""
        return next(iter(self.probabilities)) if len(self.probabilities) == 1 else None

    def __repr__(self) -> str:
        return f"<ContextChoice {shorten(self.summary, 200)}>"

    def __str__(self) -> str:
        return self.summary


mark_renamed(
    ContextChoice, {"lottery": "probabilities", "regret": "max_regret", "says": "summary"}
)


@final
@dataclass(frozen=True)
class Choice(Mapping[Context, ContextChoice]):
    """What is chosen in every context of a table of bounds: maps contexts to their choice.

    Regrets hold at the ``confidence`` in all contexts at once.

    >>> from boundit.results.bound_table import BoundTable
    >>> bounds = BoundTable.from_rows(
    ...     [{"Ad": "A", "lower": 0.1, "upper": 0.4}, {"Ad": "B", "lower": 0.3, "upper": 0.6}],
    ...     outcome="Click", treatments=["Ad"], outcome_range=(0, 1),
    ... )
    >>> choice = bounds.choose()
    >>> choice[()].arm, round(choice[()].max_regret, 9)
    (('B',), 0.1)
    """

    outcome: str
    treatments: tuple[str, ...]
    context: tuple[str, ...]
    rule: ChoiceRule
    optimism: float | None
    choices: Mapping[Context, ContextChoice]
    confidence: float | None = None
    goal: Goal = "max"

    def __getitem__(self, context: object) -> ContextChoice:
        if isinstance(context, Mapping) and context.keys() == set(self.context):
            context = tuple(context[name] for name in self.context)
        found = context if isinstance(context, tuple) else (context,)
        return self.choices[found]

    def __iter__(self) -> Iterator[Context]:
        return iter(self.choices)

    def __len__(self) -> int:
        return len(self.choices)

    @property
    def sure(self) -> str:
        """How surely the regrets hold, in words."""
        if self.confidence is None:
            return "plug-in estimates, without sampling error"
        return f"{100 * self.confidence:.6g}% confidence that all regrets are valid"

    def rows(self) -> list[dict[str, object]]:
        """Write the choice as a list of mappings, one for each context. For users."""
        return [
            {
                **dict(zip(self.context, where, strict=True)),
                "arm": self.write_draw(found.probabilities, most=len(found.probabilities)),
                "max_regret": found.max_regret,
                "floor": found.floor,
                "single": write_arm(self.treatments, found.single),
                "single_regret": found.single_regret,
            }
            for where, found in self.choices.items()
        ]

    def frame(self, to: FrameKind = "pandas") -> Any:
        """Give the rows as a frame of pandas, ``"polars"`` or ``"arrow"``. For users."""
        return find_forwarded("make_frame")(self.rows(), to)

    def record(self) -> dict[str, object]:
        """Write the choice as an object for JSON."""
        found: dict[str, object] = encode(self)
        return found

    def __repr__(self) -> str:
        rule = "minimax regret" if self.rule == "minimax-regret" else self.rule
        shown = [
            f"{', '.join(map(str, where))} {self.write_draw(one.probabilities)}".lstrip()
            for where, one in self.choices.items()
        ]
        more = f", and {len(shown) - 4:,} more" if len(shown) > 4 else ""
        worst = write_promise(max(one.max_regret for one in self.choices.values()))
        return (
            f"<Choice by {rule}, {self.goal}imize {self.outcome}: {', '.join(shown[:4])}{more} "
            f"(max regret {worst})>"
        )

    def _repr_html_(self) -> str:
        """Show what to use in a notebook, a row for each context."""
        shown: str = find_forwarded("show_choice")(self)
        return shown

    def __str__(self) -> str:
        return self.format()

    def format(self, *, all_rows: bool = False) -> str:
        """Write the choice as text; of more than 30 contexts all with ``all_rows``."""
        every = list(self.choices.values())
        found = every if all_rows else every[:MOST_ROWS]
        head = [*self.context, "arm", "max regret"]
        columns = [
            *zip(*(map(str, one.context) for one in found), strict=True),
            [self.write_draw(one.probabilities) for one in found],
            [write_promise(one.max_regret) for one in found],
        ]
        if any(one.arm is None for one in every):
            head += ["without drawing", "its max regret"]
            columns.append([write_arm(self.treatments, one.single) for one in found])
            columns.append([write_promise(one.single_regret) for one in found])
        lines = [align_columns(head, columns)]
        if left := len(every) - len(found):
            lines.append(f"and {left:,} more rows (--all-rows, or .frame(), has all)")
        lines.append(self.sure)
        if len(every) <= MOST_SENTENCES:
            lines += ["", *map(self.write_answer, every)]
        return "\n".join(lines)

    def write_answer(self, found: ContextChoice) -> str:
        """Write the answer of one context in words, with the context before it."""
        where = write_levels(self.context, found.context)
        said = " ".join([found.summary, *found.marks])
        return f"{where}: {said}" if where else said

    def write_draw(self, probabilities: Mapping[Arm, float], *, most: int = MOST_DRAWN) -> str:
        """Write an arm, or arms with their probabilities; of more than ``most`` the likeliest."""
        shown, left = cut_draw(probabilities, most)
        named = [(write_arm(self.treatments, arm), p) for arm, p in shown.items()]
        if len(probabilities) == 1:
            return named[0][0]
        more = [f"{len(left)} more {sum(left.values()):.3g}"] if left else []
        return ", ".join([*(f"{name} {p:.3g}" for name, p in named), *more])


def cut_draw(
    probabilities: Mapping[Arm, float], most: int
) -> tuple[dict[Arm, float], dict[Arm, float]]:
    """Cut probabilities of many arms: those to name, and the others.

    >>> cut_draw({("a",): 0.2, ("b",): 0.5, ("c",): 0.3}, 2)
    ({('b',): 0.5, ('c',): 0.3}, {('a',): 0.2})
    """
    if len(probabilities) <= most:
        return dict(probabilities), {}
    ranked = sorted(probabilities.items(), key=lambda drawn: -drawn[1])
    return dict(ranked[:most]), dict(ranked[most:])


def write_promise(number: float) -> str:
    """Write what is lost at most with three digits, rounded up: a promise is not cut short.

    >>> write_promise(0.03014), write_promise(0.0), write_promise(0.25), write_promise(1234.5)
    ('0.0302', '0', '0.25', '1235')
    """
    return write_at_most(number, digits=3) if number > 0 else f"{number:g}"


def write_at_most(number: float, *, digits: int = 4) -> str:
    """Write a number that is an upper end with a few digits, rounded up.

    >>> write_at_most(0.30141), write_at_most(-0.30149), write_at_most(0.0), write_at_most(0.25)
    ('0.3015', '-0.3014', '0', '0.25')
    """
    if not math.isfinite(number) or number == 0:
        return f"{number:g}"
    unit = 10.0 ** min(math.floor(math.log10(abs(number))) + 1 - digits, 0)
    # What rounding left of a number that has so few digits does not round up to the next one.
    return f"{math.ceil(number / unit - 1e-6) * unit:.{digits + 3}g}"


def write_at_least(number: float) -> str:
    """Write a number that is a lower end with four digits, rounded down.

    >>> write_at_least(0.30149), write_at_least(-0.30141), write_at_least(0.0)
    ('0.3014', '-0.3015', '0')
    """
    turned = write_at_most(-number)
    return turned[1:] if turned.startswith("-") else f"-{turned}" if number else turned
