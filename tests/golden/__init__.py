"""Files in every format that is saved, as they were first written: each stays readable."""
