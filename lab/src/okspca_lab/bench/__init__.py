"""How fast and how good: okspca beside the paper's services and other libraries, in one process.

Only ratios from one run mean anything; absolute times belong to the machine they were taken on.
"""
