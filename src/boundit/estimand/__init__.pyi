"""The public names of ``boundit.estimand`` beside those of ``boundit`` itself."""

from boundit.estimand.derivation import Identification as Identification
from boundit.estimand.query import EffectQuery as EffectQuery
from boundit.estimand.substitutes import exchanges as exchanges
from boundit.estimand.substitutes import find_substitutes as find_substitutes

__all__: list[str]
