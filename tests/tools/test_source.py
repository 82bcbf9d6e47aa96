"""What is read off the source of a package: functions, callers, and what nothing leads to."""

from pathlib import Path

import pytest
from tools.house.source import Source
from tools.house.strangers import draw_functions, write_answers, write_cards

CODE = {
    "a.py": '''
def start():
    """Begin. Called by ``nobody``."""
    from boundit.b import step
    return step() + Thing().size

def forgotten():
    return left_out()

def left_out():
    """Come last; called by ``forgotten``."""

class Thing:
    @property
    def size(self):
        """How large it is. Read by ``start``."""
        return 1
''',
    "b.py": '''
def step():
    """Go one step.

    Called by ``start`` once.
    """
    def inner():
        pass
    return inner()
''',
}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    for name, text in CODE.items():
        (tmp_path / name).write_text(text)
    return Source(tmp_path)


def test_functions_are_found_with_what_they_say(source: Source) -> None:
    found = {each.qualname: each for each in source.functions}

    assert set(found) == {"start", "forgotten", "left_out", "Thing.size", "step"}
    assert found["step"].summary == "Go one step"
    assert found["step"].callers == ("start",)
    assert source.classes == [("a.py", "Thing")]


def test_a_caller_that_does_not_call_is_reported(source: Source) -> None:
    assert list(source.list_false_callers()) == ["a.py start: not called by nobody"]


def test_what_only_the_unreached_call_is_unreached(source: Source) -> None:
    found = source.list_unreached(lambda each: each.name == "start")

    assert found == ["a.py::forgotten", "a.py::left_out"]


def test_a_stranger_sees_path_name_and_docstring_alone(source: Source) -> None:
    drawn = draw_functions(source, seed=1, count=5)
    cards = write_cards(drawn)

    assert draw_functions(source, seed=1, count=5) == drawn
    assert "b.py  step\n\n    Go one step.\n\n    Called by ``start`` once." in cards
    assert "def " not in cards
    assert "step: a.py::start" in write_answers(drawn, source)


def test_a_forwarded_function_is_called_by_who_asks_for_it(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text('forward("show", "boundit.late")')
    (tmp_path / "late.py").write_text('def show():\n    """Called by ``Early.look``."""\n')
    (tmp_path / "early.py").write_text(
        'class Early:\n    def look(self):\n        return find_forwarded("show")(self)\n'
    )
    source = Source(tmp_path)

    assert list(source.list_false_callers()) == []
    assert source.list_unreached(lambda each: each.name == "look") == []
