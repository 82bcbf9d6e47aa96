"""The public names of ``boundit.counts``."""

from boundit.counts.log import Log as Log

__all__: list[str]
