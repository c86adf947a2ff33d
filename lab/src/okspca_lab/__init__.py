"""The laboratory of okspca: the paper's studies, measurements of speed, and ordeals."""

__version__ = "0.1.0"
