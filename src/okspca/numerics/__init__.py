"""Numerical building blocks: arrays in, arrays out, no knowledge of streams or models."""
