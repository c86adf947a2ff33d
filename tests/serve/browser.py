"""A headless Chromium, driven through chromedriver by the WebDriver protocol over plain HTTP."""

import base64
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--no-proxy-server", "--hide-scrollbars"),
)
#: How long something may take that ought to come, in seconds: a limit, no measurement.
PATIENCE = 90.0
_OPENER = build_opener(ProxyHandler({}))


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def fetch(url: str, body: Any = None, method: str | None = None) -> Any:
    """Send JSON, get JSON."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json"}, method=method)
    with _OPENER.open(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read() or b"null")


def until(question: Callable[[], Any], what: str) -> Any:
    """Ask until the answer is yes; return it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = question()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"waited in vain for {what}")


class Browser:
    """One window of a fresh profile."""

    def __init__(self, profile: Path, *, width: int = 1400, height: int = 1000) -> None:
        assert CHROMIUM is not None
        assert DRIVER is not None
        port = free_port()
        self._driver = subprocess.Popen([DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL)
        self._root = f"http://127.0.0.1:{port}"
        until(self._is_up, "chromedriver")
        switches = [*SWITCHES, f"--user-data-dir={profile}", f"--window-size={width},{height}"]
        options = {"binary": CHROMIUM, "args": switches}
        asked = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        made = fetch(f"{self._root}/session", {"capabilities": {"alwaysMatch": asked}})
        self._session = f"{self._root}/session/{made['value']['sessionId']}"
        self._log: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            fetch(self._session, method="DELETE")
        finally:
            self._driver.terminate()
            self._driver.wait()

    def _is_up(self) -> bool:
        try:
            return bool(fetch(f"{self._root}/status")["value"]["ready"])
        except OSError:
            return False

    def _command(self, name: str, body: Any) -> Any:
        try:
            return fetch(f"{self._session}/{name}", body)["value"]
        except HTTPError as failure:
            raise AssertionError(failure.read().decode()) from failure

    def open(self, url: str) -> None:
        """Go to a page."""
        self._command("url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what a script returns."""
        return self._command("execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command: str, **parameters: Any) -> Any:
        """Send one command of the DevTools protocol."""
        return self._command("goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, width: int, height: int, *, mobile: bool = False) -> None:
        """Show the page on a screen of this size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 2 if mobile else 1}
        self.devtools("Emulation.setDeviceMetricsOverride", **size, mobile=mobile)

    def prefer(self, **features: str) -> None:
        """Answer media queries, such as ``prefers_color_scheme="dark"``."""
        told = [{"name": n.replace("_", "-"), "value": value} for n, value in features.items()]
        self.devtools("Emulation.setEmulatedMedia", features=told)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        keyboard = {"type": "key", "id": "keyboard", "actions": steps}
        self._command("actions", {"actions": [keyboard]})

    def text(self, selector: str) -> str:
        """Text of an element."""
        return str(self.run("return document.querySelector(arguments[0]).textContent", selector))

    def click(self, selector: str) -> None:
        """Click on an element."""
        self.run("document.querySelector(arguments[0]).click()", selector)

    def choose(self, selector: str, value: str) -> None:
        """Choose from a list."""
        self.run(
            "const list = document.querySelector(arguments[0]); list.value = arguments[1];"
            "list.dispatchEvent(new Event('change'))",
            selector,
            value,
        )

    def complaints(self) -> list[str]:
        """Errors and warnings on the console so far, violations of the policy included."""
        self._log += self._command("se/log", {"type": "browser"})
        return [one["message"] for one in self._log if one["level"] in ("SEVERE", "WARNING")]

    def picture(self, path: Path | None = None) -> bytes:
        """The page as a PNG file."""
        request = Request(f"{self._session}/screenshot")
        with _OPENER.open(request, timeout=PATIENCE) as answer:
            png = base64.b64decode(json.loads(answer.read())["value"])
        if path is not None:
            path.write_bytes(png)
        return png
