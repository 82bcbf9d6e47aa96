"""What can be known exactly? A graph and a query in; a formula, or why there is none, out."""
