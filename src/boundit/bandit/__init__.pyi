"""The public names of ``boundit.bandit`` beside those of ``boundit`` itself."""

from boundit.bandit.learned_ids import IdStore as IdStore
from boundit.bandit.theory import count_ruled_out as count_ruled_out

__all__: list[str]
