"""What the page asks the library: each answer is a function of a project and its folder."""
