"""What a running fit shows: a live line on a terminal, JSON lines for scripts, or nothing."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

EVERY_SECONDS = 0.5


class Progress:
    """Tells how far a fit is; asking for a basis changes nothing, and is done twice a second."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self._as_json, self._quiet = as_json, quiet
        self._start = self._shown = time.monotonic()
        self._rows_before: int | None = None
        is_live = not quiet and not as_json and sys.stderr.isatty()
        console = Console(stderr=True)
        self._live = Live(console=console, transient=True) if is_live else None

    def show(self, model: Any, record: Any) -> None:
        """Show the state, unless that was done just now."""
        now = time.monotonic()
        if self._rows_before is None:  # the first block also pays for compiling
            self._rows_before, self._start, self._shown = record.rows_read, now, now
        if now - self._shown < EVERY_SECONDS or not (self._live or self._as_json):
            return
        self._shown = now
        told = self._state(model, record)
        if self._as_json and not self._quiet:
            typer.echo(json.dumps({"event": "progress", **told}))
        elif self._live is not None:
            if not self._live.is_started:
                self._live.start()
            self._live.update(Text(self._line(told), overflow="ellipsis", no_wrap=True))

    def finish(self, model: Any, record: Any, out: Path) -> None:
        """Show the end."""
        self.close()
        if self._quiet:
            return
        told = self._state(model, record)
        if self._as_json:
            typer.echo(json.dumps({"event": "done", "out": str(out), **told}))
            return
        typer.echo(self._line(told))
        typer.echo(f"The model is in {out}; see it with: okspca inspect {out}")

    def close(self) -> None:
        """Give the terminal back, however the run ended."""
        if self._live is not None and self._live.is_started:
            self._live.stop()

    def _state(self, model: Any, record: Any) -> dict[str, Any]:
        """Collect the numbers to be shown."""
        seconds = max(time.monotonic() - self._start, 1e-9)
        basis = model.basis()
        proof = basis.certificate
        return {
            "rows_read": record.rows_read,
            "rows_skipped": record.rows_skipped,
            "values_imputed": record.values_imputed,
            "rows_per_second": round((record.rows_read - (self._rows_before or 0)) / seconds),
            "rank": basis.rank,
            "rho_lower": None if proof is None else proof.rho_lower,
            "objective": float((basis.singular_values**2).sum()),
        }

    @staticmethod
    def _line(told: dict[str, Any]) -> str:
        """Put the numbers in one line."""
        skipped = f", {told['rows_skipped']:,} skipped" if told["rows_skipped"] else ""
        filled = f", {told['values_imputed']:,} values filled in" if told["values_imputed"] else ""
        rho = "nothing to certify"
        if told["rho_lower"] is not None:
            rho = f"rho at least {int(told['rho_lower'] * 1e6) / 1e6:.6f}"
        return (
            f"{told['rows_read']:,} rows{skipped}{filled}, {told['rows_per_second']:,} rows/s, "
            f"rank {told['rank']}, {rho}, objective {told['objective']:.4g}"
        )
