"""Features that were trained before a drift: what they score after it, and when to train again."""
