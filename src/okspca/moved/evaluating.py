"""Moved to :mod:`okspca.files.evaluating`."""

from okspca.moved import forward

forward(__name__, "okspca.files.evaluating")
