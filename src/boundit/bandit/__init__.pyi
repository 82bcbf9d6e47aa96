"""The public names of ``boundit.bandit`` beside those of ``boundit`` itself."""

from boundit.bandit.ids import IdStore as IdStore

__all__: list[str]
