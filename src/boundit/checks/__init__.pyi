"""The public names of ``boundit.checks``."""

from boundit.checks.report import CheckReport as CheckReport

__all__: list[str]
