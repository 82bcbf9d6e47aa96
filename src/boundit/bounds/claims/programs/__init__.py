"""Claims on rules that end in response-type programs."""
