"""The paper recomputed: its example, its offline table, its claims."""
