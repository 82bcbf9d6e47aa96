"""The public names of ``boundit.estimand`` beside those of ``boundit`` itself."""

from boundit.estimand.criteria.exchange import exchanges as exchanges
from boundit.estimand.criteria.substitutes import find_substitutes as find_substitutes
from boundit.estimand.recovery.derivation import Identification as Identification

__all__: list[str]
