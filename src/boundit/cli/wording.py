"""The library's options as a shell spells them.

Messages and caveats of the library name options as Python writes them, as in ``domain=`` or
``bins={'Age': [...]}``. This is the one list of the forms they use, and how each reads as a
flag. A form with a value is listed only where the library writes one, so that a variable that
is called like an option keeps its name.
"""

import re
from ast import literal_eval
from collections.abc import Callable
from shlex import quote
from typing import TypeAlias

Form: TypeAlias = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


def at_shell(message: str) -> str:
    """Write the options in a message as flags.

    >>> at_shell("cut it with bins={'Age': [...]}, or declare others with domain=")
    'cut it with --bins Age=..., or declare others with --domain'
    >>> at_shell("declare what it can be with reward_range=(low, high): it is not 0/1")
    'declare what it can be with --reward-range LOW HIGH: it is not 0/1'
    """
    for pattern, spelled in _FORMS:
        message = pattern.sub(spelled, message)
    return message


def flag(option: str) -> str:
    """Spell the flag of an option.

    >>> flag("time_limit")
    '--time-limit'
    """
    return f"--{option.replace('_', '-')}"


def _form(pattern: str, spelled: Callable[[re.Match[str]], str]) -> Form:
    return re.compile(rf"(?<![\w'\"-]){pattern}"), spelled


def _alone(found: re.Match[str]) -> str:
    return flag(found[1])


def _with_word(found: re.Match[str]) -> str:
    return f"{flag(found[1])} {found[2]}"


def _with_ends(found: re.Match[str]) -> str:
    low, _, high = found[2].partition(", ")
    return f"{flag(found[1])} {low.upper()} {high.upper()}"


def _with_entries(found: re.Match[str]) -> str:
    try:
        entries = literal_eval(found[2]).items()
    except (AttributeError, SyntaxError, ValueError):
        return found[0]
    return " ".join(f"{flag(found[1])} {quote(f'{k}={_values(of)}')}" for k, of in entries)


def _values(found: object) -> str:
    shown = found if isinstance(found, list | tuple) else [found]
    return ",".join(_value(value) for value in shown)


def _value(found: object) -> str:
    if found is ...:
        return "..."
    return f"{found:g}" if isinstance(found, float) else str(found)


_FORMS = (
    _form(r"(bins|columns)=(\{[^}]*\})", _with_entries),
    _form(r"(bins|columns|domain|external|weight)=(?![\w'\"({\[.-])", _alone),
    _form(r"(reward_range)=\(([^()]*)\)", _with_ends),
    _form(r"(nulls)='(\w+)'", _with_word),
    _form(r"(time_limit)=([\d.]+)", _with_word),
    _form(r"(exact)=True", _alone),
    _form(r"confidence=None", lambda _: "--plug-in"),
    _form(r"(max_condition|reward_range|selection_rate|time_limit)\b(?!=)", _alone),
    _form(r"(sensitivity)(?= (?:say|must))", _alone),
)
