"""The surface in numbers: few commands and flags, and one meaning for each flag."""

from collections import defaultdict
from collections.abc import Iterator

import click
import pytest

from boundit.bounds.options import OPTIONS, name_flag
from boundit.cli.main import _COMMANDS, _FLAGS, app

COMMANDS, FLAGS = 26, 110
SEVERAL = {
    "--external": "identify names variables, others files",
    "--out": "what is saved differs",
    "--port": "the same for two servers",
    "--goal": "a policy inherits it",
    "--seed": "of a policy",
    "--set": "fields of a policy, and of a server",
}
"""Flags with more than one help text, and why."""


def list_commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from list_commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


ALL = dict(list_commands(app))


def list_flags() -> dict[str, set[tuple[str, str]]]:
    found = defaultdict[str, set[tuple[str, str]]](set)
    for command in ALL.values():
        for option in command.params:
            if isinstance(option, click.Option):
                text = (str(option.help), str(option.default))
                found[max(option.opts, key=len)].add(text)
    return found


def test_commands_and_flags_are_few() -> None:
    keys = [name for name in ALL if name.startswith("keys ")]
    assert len(ALL) - len(keys) + 1 <= COMMANDS
    assert len(list_flags()) + 2 <= FLAGS  # --help and --version


def test_a_flag_has_one_meaning() -> None:
    several = {flag for flag, texts in list_flags().items() if len(texts) > 1}

    assert several <= SEVERAL.keys()


@pytest.mark.parametrize("name", ALL)
def test_help_says_what_each_flag_does_in_a_line(name: str) -> None:
    command = ALL[name]

    assert command.help
    assert command.get_short_help_str(100)
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name
            assert len(option.help) < 200, option.name


def test_every_option_of_the_library_is_a_flag_of_bound() -> None:
    found = {opt for param in ALL["bound"].params for opt in param.opts}

    assert {name_flag(name) for name, of in OPTIONS.items() if of.flag} <= found


def test_help_groups_flags() -> None:
    context = click.Context(app.commands["bound"], info_name="bound")
    text = app.commands["bound"].get_help(context)
    titles = ["Options", "Data", "Sources", "Assumptions", "Inference", "Run", "Output"]
    places = [text.index(f"\n{title}:\n") for title in titles]

    assert places == sorted(places)
    assert places[-1] < text.index("  --json")
    assert places[1] < text.index("  --weight COLUMN") < places[2]


@pytest.mark.parametrize("old", _FLAGS)
def test_an_old_flag_names_one_that_is_there(old: str) -> None:
    later = {"--of", "--than", "--by", "--in", "--new", "--old", "--contexts", "--data"}
    if old not in later | {"--decisions"}:
        assert _FLAGS[old].split()[0] in list_flags()


def test_an_old_command_names_a_new_one() -> None:
    assert set(_COMMANDS) == {"breakdown", "decide", "recover", "replay"}
