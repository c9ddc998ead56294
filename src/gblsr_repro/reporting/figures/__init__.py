"""The paper's figures: how they are drawn, what each needs and what its caption says."""
