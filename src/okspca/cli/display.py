"""What a running fit shows: a live line on a terminal, JSON lines for scripts, or nothing."""

import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from okspca.cli.stopping import say
from okspca.cli.wrapping import say_wrapped
from okspca.outputs import is_null

EVERY_SECONDS = 0.5
#: An error bar takes dozens of factorisations, so it is renewed less often.
ERROR_BAR_SECONDS = 5.0
#: Gives the numbers of :mod:`okspca.files.standing`; the argument says whether with an error bar.
Numbers = Callable[[bool], dict[str, Any]]


class Progress:
    """Tells how far a fit is; asking for a basis changes nothing, and is done twice a second."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self._as_json, self._quiet = as_json, quiet
        self._start = self._shown = time.monotonic()
        self._position: Any = None
        self._rows_before, self._is_warm, self._decided = 0, False, ""
        self._error_bar: tuple[float, float, float] | None = None
        self._error_bar_at = -math.inf
        is_live = not quiet and not as_json and sys.stderr.isatty()
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, transient=True) if is_live else None

    def begin(self, position: Any, rows_before: int) -> None:
        """Learning starts; ``position`` says how far reading is."""
        self._position, self._rows_before = position, rows_before

    def tell(self, decided: str) -> None:
        """Say what was decided: on a terminal at once, else with the rest at the end.

        Standard output that takes nothing must not keep a model from being learned and saved.
        """
        self._decided = decided
        if self._live is not None:
            self._console.print(decided, markup=False, highlight=False)

    def show(self, rows: int, numbers: Numbers) -> None:
        """Show the state, unless that was done just now."""
        now = time.monotonic()
        if not self._is_warm:  # the first block also pays for compiling
            self._is_warm = True
            self._rows_before, self._start, self._shown = rows, now, now
        if now - self._shown < EVERY_SECONDS or not (self._live or self._as_json):
            return
        self._shown = now
        told = self._state(rows, numbers, now - self._error_bar_at >= ERROR_BAR_SECONDS)
        if self._as_json and not self._quiet:
            say(json.dumps({"event": "progress", **told}))
        elif self._live is not None:
            if not self._live.is_started:
                self._live.start()
            text = fitted_line(told, self._console.width)
            self._live.update(Text(text, overflow="ellipsis", no_wrap=True))

    def finish(self, rows: int, numbers: Numbers, out: Path) -> None:
        """Show the end."""
        self.close()
        if self._quiet:
            return
        told = self._state(rows, numbers, True) | {"seconds_left": None}
        if self._as_json:
            decided = {"decided": self._decided} if self._decided else {}
            say(json.dumps({"event": "done", "out": str(out), **told, **decided}))
            return
        if told.get("verdict"):
            say_wrapped(told["verdict"])
        say_wrapped(told["target_words"])
        if self._decided and self._live is None:
            say_wrapped(self._decided)
        say_wrapped(fitted_line(told, 10_000), hanging="  ")
        if not is_null(out):
            say_wrapped(f"The model is in {out}; see it with: okspca inspect {out}")

    def close(self) -> None:
        """Give the terminal back, however the run ended."""
        if self._live is not None and self._live.is_started:
            self._live.stop()

    def _state(self, rows: int, numbers: Numbers, with_error_bar: bool) -> dict[str, Any]:
        """Collect the numbers to be shown."""
        seconds = max(time.monotonic() - self._start, 1e-9)
        told = numbers(with_error_bar)
        if with_error_bar:
            self._error_bar, self._error_bar_at = told["error_bar"], time.monotonic()
        return {
            **told,
            "rows_per_second": round((rows - self._rows_before) / seconds),
            "seconds_left": self._seconds_left(seconds),
            "error_bar": self._error_bar,
        }

    def _seconds_left(self, seconds: float) -> float | None:
        """Guess the time left from the share of the input that was read."""
        total = None if self._position is None else self._position.total
        if not total or not 0 < self._position.done <= total:
            return None
        return round(seconds * (total / self._position.done - 1.0), 1)


def fitted_line(told: dict[str, Any], width: int) -> str:
    """Put the numbers in one line; what matters least is left out where it is too long."""
    parts = [
        (0, f"{told['rows_read']:,} row{'s' * (told['rows_read'] != 1)}"),
        (3, f"{told['rows_skipped']:,} skipped" if told["rows_skipped"] else ""),
        (5, f"{told['values_imputed']:,} values filled in" if told["values_imputed"] else ""),
        (1, f"{told['rows_per_second']:,} rows/s"),
        (1, _left(told.get("seconds_left"))),
        (6, f"rank {told['rank']}"),
        (3, _rho(told["rho_lower"])),
        (7, f"objective {told['objective']:.4g}"),
        (2, _error(told.get("error_bar"))),
        (1, _score(told.get("scores"))),
    ]
    kept = [(care, text) for care, text in parts if text]
    while len(line := ", ".join(text for _, text in kept)) > width and len(kept) > 1:
        kept.remove(max(kept, key=lambda part: part[0]))
    return line


def _left(seconds: float | None) -> str:
    """Say how long it will take."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left" if hours else f"{minutes}:{rest:02} left"


def _rho(rho: float | None) -> str:
    """State how exactly the target was solved, a proven lower bound that is never rounded up."""
    if rho is None:
        return "nothing to certify"
    return f"solved to {int(rho * 1e6) / 1e6:.6f} of the optimum"


def _error(bar: tuple[float, float, float] | None) -> str:
    """State the estimated error and its interval."""
    return "" if bar is None else f"error {bar[0]:.2g}° ({bar[1]:.2g}–{bar[2]:.2g}°)"


def _score(found: dict[str, Any] | None) -> str:
    """State the two scores."""
    if found is None:
        return ""
    inputs = "" if found["inputs"] is None else f" (inputs {found['inputs']:.3f})"
    return f"{found['measure']} {found['embedding']:.3f}{inputs}"
