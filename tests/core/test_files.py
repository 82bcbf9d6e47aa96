import os
from pathlib import Path

import pytest

from boundit.core.errors import CannotWrite
from boundit.core.files import write_page, write_whole


def test_a_page_is_written_as_it_is(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", "<p>é\n")

    assert (tmp_path / "page.html").read_bytes() == "<p>é\n".encode()
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(("where", "what"), [(os, "fsync"), (Path, "replace")])
def test_a_crash_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: object, what: str
) -> None:
    target = tmp_path / "page.html"
    target.write_text("old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(where, what, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(target, b"new")

    assert target.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_place_that_takes_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match=r"cannot write .*nowhere"):
        write_page(tmp_path / "nowhere" / "page.html", "")


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(CannotWrite, match="cannot write"):
        write_page(tmp_path / "file" / "page.html", "")
