"""The stand-in is run as a process of its own; importing it needs a web server."""

collect_ignore = ["stand_in.py"]
