"""Draw every error of the package: ``python -m tests.error_tree > docs/errors.md``."""

import importlib
import pkgutil

import click

import boundit
from boundit.core.errors import BounditError

HEAD = """# Errors

With this page you can catch exactly what you mean to. Every error boundit raises is a
`bd.BounditError` with a message of one line: what is wrong, where, what would work. The facts
stay on the error as attributes; `option` names the option of the call that it is about, where
it is about one. The command line prints the line, with options as its flags, and exits with 2.

```text
"""


def write_page() -> str:
    """Write the page."""
    for _, name, _ in pkgutil.walk_packages(boundit.__path__, "boundit."):
        importlib.import_module(name)
    return HEAD + "\n".join(["BounditError", *_list_below(BounditError, "")]) + "\n```\n"


def _list_below(error: type[Exception], lead: str) -> list[str]:
    lines: list[str] = []
    ours = [e for e in error.__subclasses__() if e.__module__.startswith("boundit.")]
    below = sorted(ours, key=lambda e: (e.__name__, e.__module__))
    for i, one in enumerate(below):
        last = i == len(below) - 1
        said = str(one.__doc__).splitlines()[0].rstrip(".")
        lines.append(f"{lead}{'└── ' if last else '├── '}{one.__name__}: {said}")
        lines += _list_below(one, lead + ("    " if last else "│   "))
    return lines


if __name__ == "__main__":
    click.echo(write_page(), nl=False)
