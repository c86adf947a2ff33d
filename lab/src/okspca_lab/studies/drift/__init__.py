"""Signal directions that move: how soon services with forgetting or a window follow."""
