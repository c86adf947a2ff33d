"""What the paper's studies share, beside a folder for each; :mod:`.runner` says what is in one."""
