"""Build the tables from aggregates, alone and beside the paper's; `build` writes them as LaTeX."""
