"""The command ``boundit``: its one error handler and its exit codes.

0 done or yes, 1 no, 2 invalid input, 3 internal error, 130 interrupted.
"""

import os
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any

import click

from boundit import __version__
from boundit.cli.bound import bound, effect
from boundit.cli.decisions import choose, compare, sensitivity, stress, suggest
from boundit.cli.graph import check, graph, identify
from boundit.cli.init import init
from boundit.cli.options import INTERRUPTED
from boundit.cli.outputs import notify, write_with_flags
from boundit.cli.service.keys import keys
from boundit.cli.service.policies import policies
from boundit.cli.service.serve import serve
from boundit.cli.simulate import simulate
from boundit.cli.studio import studio
from boundit.core.errors import BounditError, BounditWarning

INVALID, INTERNAL = 2, 3
ADDED = "boundit.commands"
"""The group of entry points by which an installed package adds a command."""
_COMMANDS: Mapping[str, str] = {
    "breakdown": "sensitivity",
    "decide": "choose",
    "recover": "identify",
    "replay": "policies show --verify",
}
_FLAGS: Mapping[str, str] = {
    "--by": "--at-least",
    "--confounding": "--confounding-limit",
    "--contexts": "--shares",
    "--data": "--store",
    "--decisions": "--verify",
    "--delay": "--feedback",
    "--external-weight": "--weight",
    "--in": "--context",
    "--log-points": "--log-size",
    "--new": "--policy",
    "--nulls": "--missing",
    "--of": "--limit",
    "--old": "--baseline",
    "--plug-in": "--confidence none",
    "--reward-range": "--outcome-range",
    "--sensitivity": "--selection-limit",
    "--than": "--baseline",
    "--world": "--environment",
}
"""Commands and flags of 0.2.0 that have another name now."""


class _Commands(click.Group):
    """Our commands, and those that installed packages add, which are loaded when asked for."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give a command of ours, or else load the one of that name that a package adds."""
        own = super().get_command(ctx, cmd_name)
        return own or next((p.load() for p in entry_points(group=ADDED, name=cmd_name)), None)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is asked for; an old name is refused with the new one."""
        if args and args[0] in _COMMANDS and args[0] not in self.commands:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {_COMMANDS[args[0]]!r}?")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002, as click calls it
        """List our commands in the order in which they are used, not by letters."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what the library refuses names options as flags."""
        try:
            with warnings.catch_warnings():  # critical caveats are printed first
                warnings.simplefilter("ignore", BounditWarning)
                return super().invoke(ctx)
        except BounditError as error:
            raise click.ClickException(write_with_flags(error.message)) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List our commands with what they do, and below them the names of those added."""
        super().format_commands(ctx, formatter)
        if added := sorted(entry_points(group=ADDED).names):
            with formatter.section("Added by installed packages"):
                formatter.write_text(", ".join(added))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@click.version_option(__version__, message="boundit %(version)s")
def app() -> None:
    """Bounds on treatment effects, from a causal graph and a confounded or selected log.

    GRAPH is a file (own text format, DOT, DAGitty, GML or JSON), '-' for standard input, or the
    text itself, as in 'X -> Y; X <-> Y; Y -> [S]'. QUERY is 'OUTCOME | do(TREATMENT), CONTEXT'.
    LOG is a CSV, Parquet, JSON lines or Arrow file, a pattern or a folder.

    To begin: 'boundit init', then the commands it prints.

    \b
    Exit codes: 0 done or yes, 1 no, 2 invalid input, 3 internal error, 130 interrupted.
    """


for _command in (
    *(
        init,
        graph,
        identify,
        check,
        effect,
        bound,
        choose,
        compare,
        sensitivity,
        stress,
        suggest,
    ),
    *(simulate, studio, serve, keys, policies),
):
    app.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; whatever goes wrong becomes one line and a code."""
    sys.exit(_run_command(arguments))


def _run_command(arguments: Sequence[str] | None) -> int:
    """Run a command and choose the exit code; errors are printed in one line."""
    try:
        answer = app.main(arguments, prog_name="boundit", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and (new := _FLAGS.get(error.option_name)):
            return _print_refusal(
                f"No such option {error.option_name!r}. Did you mean {new!r}?"
            )
        return _print_refusal(error.format_message())
    except BounditError as error:
        return _print_refusal(write_with_flags(error.message))
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):
        # The reader (head, less) has seen enough: click leaves by SystemExit(1), which would
        # read as "no". Keep Python from flushing into the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except Exception:  # noqa: BLE001, anything else is a bug and is shown whole
        traceback.print_exc()
        notify("error", "This is a bug in boundit. Please report the lines above.")
        return INTERNAL
    return answer if isinstance(answer, int) else 0


def _print_refusal(message: str) -> int:
    """Print in one line what is wrong with the input, and give the exit code for it."""
    notify("error", " ".join(message.split()))
    return INVALID
