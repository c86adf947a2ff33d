"""Moved to :mod:`okspca.files.fitting`."""

from okspca.moved import forward

forward(__name__, "okspca.files.fitting")
