"""A service with a stream of its own: a heat exchanger that fouls, is cleaned, and fouls again.

Eight readings tell of the exchanger, and the temperature behind it is the target.  Half of the time
its coolant valve moves the coolant flow as it should; in the other half the pipe is fouled: the
same opening brings less flow, and the temperature follows the flow less.  So the inputs part from
one another, the score falls and recovers, and alarms name the flow and the valve.
"""

import logging
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.random import RandomState

from okspca.client import Client, ServiceError
from okspca.numerics.arrays import Floats
from okspca.serve import running
from okspca.serve.service import Service
from okspca.serve.settings import ModelSettings, Settings

NAME = "exchanger"
COLUMNS = (
    *("feed flow", "feed temperature", "coolant valve", "coolant flow"),
    *("coolant temperature", "pressure", "pump speed", "ambient temperature"),
)
TARGET = "outlet temperature"
#: Rows a second, rows at a time, and rows up to the change.
RATE, BLOCK, PHASE = 200, 20, 12_000
MODEL = {
    "n_components": 2,
    "n_random_features": 128,
    "pilot_rows": 2048,
    "forgetting": 0.999,
    "stability": 8,
}
LOGGER = logging.getLogger("okspca.serve.demo")


def run(port: int, seed: int) -> None:
    """Serve the demo until a signal comes; everything is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="okspca-live-") as folder:
        model = ModelSettings(NAME, "regressor", MODEL, COLUMNS, TARGET, monitor=True)
        settings = Settings(folder=Path(folder), port=port, models=(model,), log_level="warning")
        ended = threading.Event()
        producer = threading.Thread(target=_produce, args=(settings, seed, ended), daemon=True)

        def begun(service: Service) -> None:
            place = running.address(settings)
            print(f"The page is at {place}", flush=True)
            print(
                f"Rows come at {RATE} a second. After {PHASE // RATE} seconds the pipe fouls, and "
                "as long again later it is cleaned. Ctrl-C ends it.",
                flush=True,
            )
            producer.start()

        try:
            running.run(settings, begun)
        finally:
            ended.set()


def blocks(seed: int, size: int = BLOCK) -> Iterator[tuple[Floats, Floats]]:
    """Rows of the exchanger with the temperature behind it, without an end.

    Examples
    --------
    >>> X, y = next(blocks(0))
    >>> X.shape, y.shape
    ((20, 8), (20,))
    """
    random, start = RandomState(seed), 0
    while True:
        is_fouled = (start // PHASE) % 2 == 1
        yield rows(random, size, is_fouled=is_fouled)
        start += size


def rows(random: RandomState, n: int, *, is_fouled: bool) -> tuple[Floats, Floats]:
    """Draw rows: inputs, and the temperature behind the exchanger."""
    demand, weather, noise = random.normal(size=(3, n))
    e = random.normal(size=(len(COLUMNS) + 1, n))
    feed = 50.0 + 5.0 * demand + 0.5 * e[0]
    heat = 90.0 + 2.0 * weather + 1.0 * e[1]
    valve = 40.0 + 8.0 * demand + 4.0 * weather + 1.0 * e[2]
    share = 0.85 if is_fouled else 1.0
    flow = 20.0 + share * 0.5 * valve + 0.6 * e[3]
    cold = 15.0 + 1.5 * weather + 0.5 * e[4]
    pressure = 3.0 + 0.02 * feed + 0.05 * e[5]
    speed = 1400.0 + 6.0 * feed + 15.0 * e[6]
    ambient = 18.0 + 4.0 * weather + 1.0 * e[7]
    # Effectiveness by the number of transfer units; dirt takes a tenth of what it transfers.
    surface = (0.9 if is_fouled else 1.0) * 60.0
    effect = 1.0 - np.exp(-surface / np.minimum(feed, flow + 20.0))
    outlet = heat - effect * (heat - cold) * np.clip(flow / 50.0, 0.0, 1.0) + 0.3 * noise
    columns = (feed, heat, valve, flow, cold, pressure, speed, ambient)
    return np.column_stack(columns), outlet


def _produce(settings: Settings, seed: int, ended: threading.Event) -> None:
    """Send rows as a producer would: by the client, each block with its number."""
    model = Client(running.address(settings), source="demo").model(NAME)
    due = time.monotonic()
    for X, y in blocks(seed):
        try:
            model.learn(X, y)
        except (ServiceError, OSError) as failure:
            if not ended.is_set():
                LOGGER.warning("A block was not learned: %s", failure)
        due += BLOCK / RATE
        if ended.wait(max(due - time.monotonic(), 0.0)):
            return
