"""Beyond one machine: what engines give and cost, measured."""
