"""Rules tried one after another, each within what memory and time are left."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from boundit.bounds.choose_rules import name_rules, rank_rule
from boundit.bounds.numbers import Ends, Numbers
from boundit.bounds.plan import PlannedRule
from boundit.counts.errors import TooLarge
from boundit.terms.errors import OutOfTime
from boundit.terms.message import Message, Note, Option
from boundit.terms.progress import Told, say_nothing

LIMITS: Final = (TooLarge, OutOfTime, MemoryError)
"""What is raised where memory or time do not suffice; who meets it does without."""
_SHOWN = 3  # of rules too large, how many get a caveat each


def try_rules(
    rules: Sequence[PlannedRule],
    numbers: Numbers,
    shape: Sequence[int],
    told: Told = say_nothing,
) -> tuple[list[Ends], tuple[Note, ...]]:
    """Ask every rule for its ends, the cheapest first; what does not fit says nothing.

    Returns the ends in the order of ``rules``, and notes that name the rules left out and what
    would help. Called by ``intersect_rules`` with the estimates, and again with confidence
    intervals.
    """
    found = dict[int, Ends]()
    refused = dict[str, BaseException]()
    order = sorted(range(len(rules)), key=lambda i: rank_rule(rules[i].rule, numbers.levels))
    for done, place in enumerate(order):
        name = rules[place].record.name
        told(f"try {name}", done, len(order))
        try:
            found[place] = _try_rule(rules[place], numbers)
        except LIMITS as error:
            found[place] = Ends(np.zeros(shape), np.ones(shape))
            refused[name] = error
    notes = (*_note_large(refused), *_note_late(refused))
    return [found[place] for place in range(len(rules))], notes


def _try_rule(planned: PlannedRule, numbers: Numbers) -> Ends:
    """Ask one rule for its ends, unless it would not fit or time is over.

    Called by ``try_rules``.
    """
    rule, workspace = planned.rule, numbers.workspace
    workspace.require_time()
    workspace.require_cells(
        rule.count_cells(numbers.levels), {*rule.axes, *rule.array_variables}
    )
    return rule.find_ends(numbers, workspace.budget)


def _note_large(refused: dict[str, BaseException]) -> Iterator[Note]:
    """Yield a caveat for each of the first rules that memory had no room for, and one for more.

    Called by ``try_rules``.
    """
    large = {name: e for name, e in refused.items() if not isinstance(e, OutOfTime)}
    for name, error in [*large.items()][:_SHOWN]:
        why = error.message if isinstance(error, TooLarge) else "memory ran out"
        yield Message(f"the rule {name!r} was left out: ", why)
    if others := [*large][_SHOWN:]:
        yield Message(f"so were {name_rules(others)}; ", Option("memory_limit"), " is too low")


def _note_late(refused: dict[str, BaseException]) -> Iterator[Note]:
    """Yield a caveat that names the rules that time was over for.

    Called by ``try_rules``.
    """
    if late := [name for name, e in refused.items() if isinstance(e, OutOfTime)]:
        yield Message(
            f"{name_rules(late)} had no time left; the other rules hold; raise ",
            Option("time_limit"),
            " or lower ",
            Option("max_condition"),
        )
