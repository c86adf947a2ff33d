"""Is it better than what I use? Our embedding and heads beside the methods that people know."""
