"""Moved to :mod:`okspca_lab.ordeals.killing`."""

from okspca.moved import forward

forward(__name__, "okspca_lab.ordeals.killing")
