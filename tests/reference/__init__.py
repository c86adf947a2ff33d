"""Plain restatement of the published equations, used only to check the package."""
