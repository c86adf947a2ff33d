"""Alarms as people think of them: one for each time that a process leaves its control.

A fault that stays raises one alarm after the other.  Those that follow one another closely are one
episode, which is told by its first alarm, since that names the inputs it began with, and grows.
"""

from collections import deque
from typing import Any

#: So many rows without an alarm end an episode.
QUIET_ROWS = 500


class Episodes:
    """The latest episodes, oldest first.

    Parameters
    ----------
    most : int
        How many are kept.

    Examples
    --------
    >>> episodes = Episodes(10)
    >>> for row in (100, 140, 900):
    ...     episodes.add({"row": row, "time": float(row), "statistic": "spe"})
    >>> [(one["row"], one["last_row"], one["n"]) for one in episodes.told()]
    [(100, 140, 2), (900, 900, 1)]
    """

    def __init__(self, most: int) -> None:
        self._latest: deque[dict[str, Any]] = deque(maxlen=most)
        #: How many there were, kept or not.
        self.n = 0

    def add(self, alarm: dict[str, Any]) -> None:
        """Take an alarm: it belongs to the latest episode, or begins one."""
        latest = self._latest[-1] if self._latest else None
        goes_on = latest is not None and 0 <= alarm["row"] - latest["last_row"] <= QUIET_ROWS
        if latest is not None and goes_on:
            grown = {"last_row": alarm["row"], "last_time": alarm["time"], "n": latest["n"] + 1}
            if not latest.get("inputs") and alarm.get("inputs"):
                # The error of the target names no inputs; what does comes a few rows later.
                grown |= {"inputs": alarm["inputs"], "sentence": alarm["sentence"]}
            # What was told before must not change under those who read it.
            self._latest[-1] = {**latest, **grown}
            return
        self.n += 1
        begun = {"last_row": alarm["row"], "last_time": alarm["time"], "n": 1}
        self._latest.append({**alarm, **begun})

    def told(self) -> tuple[dict[str, Any], ...]:
        """All that are kept."""
        return tuple(self._latest)
