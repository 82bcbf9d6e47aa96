"""A store is named once."""

from pathlib import Path

import click
import pytest

from boundit.cli.service.stores import open_store, run_engine


def test_a_folder_is_made(tmp_path: Path) -> None:
    with run_engine(tmp_path / "new", None) as engine:
        assert engine.list_policies() == []
    assert (tmp_path / "new").is_dir()


def test_one_of_both_is_needed() -> None:
    with pytest.raises(click.UsageError, match="--data DIR, or --store URL"):
        open_store(None, None)
