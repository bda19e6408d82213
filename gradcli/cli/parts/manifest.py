"""The manifest of a folder of results, `_gradcli.json`: what was asked, and what is done."""

from __future__ import annotations

import json
import os
import platform
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

from gradcli import __version__
from gradcli.cli.parts.task import Report
from gradcli.cli.terminal.failures import unwritable, usage
from gradcli.formats.files.places import (
    MANIFEST,
    inside,
    is_url,
    joined,
    putting,
    read_whole,
    remove,
)
from gradcli.formats.readers.parts import Part

_SCHEMA = "gradcli.parts/1"
_PAUSE = 1.0  # seconds between two writings, at least
_SHARE = 20  # times as long as a writing takes is the pause behind it
_TEMPORARY = re.compile(r"\..*\.[0-9a-f]{12}-\d+\.tmp")
_LONG = 200  # characters of a value that are written themselves
_GIVEN = {"program": "another program", "inputs": "other values of inputs", "options": "options"}


class Manifest:
    """What a run writes into a folder.

    Args:
        folder: The folder.
        asked: What was asked: `program`, `inputs` and `options`, which decide the answers.
        outputs: The name of each part's file in the folder.
        parts: The parts.
    """

    def __init__(
        self, folder: str, asked: Mapping[str, Any], parts: Sequence[Part], outputs: Sequence[str]
    ) -> None:
        self._folder, self._asked = folder, dict(asked)
        self.parts, self.outputs = parts, outputs
        self.done: dict[int, dict[str, Any]] = {}
        self._failed: dict[int, dict[str, Any]] = {}
        self._next = 0.0

    @property
    def _path(self) -> str:
        return joined(self._folder, [MANIFEST])

    def take_up(self) -> None:
        """Pass over what an earlier run of the same question has done.

        Raises:
            UsageError: If the folder has results of another question, or files of the same names.
        """
        found = self._earlier()
        if found is None:
            self._check_names()
            return
        way = "`--restart` begins anew; or name another folder"
        for key, what in _GIVEN.items():
            if found.get(key) != json.loads(json.dumps(self._asked[key])):
                is_options = key == "options"
                told = _differing(found.get(key) or {}, self._asked[key]) if is_options else what
                raise usage(f"`{self._folder}` has results of {told}", way)
        if (fault := self._changed(found["parts"])) is not None:
            raise usage(f"{fault} when `{self._folder}` was begun", way)
        for k, part in enumerate(found["parts"]):
            if part.get("status") == "done":
                self.done[k] = part

    def _changed(self, before: Sequence[Mapping[str, Any]]) -> str | None:
        """The first file that is another one than before. The contents count where they have been
        used: a part that could not be read may be mended.
        """
        changed = "`{}` is not as it was"
        for part, was in zip(self.parts, before, strict=False):
            is_done = was.get("status") == "done"
            now = part.name, part.number, *((part.size, part.changed) if is_done else ())
            keys = "input", "part", "bytes", "changed"
            if now != tuple(was.get(key) for key in keys[: len(now)]):
                return changed.format(part.name)
            if is_done and part.first != was.get("first"):
                return f"the rows of `{part.name}` do not have the numbers that they had"
        longer = [part.name for part in self.parts], [str(part.get("input")) for part in before]
        short = min(map(len, longer))
        return next((changed.format(names[short]) for names in longer if len(names) > short), None)

    def _earlier(self) -> dict[str, Any] | None:
        """The manifest that is there."""
        try:
            data = read_whole(self._path)
            found = None if data is None else json.loads(data)
        except OSError as error:
            raise unwritable(f"`{self._path}`", error.strerror or str(error)) from None
        except ValueError:
            found = {}
        if found is not None and (not isinstance(found, dict) or found.get("schema") != _SCHEMA):
            help = "`--restart` begins anew; or name another folder"
            raise usage(f"`{self._path}` cannot be read as a manifest of gradcli", help)
        return found

    def _check_names(self) -> None:
        there = {*inside(self._folder)}
        for output in self.outputs:
            name = joined(self._folder, output.split("/"))
            if name in there:
                message = f"`{name}` is there already, and of no earlier run"
                raise usage(message, "name an empty folder")

    def restart(self) -> None:
        """Remove what an earlier run has left."""
        try:
            data = read_whole(self._path)
            with suppress(ValueError, KeyError, TypeError, AttributeError):
                for part in json.loads(data or b"{}")["parts"]:
                    remove(joined(self._folder, part["output"].split("/")))
            remove(self._path)
        except OSError as error:
            raise unwritable(f"`{self._folder}`", error.strerror or str(error)) from None

    def clean(self) -> None:
        """Remove temporary files of writers that have not ended well."""
        if is_url(self._folder):
            return
        for at, _, names in os.walk(self._folder):
            for name in names:
                if _TEMPORARY.fullmatch(name):
                    with suppress(OSError):
                        os.unlink(os.path.join(at, name))

    def note(self, k: int, report: Report) -> None:
        """Note what became of a part, and write it down soon."""
        found = {
            "status": "done" if report.is_done else "failed",
            "rows": report.rows,
            "left_out": report.left_out,
            "exit": report.status,
            "wrong": report.wrong,
            "seconds": round(report.seconds, 3),
        }
        (self.done if report.is_done else self._failed)[k] = found
        if time.monotonic() >= self._next:
            self.write("running")

    def write(self, status: str) -> None:
        """Write the manifest.

        Args:
            status: "running", "done", "failed" or "interrupted".

        Raises:
            UsageError: If it cannot be written.
        """
        start = time.monotonic()
        noted = self._failed | self.done
        parts = [
            {
                "input": part.name,
                "part": part.number,
                "bytes": part.size,
                "changed": part.changed,
                "output": output,
                **({} if part.first is None else {"first": part.first}),
                **({} if part.rows is None else {"count": part.rows}),
                **(
                    {} if part.number is None else {"range": [getattr(part, key) for key in _RANGE]}
                ),
                **{key: value for key, value in noted.get(k, _WAITING).items() if key in _NOTED},
            }
            for k, (part, output) in enumerate(zip(self.parts, self.outputs, strict=True))
        ]
        whole = {
            "schema": _SCHEMA,
            "status": status,
            **self._asked,
            "versions": {"gradcli": __version__, "python": platform.python_version()},
            "rows": sum(part.get("rows", 0) for part in self.done.values()),
            "left_out": sum(part.get("left_out", 0) for part in self.done.values()),
            "parts": parts,
        }
        try:
            with putting(self._path) as file:
                file.write(json.dumps(whole, indent=1).encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise unwritable(f"`{self._path}`", error.strerror or str(error)) from None
        took = time.monotonic() - start
        self._next = time.monotonic() + max(_PAUSE, _SHARE * took)


_RANGE = ("begin", "end", "head", "over", "read")
_WAITING = {"status": "waiting"}
_NOTED = ("status", "rows", "left_out", "exit", "wrong", "seconds")


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The first option that is another one."""
    for name in {**before, **now}:
        was, is_now = before.get(name), json.loads(json.dumps(now.get(name)))
        if was != is_now:
            return f"another `{name}`: {json.dumps(was)}, not {json.dumps(is_now)}"
    return "other options"


def earlier_parts(folder: str) -> dict[str, list[Part]]:
    """By file, the parts into which an earlier run has cut it, with the number of their records."""
    found: dict[str, list[Part]] = {}
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):  # told by `take_up`
        for was in json.loads(read_whole(joined(folder, [MANIFEST])) or b"{}").get("parts", ()):
            about = was["input"], was["bytes"], was["changed"], was["part"], was.get("count")
            found.setdefault(was["input"], []).append(Part(*about, None, *was.get("range", ())))
    return found


def digest(text: str) -> str:
    """A text if it is short, else its hash."""
    return text if len(text) <= _LONG else sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
