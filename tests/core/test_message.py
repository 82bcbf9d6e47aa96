"""Messages keep options as values: Python spells them by default, others as they like."""

import copy
import pickle

from boundit.core.errors import BounditError
from boundit.core.message import ANY, SOME, Message, Option, Placeholder


def test_python_writes_options_with_their_values() -> None:
    shown = {
        Option("time_limit"): "time_limit",
        Option("domain", ANY): "domain=",
        Option("missing", "drop"): "missing='drop'",
        Option("confidence", None): "confidence=None",
        Option("outcome_range", (Placeholder("low"), 2.5)): "outcome_range=(low, 2.5)",
    }

    assert [str(option) for option in shown] == list(shown.values())
    assert str(Option("columns", {"a b": SOME})) == "columns={'a b': ...}"
    assert str(Option("bins", {"Age": [SOME]})) == "bins={'Age': [...]}"


def test_messages_within_messages_are_one_message() -> None:
    inner = Message("declare them with ", Option("domain", ANY))
    outer = Message("rare; ", inner, ".")

    assert outer == Message("rare; ", "declare them with ", Option("domain", ANY), ".")
    assert outer.render(lambda option: option.name.upper()) == "rare; declare them with DOMAIN."
    assert len({outer, Message(*outer.parts), inner}) == 2
    assert outer != str(outer)
    assert "Option(name='domain'" in repr(outer)


def test_an_error_is_about_the_option_it_names_first_unless_told() -> None:
    named = BounditError("cut it with ", Option("bins", ANY), " or ", Option("domain", ANY))

    assert (str(named), named.option) == ("cut it with bins= or domain=", "bins")
    assert BounditError("weight 'n' is odd", option="weight").option == "weight"
    assert BounditError("no option at all").option is None
    assert BounditError("text").args == ("text",)


def test_errors_are_copied_with_their_message() -> None:
    error = BounditError("cut it with ", Option("bins", {"Age": [SOME]}), Option("domain"))

    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(twin), twin.message, twin.option) == (str(error), error.message, "bins")
        assert str(twin.message) == str(error)
