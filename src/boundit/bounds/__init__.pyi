"""The public names of ``boundit.bounds`` beside those of ``boundit`` itself."""

from boundit.bounds.paper import adjust_for_confounding_only as adjust_for_confounding_only
from boundit.bounds.paper import condition_only as condition_only

__all__: list[str]
