"""Commands for people who decide without a bandit."""
