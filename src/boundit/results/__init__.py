"""What the bounds say: the table, effects, explanations, choices and the plan of pooling."""
