"""The command `okspca`: one module per command, registered in :mod:`okspca.cli.main`.

Heavy modules are imported when a command runs, so that help and version come at once.
"""

from okspca.cli.main import app

__all__ = ["app"]
