"""A run as a whole: its cost before, what is left meanwhile, its part on a lent machine."""
