"""Past the paper: other targets and input metrics at the same width and rank.

Same seeds, splits, random features, ranks and probes as the rest of the study.  Every ingredient is
added to the paper's target (solved exactly) alone, and then all of them together.  One setting
serves all six tasks; it was chosen on development data.
"""
