"""The reference has every public name and every command, in Markdown."""

import importlib
import inspect
import re
from typing import Any

import click
import pytest
from tools.reference import (
    convert_to_markdown,
    list_public_names,
    write_cli_page,
    write_http_page,
    write_python_page,
)

import boundit
from boundit.cli.main import app
from boundit.service.http.openapi import write_document


def test_every_public_name_has_an_entry_with_words() -> None:
    page = re.sub(r"```.*?```", "", write_python_page(), flags=re.DOTALL)
    entry = re.compile(r"^### `([\w.]+)`\n(.*?)(?=^##+ |\Z)", re.DOTALL | re.MULTILINE)
    entries = dict(entry.findall(page))

    assert sorted(entries) == sorted(list_public_names())
    assert set(boundit.__all__) < set(entries)
    assert "graph.minimal_separator" in entries
    assert [name for name, words in entries.items() if len(words.split()) < 4] == []


def list_functions() -> dict[str, Any]:
    """Every public function, by its name in the reference."""
    packages = ("", "graph", "estimand", "decisions", "bandit", "simulation")
    found = dict[str, Any]()
    for package in packages:
        module = importlib.import_module(f"boundit.{package}".rstrip("."))
        for name in module.__all__:
            if inspect.isfunction(of := getattr(module, name)):
                found[f"{package}.{name}".lstrip(".")] = of
    return found


@pytest.mark.parametrize("name", list_functions())
def test_every_parameter_has_an_entry(name: str) -> None:
    function = list_functions()[name]
    entries = re.findall(
        r"^(\w[\w, ]*)(?: :.*)?\n    ", inspect.getdoc(function) or "", flags=re.MULTILINE
    )
    named = {part.strip() for entry in entries for part in entry.split(",")}

    assert set(inspect.signature(function).parameters) <= named


def test_every_operation_has_an_entry_with_its_parameters() -> None:
    page, document = write_http_page(), write_document("1")
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            entry = page.partition(f"## `{method.upper()} {path}`\n")[2].partition("\n## ")[0]
            assert operation["operationId"] in entry
            assert all(f"- `{of['name']}`" in entry for of in operation["parameters"])


def test_no_address_of_the_machine_is_shown() -> None:
    assert " at 0x" not in write_python_page()


def test_code_and_examples_become_markdown() -> None:
    page = convert_to_markdown(
        "Add ``a``.\n\n>>> 1\n1\n\nParameters\n----------\na\n    A ``b``.\n"
    )

    assert page == (
        "Add `a`.\n\n```python\n>>> 1\n1\n```\n\n**Parameters**\n\n- `a`:\n  A `b`.\n"
    )


def test_every_command_is_there_as_help_prints_it() -> None:
    page = write_cli_page()
    for name, command in app.commands.items():
        assert f"## `boundit {name}`" in page
        if isinstance(command, click.Group):
            assert all(f"### `boundit {name} {inner}`" in page for inner in command.commands)
