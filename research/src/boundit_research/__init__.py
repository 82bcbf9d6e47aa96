"""The claims, shown: the paper recomputed, our own bounds audited, other methods beside ours."""
