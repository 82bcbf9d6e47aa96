"""What to use where, in few lines: contexts that have the same answer stand together."""

from collections.abc import Mapping, Sequence

from boundit.report.pages.page_answer import UseGroup
from boundit.report.text.contexts import name_contexts
from boundit.report.text.lettering import format_level
from boundit.results.bound import Arm
from boundit.results.bound_table import BoundTable
from boundit.results.choice import Choice, ChoiceRule, ContextChoice, write_promise

MOST_NAMED = 4
"""How many arms or contexts a line names; the others are counted, or behind a click."""
_LONGEST, _TAIL = 56, 20
"""How long a name may be in the answer, and how much of its end stays."""
_WORDS = ("all", "any", "both", "each", "neither", "no", "none", "nothing", "other", "some")

MERITS: Mapping[ChoiceRule, str] = {
    "minimax-regret": "falls least short of the highest",
    "maximin": "has the highest lower end",
    "optimism": "has the highest score",
}
"""What a rule says for the arm that it chooses where the best one is not known."""


def group_uses(table: BoundTable, choice: Choice) -> list[UseGroup]:
    """Group the contexts of a choice by what to use: the known first, then the most common."""
    found: dict[tuple[bool, tuple[Arm, ...]], list[ContextChoice]] = {}
    for one in choice.values():
        found.setdefault((is_known(one), list_equals(table, one)), []).append(one)
    ordered = sorted(found.items(), key=lambda item: (not item[0][0], -len(item[1])))
    merit = MERITS[choice.rule]
    return [_make_group(table, arms, members, merit) for (_, arms), members in ordered]


def is_known(one: ContextChoice) -> bool:
    """Tell whether one arm of a context is the best whatever is true."""
    return one.single_against is None


def list_equals(table: BoundTable, one: ContextChoice) -> tuple[Arm, ...]:
    """List the arms among which nothing decides: the one to use alone, or all that are left.

    Arms that do as well as the chosen one count only where no other is left; else the first of
    them is named.
    """
    left = [arm for arm in table.arms if arm not in one.ruled_out]
    alike = {one.single, *one.ties}
    return tuple(left) if len(left) > 1 and alike >= set(left) else (one.single,)


def name_arms(table: BoundTable, arms: Sequence[Arm], *, joint: str = "and") -> str:
    """Name arms in a sentence: all of a few, of many the first ones and how many there are.

    >>> rows = [{"Ad": ad, "lower": 0.1, "upper": 0.3} for ad in "ABCDEF"]
    >>> made = BoundTable.from_rows(rows, outcome="Y", treatments=["Ad"], outcome_range=(0, 1))
    >>> name_arms(made, made.arms[:3], joint="or"), name_arms(made, made.arms)
    ('A, B or C', 'A, B, C and 3 more')
    """
    named = [_name_arm(table, arm) for arm in arms]
    if len(named) > MOST_NAMED:
        named, joint = [*named[: MOST_NAMED - 1], f"{len(arms) - MOST_NAMED + 1} more"], "and"
    # Arms of several treatments have commas themselves.
    comma = "; " if len(table.treatments) > 1 else ", "
    return f" {joint} ".join(filter(None, (comma.join(named[:-1]), named[-1])))


def _name_arm(table: BoundTable, arm: Arm) -> str:
    """Name one arm: its level where that is a word, else with the treatment's name."""
    if len(arm) == 1 and isinstance(arm[0], str):
        name = shorten_name(format_level(arm[0]))
        # A name of several words, or one that a sentence may have anyway, is marked as a name.
        return name if name.isalnum() and name.lower() not in _WORDS else f"“{name}”"
    pairs = zip(table.treatments, arm, strict=True)
    return shorten_name(", ".join(f"{format_level(n)}={format_level(v)}" for n, v in pairs))


def shorten_name(name: str) -> str:
    """Shorten a very long name in its middle: names often differ at their end.

    >>> shorten_name("B"), len(shorten_name(100 * "x"))
    ('B', 56)
    """
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - _TAIL - 1].rstrip()}…{name[-_TAIL:]}"


def _make_group(
    table: BoundTable, arms: tuple[Arm, ...], members: Sequence[ContextChoice], merit: str
) -> UseGroup:
    """Make the line of contexts that have the same answer."""
    names = name_contexts(table, [one.context for one in members]) if table.context else []
    known = is_known(members[0])
    return UseGroup(
        "known" if known else "open",
        f"Highest: {name_arms(table, arms)}" if known else _describe_open(table, arms, merit),
        _describe_cost(table, arms, members),
        _describe_out(table, [one.ruled_out for one in members]),
        tuple(names),
    )


def count_contexts(n: int) -> str:
    """Write how many contexts there are.

    >>> count_contexts(1), count_contexts(1500)
    ('1 context', '1,500 contexts')
    """
    return f"{n:,} context{'s' * (n != 1)}"


def _describe_open(table: BoundTable, arms: tuple[Arm, ...], merit: str) -> str:
    """Name the arm that does best by the rule, or the arms between which nothing decides."""
    if len(arms) == 1:
        return f"{name_arms(table, arms)} {merit}"
    return f"Any of {name_arms(table, arms)}"


def _describe_cost(
    table: BoundTable, arms: tuple[Arm, ...], members: Sequence[ContextChoice]
) -> str:
    """Say what the answer of some contexts may cost: how much less than the best arm earns."""
    if is_known(members[0]):
        return "No arm has a higher mean."
    least, most = (
        write_promise(find(one.single_regret for one in members)) for find in (min, max)
    )
    low, high = table.outcome_range
    if len(arms) > 1 and min(one.single_regret for one in members) >= high - low:
        return "Nothing is known of them: each may be the highest, or the lowest."
    less = most if least == most else f"{least} to {most}"
    who = "each of them" if len(arms) > 1 else "it"
    return f"At worst {who} is {less} below the highest mean."


def _describe_out(table: BoundTable, ruled_out: Sequence[Mapping[Arm, Arm]]) -> str:
    """Say which arms are out in some contexts: surely worse than another one there."""
    everywhere = [arm for arm in table.arms if all(arm in out for out in ruled_out)]
    somewhere = [
        arm
        for arm in table.arms
        if arm not in everywhere and any(arm in out for out in ruled_out)
    ]
    said = [f"Out: {name_arms(table, everywhere)}."] if everywhere else []
    if somewhere:
        said.append(f"Out in some of them: {name_arms(table, somewhere)}.")
    return " ".join(said)
