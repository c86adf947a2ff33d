"""The picture of the page in the docs: ``python -m tests.serve.picture docs/images/live.png``.

It starts `okspca demo --live`, opens its page in a headless Chromium, waits until the pipe has been
fouled for some seconds, and takes the picture.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.serve.browser import Browser, fetch, free_port, until

#: The pipe fouls at row 12,000; the picture is taken somewhat later.
ROWS = 14_500


def main(out: Path) -> None:
    port = free_port()
    words = ["demo", "--live", "--port", str(port)]
    server = subprocess.Popen([sys.executable, "-m", "okspca", *words])
    address = f"http://127.0.0.1:{port}"
    try:
        time.sleep(5.0)
        with tempfile.TemporaryDirectory() as folder, Browser(Path(folder), height=900) as browser:
            browser.open(address)
            rows = 0
            while rows < ROWS:
                time.sleep(1.0)
                rows = fetch(f"{address}/models/exchanger")["rows"]
            until(lambda: "Alarm" in browser.text("#status"), "the alarm")
            out.write_bytes(browser.picture())
            print(f"{out} shows the page after {rows:,} rows.")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
