"""``boundit completion``: what a shell needs to complete our commands."""

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print what a shell needs to complete commands.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the lines that make SHELL complete boundit's commands and options.

    \b
    Examples:
      eval "$(boundit completion bash)"        # in ~/.bashrc
      boundit completion fish > ~/.config/fish/completions/boundit.fish
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.BadParameter(f"there is no completion for {shell}")
    script = found(context.find_root().command, {}, "boundit", "_BOUNDIT_COMPLETE")
    click.echo(script.source_template % script.source_vars())
