"""How near are delivered, exact and population subspace: the paper's population study, and more."""
