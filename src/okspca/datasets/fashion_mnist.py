"""Fashion-MNIST: ten kinds of clothing in grey pictures of 28 x 28 points.

From Zalando Research (H. Xiao, K. Rasul, R. Vollgraf, 2017; MIT licence): 60,000 pictures to learn
from and 10,000 to test on, in the IDX format: a number of dimensions, their sizes, then bytes.
"""

import gzip
import struct

import numpy as np
from numpy.typing import NDArray

from okspca.datasets.files import DataFile, find

SITE = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
_ADVICE = (
    "It is a file of Fashion-MNIST (github.com/zalandoresearch/fashion-mnist, or the Debian "
    "package dataset-fashion-mnist), in a folder 'fashion-mnist'."
)


def _file(name: str, sha256: str) -> DataFile:
    """Describe a file by what is inside: packages compress the same pictures differently."""
    place = f"fashion-mnist/{name}-ubyte.gz"
    return DataFile(place, sha256, _ADVICE, url=f"{SITE}/{name}-ubyte.gz", digest_inside=True)


FILES = {
    "train": (
        _file(
            "train-images-idx3", "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"
        ),
        _file(
            "train-labels-idx1", "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"
        ),
    ),
    "test": (
        _file(
            "t10k-images-idx3", "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"
        ),
        _file(
            "t10k-labels-idx1", "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"
        ),
    ),
}


def load_fashion_mnist(
    part: str = "train", *, download: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Load X (n x 784, brightness from 0 to 1) and y (classes 0 to 9), in the published order.

    Parameters
    ----------
    part : {"train", "test"}
        60,000 pictures, or the 10,000 of the official test.
    download : bool
        Whether the network may be used.

    Raises
    ------
    DataFileError
        A file is not there, with what to do.
    ValueError
        There is no such part.
    """
    if part not in FILES:
        message = f"part={part!r} is not known; choose 'train' or 'test'."
        raise ValueError(message)
    images, labels = (_read(find(file, download=download)[1].read_bytes()) for file in FILES[part])
    return images.reshape(len(images), -1) / 255.0, labels.astype(np.int64)


def _read(contents: bytes) -> NDArray[np.uint8]:
    """Read an IDX file of bytes."""
    inside = gzip.decompress(contents)
    n_dimensions = inside[3]
    shape = struct.unpack_from(f">{n_dimensions}I", inside, 4)
    return np.frombuffer(inside, np.uint8, offset=4 + 4 * n_dimensions).reshape(shape)
