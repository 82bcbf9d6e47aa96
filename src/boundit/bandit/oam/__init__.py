"""Optimal allocation matching (Algorithm 5): the policy, its rounds and its program."""
