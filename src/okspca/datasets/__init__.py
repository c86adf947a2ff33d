"""Streams to try things on: generators and real data, one per file."""

from okspca.datasets.response_surface import response_surface
from okspca.datasets.sectors import sectors
from okspca.datasets.spherical import spherical_pairs

__all__ = ["response_surface", "sectors", "spherical_pairs"]
