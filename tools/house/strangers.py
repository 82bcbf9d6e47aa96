"""Functions drawn at random, for a stranger to judge by path, name and docstring alone.

``python -m tools.house strangers --seed 1`` draws fifteen functions of the package. Somebody
who has not seen the code says of each what it is for, which room it serves and who calls it.
``--answers`` prints who really mentions it, for the one who grades: an answer is right if it
names one of them, or their class or file, and says the rest as the code does.
"""

from random import Random

from tools.house.source import Function, Source


def draw_functions(source: Source, seed: int, count: int) -> list[Function]:
    """Draw functions, special methods apart; a seed draws the same from the same code."""
    known = sorted(
        (each for each in source.functions if not each.name.startswith("__")),
        key=lambda each: (each.path, each.qualname),
    )
    return Random(seed).sample(known, count)


def write_cards(functions: list[Function]) -> str:
    """Write what a stranger is shown."""
    cards = [
        f"{i}. {each.path}  {each.qualname}\n\n{_indent(each.docstring or '(no docstring)')}"
        for i, each in enumerate(functions, start=1)
    ]
    return "\n\n".join(cards)


def write_answers(functions: list[Function], source: Source) -> str:
    """Write who mentions each function, for grading."""
    return "\n".join(
        f"{i}. {each.qualname}: {', '.join(source.list_callers(each)) or 'nobody'}"
        for i, each in enumerate(functions, start=1)
    )


def _indent(text: str) -> str:
    """Set a docstring in; called by ``write_cards``."""
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
