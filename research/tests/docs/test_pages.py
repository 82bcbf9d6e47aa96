import shlex

import click

from boundit.cli.main import app
from tests.docs.pages import ROOT, read_blocks
from tests.docs.test_links import find_broken

PAGES = sorted((ROOT / "research").rglob("*.md"))


def test_every_link_of_our_pages_leads_somewhere() -> None:
    assert {page.name: found for page in PAGES if (found := find_broken(page))} == {}


def test_commands_of_our_pages_make_sense() -> None:
    blocks = [block for page in PAGES for block in read_blocks(page) if block.language == "sh"]
    lines = [line for block in blocks for line in block.text.replace("\\\n", "").splitlines()]
    for program, name, *arguments in (shlex.split(line, comments=True) for line in lines):
        command = app.get_command(click.Context(app), name)
        assert program == "boundit"
        assert command is not None, name
        command.make_context(name, arguments)

    assert lines
