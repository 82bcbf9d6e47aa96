"""What was logged? A law of the logged rows and a formula in; the formula's numbers out."""
