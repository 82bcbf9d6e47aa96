"""The kinds of data frames that results are given as."""

from typing import Literal, TypeAlias

FrameKind: TypeAlias = Literal["pandas", "polars", "arrow"]
"""Whose frame: that of pandas, of Polars, or a table of Arrow."""
