"""The contracts: one property per test, over every implementation it applies to."""
