"""Options that several commands share mean the same in each, and refuse the same."""

from collections.abc import Iterator

import click
import pytest

from boundit.cli.bound import bound
from boundit.cli.decisions.choose import choose
from boundit.cli.decisions.compare import compare
from boundit.cli.decisions.sensitivity import sensitivity
from boundit.cli.decisions.stress import stress
from boundit.cli.decisions.suggest import suggest
from tests.cli.test_bound import GRAPH, QUERY, answer
from tests.cli.test_bound import log as log

COMMANDS = (bound, sensitivity, choose, compare, stress, suggest)
# Another sentence is meant: a chance of what stands beside bounds.
OWN = {("compare", "--confidence")}
SHARED = [
    "--external",
    "--outcome-range",
    "--selection-rate",
    "--selection-limit",
    "--confounding-limit",
    "--confidence",
    "--inference",
    "--plug-in",
]


def list_options(flag: str) -> Iterator[click.Option]:
    for command in COMMANDS:
        for option in command.params:
            own = (command.name, flag) in OWN
            if isinstance(option, click.Option) and flag in option.opts and not own:
                yield option


@pytest.mark.parametrize("flag", SHARED)
def test_a_shared_option_says_the_same_everywhere(flag: str) -> None:
    found = list(list_options(flag))

    assert len(found) > 1
    assert len({(option.help, option.metavar, str(option.default)) for option in found}) == 1


@pytest.mark.parametrize("command", ["bound", "sensitivity", "choose", "stress", "suggest"])
@pytest.mark.parametrize("flag", [("--inference", "approximate"), ("--confidence", "0.9")])
def test_plug_in_is_refused_beside_what_allows_for_sampling_error(
    command: str, flag: tuple[str, str], log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    of = ("--limit", "selection") if command == "sensitivity" else ()
    code, _, err = answer(capsys, command, GRAPH, QUERY, log, *of, "--plug-in", *flag)

    assert (code, err) == (
        2,
        f"error: --plug-in neglects sampling error; leave out {flag[0]}\n",
    )
