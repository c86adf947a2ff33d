"""Run the command line with ``python -m okspca``."""

from okspca.cli import app

if __name__ == "__main__":
    app()
