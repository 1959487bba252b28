"""A headless Chromium driven through its DevTools protocol over two pipes: no driver program, no package."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from patience import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
)  # fmt: skip
# Chromium reads commands from descriptor 3 and answers on 4; pipes get other numbers, so a small program moves them.
LAUNCHER = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(read, 3)
os.dup2(write, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def find() -> str | None:
    """Return the path of a Chromium, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page of a headless Chromium; remembers what it requested and complained about."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="irpretrain-chromium-")
        to_read, self._to_browser = os.pipe()
        self._from_browser, to_write = os.pipe()
        command = [sys.executable, "-c", LAUNCHER, str(to_read), str(to_write)]
        self._process = subprocess.Popen(
            [*command, program, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._waiting, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to_browser)
        os.close(self._from_browser)
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, path: Path) -> None:
        """Load a file and wait until it is loaded with its images."""
        self.visit(path.as_uri())

    def visit(self, address: str) -> None:
        """Load an address and wait until it is loaded with its images."""
        self.events.clear()
        loader = self._call("Page.navigate", url=address)["loaderId"]
        # The answer comes before the page that is left is gone.
        end = time.monotonic() + PATIENCE
        while not any(_begins(event, loader) for event in self.events):
            self.events.append(self._next(end))
        self.wait_for("document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; raise AssertionError with its error."""
        found = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.evaluate(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.05)

    def resize(self, width: int, height: int, mobile: bool = False) -> None:
        """Show the page in a window of this size, in CSS pixels."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )

    def prefer(self, scheme: str) -> None:
        """Let the system prefer light or dark colours."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def click(self, selector: str) -> None:
        """Press the middle of an element with the mouse, as a person does: once the page has stopped scrolling."""
        place = self.evaluate(
            f"(async () => {{const e = document.querySelector({json.dumps(selector)}); "
            "const frame = () => new Promise(requestAnimationFrame); "
            "const middle = () => {const r = e.getBoundingClientRect(); "
            "return [r.x + r.width / 2, r.y + r.height / 2]}; "
            "for (;;) {e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'}); "
            "const before = String(middle()); await frame(); await frame(); "
            "if (before === String(middle())) return middle()}})()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._call(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )

    def violations(self) -> list[str]:
        """What axe-core finds wrong with the page; AXE names the folder that holds it."""
        self.evaluate(next(Path(os.environ["AXE"]).rglob("axe.min.js")).read_text(encoding="utf-8"))
        found = "r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html).join(' '))"
        return list(self.evaluate(f"axe.run().then((r) => {found})"))

    def requests(self) -> list[str]:
        """Addresses that were asked for since the last `open`, data inside the page left out."""
        found = [
            e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in found if not url.startswith("data:")]

    def complaints(self) -> list[str]:
        """Errors, warnings and exceptions of the page since the last `open`."""
        found = []
        for event in self.events:
            entry = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(entry["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded" and entry["entry"]["level"] in ("error", "warning"):
                found.append(entry["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and entry["type"] in (
                "error",
                "warning",
                "assert",
            ):
                found.append(json.dumps(entry["args"]))
        return found

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to_browser, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._next(end)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])
            if "method" in answer:
                self.events.append(answer)

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            ready, _, _ = select.select([self._from_browser], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            block = os.read(self._from_browser, 1 << 20)
            assert block, "the browser ended"
            self._waiting += block
        message, _, self._waiting = self._waiting.partition(b"\0")
        return dict(json.loads(message))


def _begins(event: dict[str, Any], loader: str) -> bool:
    return event["method"] == "Page.frameNavigated" and event["params"]["frame"]["loaderId"] == loader
