"""Moved to :mod:`okspca.standardize.window`."""

from okspca.moved import forward

forward(__name__, "okspca.standardize.window")
