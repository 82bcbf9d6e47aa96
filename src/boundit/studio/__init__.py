"""How does a person draw, ask and see why? A page in the browser, served to this machine."""
