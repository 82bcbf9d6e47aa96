"""Compiled code is kept and loaded where nobody else may write."""

import os
from pathlib import Path

import click
import pytest

import boundit
from boundit.cli.service import kernels
from boundit.cli.service.kernels import is_private, require_private, set_kernel_folder


@pytest.fixture(autouse=True)
def variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")


def test_the_package_s_own_folder_is_used_where_it_is_ours_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "boundit"
    (package / "bandit").mkdir(parents=True, mode=0o755)
    (package / "bandit").chmod(0o755)
    package.chmod(0o755)
    monkeypatch.setattr(boundit, "__file__", str(package / "__init__.py"))
    set_kernel_folder(tmp_path / "shop")
    assert os.environ["NUMBA_CACHE_DIR"] == ""

    (package / "bandit").chmod(0o775)
    set_kernel_folder(tmp_path / "shop")
    made = tmp_path / "shop" / "kernels"
    assert os.environ["NUMBA_CACHE_DIR"] == str(made)
    assert made.stat().st_mode & 0o777 == 0o700


def test_without_a_folder_of_events_it_is_the_user_s_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kernels, "_is_package_private", lambda: False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    set_kernel_folder(None)

    assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path / "boundit" / "kernels")
    assert is_private(tmp_path / "boundit" / "kernels")


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_may_write_to_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: int
) -> None:
    tmp_path.chmod(mode)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))

    with pytest.raises(click.UsageError, match="chmod 700"):
        set_kernel_folder(None)
    assert not is_private(tmp_path)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(click.UsageError, match="cannot make"):
        require_private(tmp_path / "file" / "kernels")
