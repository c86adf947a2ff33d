"""What a monitor found in rows: statistics, limits, contributions and alarms, in plain arrays."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okspca.diagnostics.evidence import Standing
from okspca.diagnostics.shown import html_table, safely, text_table
from okspca.numerics.arrays import Floats

SHOWN = 10
#: What statistics are called in words.
WORDS = {"t2": "T²", "spe": "SPE", "target": "target error"}
WORDS |= {f"{name} trend": f"trend of {word}" for name, word in WORDS.items()}
#: Inputs of an alarm that events name.
NAMED = 5


class Alarm(NamedTuple):
    """One alarm.

    Attributes
    ----------
    row : int
        At which row, counted from 0 since the monitor began to watch.
    statistic : str
        "t2", "spe" or "target", or "t2 trend" and so on, where smoothed rows raised it.
    since : int
        Over how many rows, up to this one, the evidence was gathered.
    contributions : ndarray of shape (d,)
        Mean contribution of each input to the statistic over these rows; zeros for the target.
    inputs : tuple of str
        The inputs that contributed most, first the largest; none for the target.
    shares : tuple of float
        Of all that raised the statistic, the share of each of them.

    Examples
    --------
    >>> alarm_of(41, "spe", 3, np.array([0.5, 4.5]), ("heat", "flow")).sentence
    'Row 41: SPE out of control, evidence gathered over 3 rows; most from flow 90%, heat 10%.'
    """

    row: int
    statistic: str
    since: int
    contributions: Floats
    inputs: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def sentence(self) -> str:
        """The alarm in words."""
        began = f"gathered over {self.since:,} rows" if self.since > 1 else "of this row alone"
        pairs = zip(self.inputs[:3], self.shares, strict=False)
        most = ", ".join(f"{name} {share:.0%}" for name, share in pairs)
        told = f"Row {self.row:,}: {WORDS[self.statistic]} out of control, evidence {began}"
        return f"{told}; most from {most}." if most else f"{told}."

    def event(self) -> dict[str, Any]:
        """The alarm as plain JSON."""
        pairs = zip(self.inputs, self.shares, strict=True)
        return {
            "kind": self.statistic,
            "row": self.row,
            "since": self.since,
            "contributions": [{"input": name, "share": round(share, 4)} for name, share in pairs],
        }


@dataclass(frozen=True)
class Monitored:
    """What a monitor found in rows.

    Attributes
    ----------
    names : tuple of str
        Of the c statistics: "t2", "spe", "target" where the calibration had targets, then their
        trends.
    values : ndarray of shape (n, c)
        Statistics of the rows; NaN where a row lacks a value, and where no target was given.
    limits : ndarray of shape (c,)
        Limits of single rows, and of trends.
    row_level : float
        Share of rows in control with any statistic of its own above its limit, at most: as stated,
        or what the rows of the calibration can promise if that is more.
    rows_per_alarm : float
        Mean number of rows in control between alarms, at least.
    contributions : ndarray of shape (c, n, d)
        What each input adds: they sum to the statistic, those to T² with signs; zeros for the
        target.
    evidence : ndarray of shape (n, c)
        Evidence against being in control; where one reaches `threshold`, an alarm is raised, and
        all begin again.
    threshold : float
        See `evidence`.
    alarms : tuple of Alarm
        In the order of the rows.
    first_row : int
        Number of the first of these rows, as `Alarm.row` counts.
    inputs : tuple of str
        Names of the inputs.
    standing : Standing
        The evidence after the last row.
    trend : ndarray
        The smoothed row after the last row.

    Examples
    --------
    >>> from okspca import OKSPCA
    >>> X = np.random.RandomState(0).normal(size=(4000, 3))
    >>> model = OKSPCA(1, random_state=0).fit(X[:1000], X[:1000, 1])
    >>> model = model.calibrate_monitor(X[1000:3000])
    >>> model.monitor(X[3000:]).alarms
    ()
    >>> found = model.monitor(X[3000:] + [0.0, 0.0, 1.0])
    >>> found.alarms[0].statistic, found.alarms[0].inputs[0], found.alarms[0].row < 100
    ('spe trend', 'x2', True)
    """

    names: tuple[str, ...]
    values: Floats
    limits: Floats
    row_level: float
    rows_per_alarm: float
    contributions: Floats
    evidence: Floats
    threshold: float
    alarms: tuple[Alarm, ...]
    first_row: int
    inputs: tuple[str, ...]
    standing: Standing
    trend: Floats

    @property
    def t2(self) -> Floats:
        """Hotelling's T² of each row."""
        return self.values[:, 0]

    @property
    def spe(self) -> Floats:
        """Squared prediction error of each row."""
        return self.values[:, 1]

    @property
    def t2_limit(self) -> float:
        """Limit of T² for a single row."""
        return float(self.limits[0])

    @property
    def spe_limit(self) -> float:
        """Limit of SPE for a single row."""
        return float(self.limits[1])

    @property
    def t2_contributions(self) -> Floats:
        """What each input adds to T² (n x d)."""
        return self.contributions[0]

    @property
    def spe_contributions(self) -> Floats:
        """What each input adds to SPE (n x d)."""
        return self.contributions[1]

    @property
    def is_out(self) -> NDArray[np.bool_]:
        """Rows of which a statistic is above its limit."""
        n = len(self.names) // 2
        return np.asarray((self.values[:, :n] > self.limits[:n]).any(axis=1))

    @property
    def is_alarming(self) -> bool:
        """Whether an alarm was raised."""
        return bool(self.alarms)

    @property
    def verdict(self) -> str:
        """One plain sentence."""
        n, out = len(self.t2), int(self.is_out.sum())
        if not self.alarms:
            return f"In control: no alarm in {n:,} rows; {out:,} of them beyond a limit."
        first = self.alarms[0]
        more = f"{len(self.alarms):,} alarms" if len(self.alarms) > 1 else "An alarm"
        return f"{more} in {n:,} rows, {out:,} of them beyond a limit. {first.sentence}"

    def named(self, inputs: tuple[str, ...]) -> "Monitored":
        """The same with other names of the inputs."""
        alarms = [
            alarm_of(a.row, a.statistic, a.since, a.contributions, inputs) for a in self.alarms
        ]
        return replace(self, inputs=inputs, alarms=tuple(alarms))

    @property
    def promise(self) -> str:
        """What is promised of rows in control."""
        return (
            f"In control, at most {self.row_level:.2%} of the rows are beyond a limit, and alarms "
            f"are at least {self.rows_per_alarm:,.0f} rows apart on average."
        )

    @property
    def header(self) -> tuple[str, ...]:
        """What the columns of :meth:`rows` are."""
        return "row", "statistic", "evidence of rows", "inputs that contribute most"

    def rows(self, most: int = SHOWN) -> list[tuple[str, ...]]:
        """The first alarms, as cells of a table."""
        return [
            (
                f"{alarm.row:,}",
                WORDS[alarm.statistic],
                f"{alarm.since:,}",
                ", ".join(
                    f"{name} {share:.0%}"
                    for name, share in zip(alarm.inputs[:3], alarm.shares, strict=False)
                ),
            )
            for alarm in self.alarms[:most]
        ]

    def events(self) -> list[dict[str, Any]]:
        """The alarms as plain JSON, for programs that tell others."""
        return [alarm.event() for alarm in self.alarms]

    def latest(self) -> dict[str, Any]:
        """The last row as plain JSON: statistics, limits, and each input's contribution to both."""
        if not len(self.values):
            return {}
        found: dict[str, Any] = {"row": self.first_row + len(self.values) - 1}
        for name, value, limit in zip(self.names, self.values[-1], self.limits, strict=True):
            key = name.replace(" ", "_")
            found |= {key: _plain(value), f"{key}_limit": float(limit)}
        parts = zip(self.names[:2], self.contributions[:2, -1], strict=True)
        found["contributions"] = {
            name: dict(zip(self.inputs, map(_plain, each), strict=True)) for name, each in parts
        }
        return found

    def __str__(self) -> str:
        """The verdict, the alarms, and what is promised."""
        table = [text_table(self.header, self.rows()), ""] if self.alarms else []
        return "\n".join([self.verdict, "", *table, self.promise])

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        return safely(
            lambda: html_table(self.verdict, self.header, self.rows(), self.promise), self
        )


def alarm_of(row: int, statistic: str, since: int, parts: Floats, names: tuple[str, ...]) -> Alarm:
    """Name the inputs of an alarm."""
    raising = parts.clip(0.0)
    order = np.argsort(-raising, kind="stable")[:NAMED]
    order = order[raising[order] > 0.0]
    total = float(raising.sum())
    shares = tuple(float(raising[i]) / total for i in order)
    return Alarm(row, statistic, since, parts, tuple(names[i] for i in order), shares)


def _plain(value: float) -> float | None:
    """A number of JSON; None where it is not known."""
    return float(value) if np.isfinite(value) else None
