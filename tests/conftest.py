"""One Hypothesis profile: the same examples on every machine, none refused for being slow."""

from hypothesis import settings

settings.register_profile("boundit", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("boundit")
