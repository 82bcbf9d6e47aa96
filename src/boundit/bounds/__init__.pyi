"""The public names of ``boundit.bounds`` beside those of ``boundit`` itself."""

from boundit.bounds.baselines import adjust_for_confounding_only as adjust_for_confounding_only
from boundit.bounds.baselines import condition_only as condition_only

__all__: list[str]
