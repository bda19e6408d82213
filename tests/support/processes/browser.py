"""A page in a headless Chromium, driven by the DevTools protocol over a pair of pipes."""

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from select import select

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium():
    """The path of an installed Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """A tab, with its console's messages and its network requests."""

    def __init__(self, write, read):
        self._write, self._read = write, read
        self._count, self._rest, self._session = 0, b"", None
        self.said, self.requests = [], []

    def open(self, path, width=1280, height=800, dark=False, ready="typeof go === 'function'"):
        """Open a file in a window of a size, in light or dark mode, until it is `ready`."""
        if self._session is None:
            target = self.ask("Target.createTarget", url="about:blank")["targetId"]
            attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Runtime", "Page", "Network", "Log", "Accessibility"):
                self.ask(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[feature])
        self.said.clear()
        self.requests.clear()
        self.ask("Page.navigate", url=f"file://{path}")
        while self.run("document.readyState") != "complete" or not self.run(ready):
            pass

    def run(self, text):
        """The value of an expression in the page."""
        found = self.ask("Runtime.evaluate", expression=text, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def click(self, selector):
        """Click the middle of an element."""
        at = self.run(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        self.mouse("mousePressed", *at)
        self.mouse("mouseReleased", *at)

    def mouse(self, kind, x, y, **more):
        """Send a mouse event."""
        button = {} if kind in ("mouseMoved", "mouseWheel") else {"button": "left", "clickCount": 1}
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button, **more)

    def key(self, key):
        """Press a key."""
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        """Type a text."""
        for key in text:
            self.key(key)

    def text(self, selector):
        """The text of an element."""
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def picture(self, path):
        """Write a screenshot as PNG."""
        import base64

        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))

    def ask(self, method, **params):
        """The answer to a command of the protocol."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._count:
                assert "error" not in found, found["error"]
                return found["result"]
            self._hear(found)

    def _hear(self, event):
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.said.append(params["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.said.append(str(params["args"]))
        elif method == "Log.entryAdded":
            self.said.append(params["entry"]["text"])

    def _next(self):
        while b"\0" not in self._rest:
            ready, _, _ = select([self._read], [], [], 60)
            piece = os.read(self._read, 2**16) if ready else b""
            assert piece, "Chromium says no more"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)


@contextmanager
def browser():
    """A page of a Chromium that ends with the block."""
    to_it, write = os.pipe()
    read, from_it = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = (
            *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars"),
            f"--user-data-dir={profile}",
        )
        command = f'exec "$0" --remote-debugging-pipe "$@" 3<&{to_it} 4>&{from_it}'
        process = subprocess.Popen(
            ["bash", "-c", command, chromium(), *options, "about:blank"],
            pass_fds=(to_it, from_it),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_it)
        os.close(from_it)
        try:
            yield Page(write, read)
        finally:
            process.terminate()
            process.wait(20)
            os.close(write)
            os.close(read)
