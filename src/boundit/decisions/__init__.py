"""Which arm to use where, and what would overturn it: bounds and logs in; answers out."""
