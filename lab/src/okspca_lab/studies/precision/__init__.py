"""What features in single precision do to the scores of the six tasks (not in the paper)."""
