"""What a test does where a program is missing that ``.ci/run`` installs."""

import os
import shutil
from typing import NoReturn

import pytest


def leave_out(reason: str) -> NoReturn:
    """Skip a test for a reason; under continuous integration, which may not skip it, fail."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


def need_java() -> None:
    """Leave out what runs on Spark where there is no Java."""
    if shutil.which("java") is None:
        leave_out("no Java on this machine for Spark; .ci/run installs it")
