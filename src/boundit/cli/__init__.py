"""The same use cases from a shell: parse, call one function, print, exit."""
