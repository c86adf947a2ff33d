"""The path of one observation, from a row to the state that answers are computed from."""

from okspca.pipeline.answers import Embedding
from okspca.pipeline.path import Pipeline
from okspca.pipeline.schedule import CHUNK_ROWS
from okspca.pipeline.state import PipelineState

__all__ = ["CHUNK_ROWS", "Embedding", "Pipeline", "PipelineState"]
