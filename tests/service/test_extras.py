import subprocess
import sys

import pytest

from boundit.core.errors import MissingExtra
from boundit.service.extras import name_extra


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("Decide", "msgspec", "service"),
        ("SqliteStore", "msgspec", "service"),
        ("PostgresStore", "psycopg", "postgres"),
    ],
)
def test_a_public_name_says_which_extra_it_needs(name: str, package: str, extra: str) -> None:
    """As after ``pip install boundit``, in a process of its own."""
    script = (
        f"import sys; sys.modules[{package!r}] = None\n"
        f"import boundit as bd\n"
        f"try:\n    bd.service.{name}\n"
        f"except bd.BounditError as error:\n    print(type(error).__name__, error)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert ran.stdout == (
        f"MissingExtra this needs {package}; install it with: pip install 'boundit[{extra}]'\n"
    )


def test_a_package_that_is_in_no_extra_of_ours_stays_the_error_it_was() -> None:
    found = ImportError("no such name", name="boundit.service.nothing")

    assert name_extra(found) is found
    assert isinstance(name_extra(ImportError(name="starlette.routing")), MissingExtra)
