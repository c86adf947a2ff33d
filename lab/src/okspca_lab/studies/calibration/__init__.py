"""Probabilities of the classifier: how often guesses are right, and how much is told by them."""
