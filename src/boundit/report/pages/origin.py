"""What made a page: the command, and the versions of what took part."""

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from boundit.report.records import Origin

_PACKAGES = ("duckdb", "highspy", "matplotlib", "narwhals", "numba", "numpy", "scipy")


def describe_origin(command: str, settings: Mapping[str, object] | None = None) -> Origin:
    """Gather what repeats a run: command, settings and versions.

    No date, so that the same run gives the same page.

    >>> describe_origin("boundit reproduce", {"seed": 0}).settings
    {'seed': '0'}
    """
    spelled = {name: str(value) for name, value in (settings or {}).items()}
    return Origin(command, _list_versions(), spelled)


def _list_versions() -> dict[str, str]:
    """List the versions of Python, boundit and what it needs."""
    found = {name: _find_version(name) for name in ("boundit", *_PACKAGES)}
    return {
        "Python": platform.python_version(),
        **{name: number for name, number in found.items() if number},
    }


def _find_version(name: str) -> str:
    """Find the version of an installed package; none of one that runs from its folder."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
