"""Alarms of the monitor: how often in control, how soon after a change, and which input."""
