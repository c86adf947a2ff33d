"""What the paper's experiments need: their workloads, and its services as it describes them."""
