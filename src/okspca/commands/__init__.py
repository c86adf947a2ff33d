"""The commands that work on files: one per module, registered in :mod:`okspca.cli`.

Heavy modules are imported when a command runs, so that help and version come at once.
"""
