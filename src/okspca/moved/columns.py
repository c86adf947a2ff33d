"""Moved to :mod:`okspca.files.columns`."""

from okspca.moved import forward

forward(__name__, "okspca.files.columns")
