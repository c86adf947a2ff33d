"""Ordeals: what is done to okspca on purpose that should never happen to it."""
