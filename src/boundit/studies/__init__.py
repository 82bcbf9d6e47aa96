"""The claims, shown: the paper recomputed, and our own bounds audited."""
