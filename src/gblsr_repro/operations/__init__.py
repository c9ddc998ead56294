"""A run as a whole: its cost before, what is left meanwhile, what it has made."""
