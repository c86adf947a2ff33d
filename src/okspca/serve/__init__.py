"""A model behind HTTP: it learns what arrives, answers, and shows how it is doing."""
