"""Moved to :mod:`okspca.files.readers`."""

from okspca.moved import forward

forward(__name__, "okspca.files.readers")
