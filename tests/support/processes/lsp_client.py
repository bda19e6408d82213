"""A client of the language server protocol, over the pipes of a real server."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any


class Client:
    """Starts a server, and talks to it."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "gradcli", "lsp", *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.told: list[dict[str, Any]] = []
        self._number = 0
        self._versions: dict[str, int] = {}

    def start(self, encodings: tuple[str, ...] = ("utf-16",)) -> Any:
        """Initialize the server; returns its capabilities."""
        general = {"general": {"positionEncodings": list(encodings)}}
        asked = {"processId": None, "rootUri": None, "capabilities": general}
        found = self.ask("initialize", asked)
        self.tell("initialized", {})
        return found["capabilities"]

    def open(self, uri: str, text: str) -> list[Any]:
        """Open a text; returns the findings about it."""
        document = {"uri": uri, "languageId": "grad", "version": 1, "text": text}
        self._versions[uri] = 1
        self.tell("textDocument/didOpen", {"textDocument": document})
        return self.findings()

    def change(self, uri: str, text: str) -> None:
        """Replace a text."""
        self._versions[uri] += 1
        document = {"uri": uri, "version": self._versions[uri]}
        changes = {"textDocument": document, "contentChanges": [{"text": text}]}
        self.tell("textDocument/didChange", changes)

    def findings(self) -> list[Any]:
        """The findings that the server tells next."""
        return self.told_next("textDocument/publishDiagnostics")["diagnostics"]

    def told_next(self, method: str) -> Any:
        """What the server tells next by a method."""
        while True:
            for message in self.told:
                if message["method"] == method:
                    self.told.remove(message)
                    return message["params"]
            self.told.append(self._read())

    def at(self, method: str, uri: str, line: int, character: int, **more: Any) -> Any:
        """The answer to a question about a place."""
        place = {"position": {"line": line, "character": character}}
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": uri}, **place, **more})

    def ask(self, method: str, params: Any) -> Any:
        """The answer to a question."""
        self._number += 1
        self._write({"id": self._number, "method": method, "params": params})
        while True:
            message = self._read()
            if message.get("id") == self._number and "method" not in message:
                assert "error" not in message, message
                return message["result"]
            self.told.append(message)

    def tell(self, method: str, params: Any) -> None:
        """Tell the server something that has no answer."""
        self._write({"method": method, "params": params})

    def stop(self) -> int:
        """Shut the server down; returns its status."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        status = self.process.wait(30)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
        return status

    def _write(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        pipe = self.process.stdin
        assert pipe is not None
        pipe.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        pipe.flush()

    def _read(self) -> dict[str, Any]:
        pipe = self.process.stdout
        assert pipe is not None
        size = 0
        while line := pipe.readline().strip():
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        assert size, "the server has ended"
        found: dict[str, Any] = json.loads(pipe.read(size))
        return found
