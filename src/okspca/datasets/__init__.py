"""Streams to try things on: generators and real data, one per file."""

from okspca.datasets.covtype import load_covtype
from okspca.datasets.electricity import load_electricity
from okspca.datasets.fashion_mnist import load_fashion_mnist
from okspca.datasets.files import DataFileError
from okspca.datasets.friedman import friedman
from okspca.datasets.har import load_har
from okspca.datasets.kin8nm import load_kin8nm
from okspca.datasets.response_surface import response_surface
from okspca.datasets.sectors import sectors
from okspca.datasets.sensorless import load_sensorless
from okspca.datasets.spherical import spherical_pairs
from okspca.datasets.spirals import spirals
from okspca.datasets.xor_gauss import xor_gauss

__all__ = [
    "DataFileError",
    "friedman",
    "load_covtype",
    "load_electricity",
    "load_fashion_mnist",
    "load_har",
    "load_kin8nm",
    "load_sensorless",
    "response_surface",
    "sectors",
    "spherical_pairs",
    "spirals",
    "xor_gauss",
]
