"""What was logged? Logged rows and a formula in; the formula's numbers out."""
