import subprocess
import sys
from pathlib import Path

import pytest

import boundit
from boundit.core.public_names import attach_names


def test_a_name_is_found_where_the_stub_says(tmp_path: Path) -> None:
    (tmp_path / "__init__.pyi").write_text("from os.path import join as join\n")
    find, list_names, names = attach_names("here", str(tmp_path / "__init__.py"))

    assert find("join")("a", "b") == "a/b"  # type: ignore[operator]
    assert list_names() == names == ["join"]
    assert {"graph", "derive_bounds"} <= set(dir(boundit))
    with pytest.raises(AttributeError, match="module 'here' has no attribute 'split'"):
        find("split")


def test_an_old_name_is_refused_with_the_new_one() -> None:
    with pytest.raises(AttributeError, match=r"'recover'; it is now boundit.identify$"):
        boundit.__getattr__("recover")
    with pytest.raises(AttributeError, match=r"it is now boundit.graph.open_walk$"):
        boundit.__getattr__("open_walk")


def test_importing_the_package_loads_no_numbers() -> None:
    script = "import sys, boundit; boundit.graph.open_walk; print('numpy' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "False"
