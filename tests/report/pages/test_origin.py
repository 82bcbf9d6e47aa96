import platform
from importlib.metadata import version

from boundit.report.pages.origin import describe_origin


def test_command_settings_and_versions_are_kept() -> None:
    made = describe_origin("boundit bound g.txt q log.csv", {"seed": 0})

    assert made.command == "boundit bound g.txt q log.csv"
    assert made.settings == {"seed": "0"}
    assert made.versions["boundit"] == version("boundit")
    assert made.versions["Python"] == platform.python_version()
    assert "numpy" in made.versions


def test_the_same_run_has_the_same_origin() -> None:
    assert describe_origin("x") == describe_origin("x")
