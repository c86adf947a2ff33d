"""Streams in files: reading them, fitting a model to them, and embedding their rows."""
