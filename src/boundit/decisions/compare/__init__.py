"""Whether one policy surely earns more than another, from bounds, logs and measurements."""
