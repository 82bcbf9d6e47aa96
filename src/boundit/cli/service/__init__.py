"""Commands of the service: serve it, make policies and keys, and prove what it did."""
