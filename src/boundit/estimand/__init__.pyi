"""The public names of ``boundit.estimand`` beside those of ``boundit`` itself."""

from boundit.estimand.criteria.exchange import exchanges as exchanges
from boundit.estimand.criteria.substitutes import find_substitutes as find_substitutes

__all__: list[str]
