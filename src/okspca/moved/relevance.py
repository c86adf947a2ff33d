"""Moved to :mod:`okspca.report.input_shares`."""

from okspca.moved import forward

forward(__name__, "okspca.report.input_shares")
