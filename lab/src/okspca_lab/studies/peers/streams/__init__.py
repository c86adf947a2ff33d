"""Rows that come one after the other and change: ours beside what river offers."""
