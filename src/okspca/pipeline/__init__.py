"""The path of one observation, from a row to the state that answers are computed from."""

from okspca.pipeline.path import CHUNK_ROWS, Embedding, Pipeline

__all__ = ["CHUNK_ROWS", "Embedding", "Pipeline"]
