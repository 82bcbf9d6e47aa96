"""Rules tried one after another, each within what memory and time are left."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from boundit.bounds.choose_rules import rank_rule
from boundit.bounds.numbers import Ends, Numbers
from boundit.bounds.plan import PlannedRule
from boundit.bounds.refusals import LIMITS, note_refused
from boundit.terms.long_work import Progress, say_nothing
from boundit.terms.message import Note


class EndFinder(Protocol):
    """Finds the ends of all rules of a plan: by estimates, by boxes or by claims."""

    def __call__(
        self, rules: Sequence[PlannedRule], shape: Sequence[int], progress: Progress
    ) -> tuple[list[Ends], tuple[Note, ...]]:
        """Find the ends of rules in their order, with notes on what was left out.

        Called through ``_intersect_ends``, which is given one.
        """


def try_rules(
    numbers: Numbers,
    rules: Sequence[PlannedRule],
    shape: Sequence[int],
    progress: Progress = say_nothing,
) -> tuple[list[Ends], tuple[Note, ...]]:
    """Ask every rule for its ends, the cheapest first; what does not fit says nothing.

    Returns the ends in the order of ``rules``, and notes that name the rules left out and what
    would help.
    """
    found = dict[int, Ends]()
    refused = dict[str, BaseException]()
    order = sorted(range(len(rules)), key=lambda i: rank_rule(rules[i].rule, numbers.levels))
    for done, place in enumerate(order):
        name = rules[place].record.name
        progress(f"try {name}", done, len(order))
        try:
            found[place] = _try_rule(rules[place], numbers)
        except LIMITS as error:
            found[place] = Ends(np.zeros(shape), np.ones(shape))
            refused[name] = error
    return [found[place] for place in range(len(rules))], tuple(note_refused(refused))


def _try_rule(planned: PlannedRule, numbers: Numbers) -> Ends:
    """Ask one rule for its ends, unless it would not fit or time is over."""
    rule, workspace = planned.rule, numbers.workspace
    workspace.require_time()
    workspace.require_cells(
        rule.count_cells(numbers.levels), {*rule.axes, *rule.array_variables}
    )
    return rule.find_ends(numbers, workspace.budget)
