"""What policies learn from rewards: counts of arms, ridge models, and their features."""
