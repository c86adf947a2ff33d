"""Pictures of a fitted model: embedding, spectrum, quality over time, relevance of inputs.

Needs matplotlib.  Only its object-oriented interface is used, so nothing global changes.
"""

from okspca.report.pictures.embedding import draw_embedding
from okspca.report.pictures.quality import draw_quality
from okspca.report.pictures.relevance import draw_relevance
from okspca.report.pictures.spectrum import draw_spectrum

__all__ = ["draw_embedding", "draw_quality", "draw_relevance", "draw_spectrum"]
