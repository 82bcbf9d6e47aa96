"""A world to try it in: discrete models that are sampled, selected, and answered exactly."""
